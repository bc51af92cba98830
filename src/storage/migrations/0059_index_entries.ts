import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The number of the entries of each program, and a way to those of one that does not read those of the others. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index indexed_pools_program on indexed_pools (program)`
  yield* sql`alter table indexed_programs add column entries integer not null default 0`
  yield* sql`
    update indexed_programs set entries = counted.entries
    from (select program, count(*) as entries from indexed_pools group by program) as counted
    where id = counted.program
  `
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Number of the last process that has claimed to be the only writer of some tables, by their name as a whole; the writes of those
 * before it are refused.
 */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table writer_terms (
      name text primary key,
      term bigint not null
    )
  `
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How many downloads of whole days a key of a plan may have open; none for plans from before. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table plans add column exports integer not null default 0`
})

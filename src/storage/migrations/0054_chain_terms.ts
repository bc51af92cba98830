import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Number of the last process that has claimed to be the only writer of a chain; the writes of those before it are refused. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table chains add column term bigint not null default 0`
})

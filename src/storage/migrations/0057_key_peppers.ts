import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Id of the pepper that a key's hash was made with; null for keys whose hash is of an earlier version. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table api_keys add column pepper_id text`
})

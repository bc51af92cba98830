import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What a curve is paid in, and whether its creator's fee goes to the holders. Null for launches stored before. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table launches add column quote_mint text collate "C", add column holder_rewards boolean`
})

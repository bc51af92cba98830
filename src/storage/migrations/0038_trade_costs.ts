import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Priority fee and tips of a wallet's trade; null for trades of a release before. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table trade_rows add column priority_lamports bigint, add column tip_lamports bigint`
  yield* sql`alter table wallet_history add column priority_lamports bigint, add column tip_lamports bigint`
})

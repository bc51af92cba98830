import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The fee of a front end in lamports, where all of it was paid in SOL: with it a trade can be priced again. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table trade_rows add column fee_lamports bigint`
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The other wallet of a transfer. Null in transfers that were stored before. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table trade_rows add column counterparty bytea`
  yield* sql`alter table wallet_history add column counterparty bytea`
})

import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The other side of swaps of two tokens, of which neither is SOL or a dollar; null for all other trades and for those of a release before. */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["trade_rows", "wallet_history"]) {
    yield* sql`
      alter table ${sql(table)}
        add column other_amount bigint, add column other_mint integer, add column other_decimals smallint
    `
  }
  yield* sql`create index trade_rows_of_two on trade_rows (chain, slot, place) where other_mint is not null`
})

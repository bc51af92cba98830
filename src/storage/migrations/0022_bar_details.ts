import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Candles in SOL beside those in dollars, their purchases, wallets and revisions. Null in rows from before, for which they are
 * unknown.
 */
export const up = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table bars
      add column open_sol double precision,
      add column high_sol double precision,
      add column low_sol double precision,
      add column close_sol double precision,
      add column volume_lamports numeric,
      add column buys bigint,
      add column buy_usd_nanos numeric,
      add column buy_lamports numeric,
      add column traders integer,
      add column revision integer not null default 0
  `
  yield* sql`create index bars_revised on bars (chain, at) where revision > 0`
})

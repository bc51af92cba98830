/** Views of ClickHouse for people and programs that read the database. Their columns are the columns of exports. */

/** Packed bytes as the text that they stand for: base58 of `size` bytes, and UTF-8 otherwise. */
const textOf = (column: string, size: number): string => `multiIf(
    length(${column}) = ${size}, base58Encode(${column}),
    length(${column}) = ${size + 1} AND endsWith(${column}, unhex('00')), substring(${column}, 1, ${size}),
    ${column})`

/** The address of a column where no bytes stand for none. */
const addressOrNull = (column: string): string => `if(empty(${column}), NULL, ${textOf(column, 32)})`

/** Billionths as a decimal of nine places. */
const nanos = (column: string): string => `toDecimal128(${column}, 9) / 1000000000`

/** Columns that pool swaps and trades of wallets share. The table of a column is named, because some views rename it. */
const ofTrades = `
  stored.chain AS chain, slot, place AS index, at AS time, ${textOf("stored.signature", 64)} AS signature,
  ${textOf("stored.wallet", 32)} AS wallet, ${textOf("stored.mint", 32)} AS mint, if(is_buy, 'buy', 'sell') AS side,
  amount, decimals, lamports, ${addressOrNull("stored.other_mint")} AS other_mint,
  if(empty(stored.other_mint), NULL, stored.other_amount) AS other_amount, other_decimals, price_usd,
  ${nanos("volume_usd_nanos")} AS volume_usd, ${nanos("sol_usd_nanos")} AS sol_usd,
  ${addressOrNull("stored.pool")} AS pool, dex, launchpad`

const TRADES = `
  CREATE VIEW fathom_trades AS SELECT ${ofTrades} FROM trades AS stored FINAL WHERE stored.role IN ('pool', 'both')`

const ofWallets = `${ofTrades}, toBool(stored.role = 'transfer') AS is_transfer, held_before, held_after,
  if(fee_unknown, NULL, ${nanos("ifNull(fee_usd_nanos, 0)")}) AS fee_usd, priority_lamports, tip_lamports`

const WALLETS = `
  CREATE VIEW fathom_wallets AS SELECT ${ofWallets}
  FROM wallet_trades AS stored FINAL`

/** The statement of the migration `0004_counterparty_in_views`. */
export const walletsWithCounterparty = `
  CREATE OR REPLACE VIEW fathom_wallets AS SELECT ${ofWallets},
  ${addressOrNull("stored.counterparty")} AS counterparty
  FROM wallet_trades AS stored FINAL`

const PRICES = ["usd", "sol"] as const

/** Candles of one width. Candles of a minute know their wallets. */
const barsOf = (width: string, table: string, isCounted: boolean): string => `
  SELECT chain, '${width}' AS width, ${textOf("packed", 32)} AS mint, time,
  open_usd, high_usd, low_usd, close_usd, open_sol, high_sol, low_sol, close_sol,
  ${nanos("usd_nanos")} AS volume_usd, ${nanos("sol_nanos")} AS volume_sol, trades, buys, traders
  FROM (
    SELECT stored.chain AS chain, stored.mint AS packed, stored.at AS time,
    ${PRICES.flatMap((money) => [
      `argMinMerge(stored.open_${money}) AS open_${money}`,
      `max(stored.high_${money}) AS high_${money}`,
      `min(stored.low_${money}) AS low_${money}`,
      `argMaxMerge(stored.close_${money}) AS close_${money}`,
      `sum(stored.volume_${money}) AS ${money}_nanos`
    ]).join(", ")},
    sum(stored.trades) AS trades, sum(stored.buys) AS buys,
    ${isCounted ? "toNullable(uniqExactMerge(stored.traders))" : "CAST(NULL AS Nullable(UInt64))"} AS traders
    FROM ${table} AS stored GROUP BY stored.chain, stored.mint, stored.at
  )`

const BARS = `
  CREATE VIEW fathom_bars AS
  ${barsOf("1m", "minute_bars", true)}
  UNION ALL ${barsOf("1h", "hour_bars", false)}
  UNION ALL ${barsOf("1d", "day_bars", false)}`

/** The statements of the migration `0002_read_views`, which is never edited once it is released. */
export const readViews: ReadonlyArray<string> = [TRADES, WALLETS, BARS]

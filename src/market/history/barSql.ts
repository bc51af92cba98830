/** The columns of candles as SQL: for one trade, for a stored candle, and for a group of either. */
import { SOL } from "../../domain/Address.ts"
import { countsTraders, type Resolution, widthOf } from "../model/resolutions.ts"

/** SOL per whole token of a trade: two exact integers rounded to doubles and divided once, as in `solWorth.ts`. */
const PRICE_SOL = `case
  when mint = '${SOL}' then 1
  when lamports is not null then
    case when lamports > 0 and amount > 0
      then (lamports * power(10::numeric, decimals))::float8 / (amount * 1000000000)::float8 end
  when sol_usd_nanos > 0 then price_usd / (sol_usd_nanos::float8 / 1000000000)
end`

/** The other side of a trade in lamports, rounded down; null when unknown. */
const LAMPORTS = `case
  when mint = '${SOL}' then amount
  when lamports is not null then lamports
  when sol_usd_nanos > 0 then div(volume_usd_nanos * 1000000000, sol_usd_nanos)
end`

/** Each pool trade as a candle of one trade. Conditions are appended to it. */
export const ONE_TRADE = `
  select mint, chain, at, slot, place, wallet,
    price_usd as open, price_usd as high, price_usd as low, price_usd as close,
    coalesce(volume_usd_nanos, 0) as volume_usd_nanos,
    price_sol as open_sol, price_sol as high_sol, price_sol as low_sol, price_sol as close_sol,
    worth as volume_lamports,
    1 as trades, is_buy::int as buys,
    case when is_buy then coalesce(volume_usd_nanos, 0) else 0 end as buy_usd_nanos,
    case when is_buy then worth else 0 end as buy_lamports,
    null::int as traders, 0 as revision
  from trades cross join lateral (select ${PRICE_SOL} as price_sol, coalesce(${LAMPORTS}, 0) as worth) as in_sol
  where role <> 'wallet'`

/** Columns of a candle, without its key. */
const COLUMNS = [
  "open",
  "high",
  "low",
  "close",
  "volume_usd_nanos",
  "open_sol",
  "high_sol",
  "low_sol",
  "close_sol",
  "volume_lamports",
  "trades",
  "buys",
  "buy_usd_nanos",
  "buy_lamports",
  "traders",
  "revision"
]

export const BAR_COLUMNS = COLUMNS.join(", ")

/** Stored candles in the form of `ONE_TRADE`. Conditions are appended to it. */
export const ONE_BAR = `
  select mint, chain, at, 0 as slot, 0 as place, null::bytea as wallet, ${BAR_COLUMNS} from bars where true`

/** The first price of a group, in the order of the chain; null when there is none. */
const first = (column: string) =>
  `(array_agg(${column} order by at, slot, place) filter (where ${column} is not null))[1]`
/** The last price of a group. */
const last = (column: string) =>
  `(array_agg(${column} order by at desc, slot desc, place desc) filter (where ${column} is not null))[1]`
/** A sum; null when one of its parts is null. */
const whole = (column: string) => `case when count(*) = count(${column}) then sum(${column}) end as ${column}`

/**
 * The revision of a group. When read it is the sum of its parts' revisions; for a new candle it is the number of trades
 * that came after it was closed.
 */
const revisionOf = (isLate: boolean | undefined): string =>
  isLate === undefined ? "sum(revision)" : isLate ? "sum(trades)" : "0"

/**
 * The columns of a candle made of a group. With `isLate` the candle is stored, otherwise it is only read. Wallets are
 * counted only when a candle is made of trades, or of one candle.
 */
export const sumsOf = (resolution: Resolution, isLate?: boolean): string => `
  ${first("open")} as open, max(high) as high, min(low) as low, ${last("close")} as close,
  sum(volume_usd_nanos) as volume_usd_nanos,
  ${first("open_sol")} as open_sol, max(high_sol) as high_sol, min(low_sol) as low_sol,
  ${last("close_sol")} as close_sol, ${whole("volume_lamports")},
  sum(trades) as trades, ${whole("buys")}, ${whole("buy_usd_nanos")}, ${whole("buy_lamports")},
  ${countsTraders(resolution) ? "coalesce(max(traders), nullif(count(distinct wallet), 0))" : "null::int"} as traders,
  ${revisionOf(isLate)} as revision`

/** The start of the bucket of a column `at`, as SQL. Weeks begin on Monday, months on the first, all in UTC. */
export const bucketSql = (resolution: Resolution): string => {
  if (resolution === "1mn") {
    return "date_trunc('month', at, 'UTC')"
  }
  const origin = resolution === "1w" ? "1969-12-29 00:00:00+00" : "1970-01-01 00:00:00+00"
  return `date_bin('${widthOf[resolution]} seconds', at, '${origin}')`
}

/** The columns that are compared to see whether a candle with the same number of trades has changed. */
const WORTH = ["open", "high", "low", "close", "volume_usd_nanos", "volume_lamports"]
const worthIn = (row: string): string => `(${WORTH.map((column) => `${row}.${column}`).join(", ")})`

/**
 * Updates a candle that is written again, unless it would lose a trade. Its revision rises by the trades it gained, or
 * by one when only prices changed.
 */
export const ON_CONFLICT = `
  on conflict (mint, chain, width, at) do update set
    ${COLUMNS.filter((column) => column !== "revision")
      .map((column) => `${column} = excluded.${column}`)
      .join(", ")},
    revision = bars.revision + greatest(excluded.trades - bars.trades, 1)
  where excluded.trades > bars.trades
    or (excluded.trades = bars.trades and ${worthIn("excluded")} is distinct from ${worthIn("bars")})`

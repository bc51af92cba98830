/** Candles of any width from the trades of pools, in dollars and in SOL. */
import type { PoolTrade } from "./record.ts"

/** Prices of one denomination; null without a priced trade. */
export interface Prices {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** One bar of one token. Volumes are sums of whole units of the known part. */
export interface RawBar {
  readonly startMs: number
  readonly trades: number
  readonly buys: number
  readonly traders: number
  readonly usd: Prices | null
  readonly sol: Prices | null
  readonly nanos: bigint
  readonly buyNanos: bigint
  readonly lamports: bigint
  readonly buyLamports: bigint
}

const pricesOf = (prices: ReadonlyArray<number | null>): Prices | null => {
  const known = prices.filter((price) => price !== null)
  const [open, close] = [known[0], known.at(-1)]
  return open === undefined || close === undefined
    ? null
    : { open, close, high: Math.max(...known), low: Math.min(...known) }
}

const sum = (values: ReadonlyArray<bigint | null>): bigint =>
  values.reduce<bigint>((all, each) => all + (each ?? 0n), 0n)

const barOf = (startMs: number, trades: ReadonlyArray<PoolTrade>): RawBar => {
  const buys = trades.filter(({ isBuy }) => isBuy)
  return {
    startMs,
    trades: trades.length,
    buys: buys.length,
    traders: new Set(trades.map(({ wallet }) => wallet)).size,
    usd: pricesOf(trades.map(({ price }) => price)),
    sol: pricesOf(trades.map(({ priceSol }) => priceSol)),
    nanos: sum(trades.map(({ usdNanos }) => usdNanos)),
    buyNanos: sum(buys.map(({ usdNanos }) => usdNanos)),
    lamports: sum(trades.map(({ worth }) => worth)),
    buyLamports: sum(buys.map(({ worth }) => worth))
  }
}

/** The bars of the trades of one token, oldest first; `width` in seconds. */
export const barsOf = (trades: ReadonlyArray<PoolTrade>, width: number): ReadonlyArray<RawBar> =>
  Array.from(Map.groupBy(trades, ({ second }) => second - (second % width)))
    .map(([start, own]) => barOf(start * 1000, own))
    .toSorted((a, b) => a.startMs - b.startMs)

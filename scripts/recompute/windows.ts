/** Rolling windows of tokens and of whole markets, from their trades. */
import { venues } from "./programs.ts"
import type { PoolTrade, TradeRecord, Valued } from "./record.ts"

/** Width of each window, and of the buckets that it begins with, in seconds. */
export const WINDOWS = {
  "5m": { width: 300, bucket: 1 },
  "1h": { width: 3600, bucket: 60 },
  "6h": { width: 21_600, bucket: 300 },
  "24h": { width: 86_400, bucket: 600 }
} as const

/** Name of a window. */
export type WindowName = keyof typeof WINDOWS

/** Names of all windows. */
export const windowNames: ReadonlyArray<WindowName> = ["5m", "1h", "6h", "24h"]

/** The first second of a window that ends with a second: the start of a bucket. */
export const beginOf = (width: number, bucket: number, now: number): number =>
  (Math.floor(now / bucket) + 1) * bucket - width

/** One token in one window. */
export interface RawWindow {
  readonly mint: string
  readonly trades: number
  readonly buys: number
  readonly sells: number
  readonly nanos: bigint
  readonly unpriced: number
  readonly traders: number
  /** The price in force when the window began, and the last one. */
  readonly start: number | null
  readonly last: number | null
  /** The first price of a token that was created in the window; null for every other token. */
  readonly launch: number | null
}

const nanosOf = (trades: ReadonlyArray<Valued>): bigint =>
  trades.reduce((sum, { usdNanos }) => sum + (usdNanos ?? 0n), 0n)

const lastPrice = (trades: ReadonlyArray<PoolTrade>): number | null =>
  trades.findLast(({ price }) => price !== null)?.price ?? null

/** The windows of every token that traded in one. */
export const tokenWindows = (
  { launches, pools, wallets }: TradeRecord,
  name: WindowName,
  now: number
): ReadonlyArray<RawWindow> => {
  const from = beginOf(WINDOWS[name].width, WINDOWS[name].bucket, now)
  const young = new Set(
    launches.filter(({ event, second }) => event === "created" && second >= from).map(({ mint }) => mint)
  )
  const byWallets = Map.groupBy(wallets, ({ mint }) => mint)
  return Array.from(Map.groupBy(pools, ({ mint }) => mint)).flatMap(([mint, all]) => {
    const own = all.filter(({ second }) => second >= from)
    const traders = (byWallets.get(mint) ?? []).filter(({ second }) => second >= from)
    const buys = own.filter(({ isBuy }) => isBuy).length
    return own.length === 0
      ? []
      : [
          {
            mint,
            trades: own.length,
            buys,
            sells: own.length - buys,
            nanos: nanosOf(own),
            unpriced: own.filter(({ usdNanos }) => usdNanos === null).length,
            traders: new Set(traders.map(({ wallet }) => wallet)).size,
            start: lastPrice(all.filter(({ second }) => second < from)),
            last: lastPrice(all),
            launch: young.has(mint) ? (all.find(({ price }) => price !== null)?.price ?? null) : null
          }
        ]
  })
}

/** The sums of a market over a stretch of time. */
export interface MarketSums {
  readonly buys: number
  readonly sells: number
  readonly buyNanos: bigint
  readonly sellNanos: bigint
  readonly unpriced: number
  readonly traders: number
  readonly created: number
  readonly migrated: number
}

/** A window of a market, and the two whole ones that are compared. */
export interface MarketWindow {
  readonly now: MarketSums
  readonly after: MarketSums
  readonly before: MarketSums
}

const STEPS = 300

const sumsOf = (trades: ReadonlyArray<PoolTrade>, launches: TradeRecord["launches"]): MarketSums => {
  const [buys, sells] = [trades.filter(({ isBuy }) => isBuy), trades.filter(({ isBuy }) => !isBuy)]
  return {
    buys: buys.length,
    sells: sells.length,
    buyNanos: nanosOf(buys),
    sellNanos: nanosOf(sells),
    unpriced: trades.filter(({ usdNanos }) => usdNanos === null).length,
    traders: new Set(trades.map(({ wallet }) => wallet)).size,
    created: launches.filter(({ event }) => event === "created").length,
    migrated: launches.filter(({ event }) => event === "migrated").length
  }
}

/** One market: all, a venue or a launchpad. */
export const marketWindow = (record: TradeRecord, key: string, name: WindowName, now: number): MarketWindow => {
  const { width } = WINDOWS[name]
  const step = width / STEPS
  const pools = record.pools.filter(({ program }) => {
    const venue = venues.get(program)
    return key === "all" || venue?.dex === key || venue?.launchpad === key
  })
  const launches = record.launches.filter(({ launchpad }) => key === "all" || launchpad === key)
  const between = (from: number, to: number) => {
    const isIn = ({ second }: { readonly second: number }) => second >= from && second < to
    return sumsOf(pools.filter(isIn), launches.filter(isIn))
  }
  const whole = Math.floor((now + 1) / step) * step
  return {
    now: between(beginOf(width, step, now), now + 1),
    after: between(whole - width, whole),
    before: between(whole - 2 * width, whole - width)
  }
}

/** The prices that positions are valued at. */
import type { Mint } from "../domain/Address.ts"
import type { Rational } from "../domain/rational.ts"
import type { Resolution } from "../market/model/resolutions.ts"
import { lackingNow } from "../market/tape/freshness.ts"
import type { MarketReads } from "../market/tape/MarketReads.ts"
import type { Prices } from "../tokens/PriceBook.ts"
import { unitPrice } from "./pnlHistory.ts"

/** Where a mark comes from: the median over the pools of the mint, or its last trade in any pool. */
export type MarkMethod = "pool_median" | "last_trade"

/** The price of a mint in micro-dollars for one smallest unit. */
export interface Mark {
  readonly price: Rational
  readonly method: MarkMethod
  /** When the price was seen, in milliseconds since the Unix epoch; null when unknown. */
  readonly atMs: number | null
}

/** What is read of the market. */
export type MarkSource = Pick<MarketReads, "aliveAtMs" | "decimalsOf" | "state">

/** The finest candle that is left of the last trade gives its time. */
const RESOLUTIONS: ReadonlyArray<Resolution> = ["1s", "1m", "1h", "1d"]

/** The price of the last trade in memory, and the beginning of the candle that it is in. */
export const lastTradeMark = ({ decimalsOf, state }: MarkSource, mint: Mint): Mark | null => {
  const decimals = decimalsOf(mint)
  for (const resolution of RESOLUTIONS) {
    const bar = state.bars(mint, { resolution, from: null, to: state.now + 1, limit: 1 })?.bars.at(-1)
    const price = bar === undefined || decimals === null ? null : unitPrice(bar.close, decimals)
    if (bar !== undefined && price !== null) {
      return { price, method: "last_trade", atMs: bar.second * 1000 }
    }
  }
  return null
}

/**
 * Marks at `nowMs`, each looked up once. A mint has the median over its pools; while none is known, the price of its last
 * trade, unless the blocks that bring trades are late. Null without either.
 */
export const marksAt = (prices: Prices, market: MarkSource, nowMs: number): ((mint: Mint) => Mark | null) => {
  const isLate = lackingNow(market, nowMs) !== null
  const known = new Map<Mint, Mark | null>()
  const markOf = (mint: Mint): Mark | null => {
    const price = prices.isStale ? null : (prices.of(mint)?.usd ?? null)
    if (price !== null) {
      return { price, method: "pool_median", atMs: prices.lifetime?.observedAtMs ?? null }
    }
    return isLate ? null : lastTradeMark(market, mint)
  }
  return (mint) => {
    const before = known.get(mint)
    const mark = before === undefined ? markOf(mint) : before
    known.set(mint, mark)
    return mark
  }
}

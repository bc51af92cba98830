/** Prices of tokens at the time of a block, from their recorded swaps. */
import { MAX_U64 } from "../../domain/Amount.ts"
import type { Mint } from "../../domain/Address.ts"
import type { Leg } from "../../api/schemas/Trade.ts"
import { medianPrice, type Weighted } from "../../tokens/poolPrice.ts"
import { isDollar, isMoney } from "../../domain/stables.ts"
import { TRADED_MS } from "./SolPrice.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { type MoneySwap, SwapLog } from "./SwapLog.ts"
import { type MintValue, NANOS_PER_MICRO, placeOf, SOL_NANOS_PER_MICRO } from "./tapeTrades.ts"
import { orderKey } from "./TradeRecord.ts"

/** Swaps worth less than ten dollars together give no price. In micro-dollars. */
const LEAST_MICRO = 10_000_000n
/** Swaps are kept for longer than they price blocks, because the times of blocks may be out of order. */
const KEPT_MS = 2 * TRADED_MS
/** Tokens without a recent swap are forgotten this often, in milliseconds of block time. */
const FORGET_MS = 60_000

/** True for a pool swap of a token for SOL or a dollar. */
export const isMoneySwap = ({ lamports, mint, otherToken, role, volumeUsdNanos }: TapeTrade): boolean =>
  (role === "pool" || role === "both") &&
  otherToken === undefined &&
  (lamports !== null || volumeUsdNanos !== null) &&
  !isMoney(mint)

/** The time at which tokens are priced, and the nano-dollars of a SOL then; null when unknown. */
export interface PricedAt {
  readonly timeMs: number
  readonly solNanos: bigint | null
}

const weighted = ({ isSol, money, units }: MoneySwap, solNanos: bigint | null): ReadonlyArray<Weighted> => {
  if (!isSol) {
    return [{ weight: money, price: { numerator: money, denominator: units } }]
  }
  return solNanos === null
    ? []
    : [
        {
          weight: (money * solNanos) / SOL_NANOS_PER_MICRO,
          price: { numerator: money * solNanos, denominator: units * SOL_NANOS_PER_MICRO }
        }
      ]
}

/**
 * Micro-dollars for the smallest unit of a token at the time of a block: the median of the token's newest swaps for SOL
 * or a dollar, weighted by their dollars. Swaps for SOL count at the block's SOL price. It depends on the recorded
 * chain alone.
 */
export class TokenPrices {
  readonly #swaps = new SwapLog()
  /** Prices at the time that was asked for last, until a swap is added. A block asks for one time again and again. */
  readonly #priced = new Map<Mint, Weighted | null>()
  #pricedAt: PricedAt | null = null
  #newestMs = 0
  #forgotMs = 0

  /** Adds the swaps of a block, in their order. Swaps of two tokens are ignored. */
  observe(legs: ReadonlyArray<Leg>, timeMs: number): void {
    this.#newestMs = Math.max(this.#newestMs, timeMs)
    for (const leg of legs) {
      if (isMoney(leg.quote.mint) && !isMoney(leg.token.mint)) {
        this.#add(leg.token.mint, {
          order: orderKey(leg.slot, placeOf(leg)),
          timeMs,
          units: leg.token.amount,
          money: leg.quote.amount,
          isSol: !isDollar(leg.quote.mint)
        })
      }
    }
  }

  /** Adds trades that were priced before, in any order. Each trade counts once. */
  recall(trades: ReadonlyArray<TapeTrade>): void {
    for (const trade of trades) {
      if (isMoneySwap(trade)) {
        const { amount: units, index, lamports, mint, slot, timeMs, volumeUsdNanos } = trade
        const money = lamports ?? (volumeUsdNanos ?? 0n) / NANOS_PER_MICRO
        this.#add(mint, { order: orderKey(slot, index), timeMs, units, money, isSol: lamports !== null })
      }
    }
  }

  #add(mint: Mint, swap: MoneySwap): void {
    const most = swap.isSol ? MAX_U64 : MAX_U64 / NANOS_PER_MICRO
    const isUsable = swap.units > 0n && swap.units <= MAX_U64 && swap.money > 0n && swap.money <= most
    if (isUsable && swap.timeMs >= this.#newestMs - KEPT_MS) {
      this.#pricedAt = null
      this.#swaps.add(mint, swap)
    }
  }

  /** Forgets tokens without a recent swap. Call it after the swaps of a block, which may be the recent swaps of a token. */
  forget(): void {
    if (this.#newestMs < this.#forgotMs + FORGET_MS) {
      return
    }
    this.#forgotMs = this.#newestMs
    this.#pricedAt = null
    for (const mint of this.#swaps.tokens) {
      if ((this.#swaps.newestMs(mint) ?? 0) < this.#newestMs - KEPT_MS) {
        this.#swaps.delete(mint)
      }
    }
  }

  /**
   * The price of whichever of two tokens was swapped for more dollars, the same in either order; null when neither has
   * a price.
   */
  betterOf(a: Mint, b: Mint, at: PricedAt): MintValue | null {
    const [first, second] = a < b ? [a, b] : [b, a]
    const [one, other] = [this.#of(first, at), this.#of(second, at)]
    const better = one === null || (other !== null && other.weight > one.weight) ? other : one
    return better === null ? null : { mint: better === one ? first : second, price: better.price }
  }

  /** The price of a token, and the dollars of the swaps behind it. */
  #of(mint: Mint, at: PricedAt): Weighted | null {
    if (this.#pricedAt !== at) {
      this.#pricedAt = at
      this.#priced.clear()
    }
    const known = this.#priced.get(mint)
    const priced = known === undefined ? this.#newlyPriced(mint, at) : known
    this.#priced.set(mint, priced)
    return priced
  }

  #newlyPriced(mint: Mint, { solNanos, timeMs }: PricedAt): Weighted | null {
    const recent = this.#swaps
      .of(mint)
      .filter((swap) => Math.abs(timeMs - swap.timeMs) <= TRADED_MS)
      .flatMap((swap) => weighted(swap, solNanos))
    const weight = recent.reduce((sum, each) => sum + each.weight, 0n)
    const median = weight < LEAST_MICRO ? null : medianPrice(recent)
    return median === null ? null : { weight, price: median.price }
  }
}

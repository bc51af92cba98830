/** The price of SOL at the time of a block. */
import { MAX_U64 } from "../../domain/Amount.ts"
import { SOL } from "../../domain/Address.ts"
import type { Rational } from "../../domain/rational.ts"
import type { Leg } from "../../api/schemas/Trade.ts"
import { medianPrice, type Weighted } from "../../tokens/poolPrice.ts"
import { isDollar } from "../../domain/stables.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { NANOS_PER_MICRO, placeOf } from "./tapeTrades.ts"
import { orderKey } from "./TradeRecord.ts"

/** The current price is used only for blocks within this many milliseconds of it. */
const NOW_MS = 60_000
/** A swap of SOL counts for blocks at most this many milliseconds away. */
export const TRADED_MS = 300_000
/** The most swaps of SOL that price a block; the newest count. */
export const MOST_SWAPS = 64
/** A price and the time of its observation. */
export interface PriceNow {
  /** Millionths of a dollar for a lamport. */
  readonly price: Rational
  readonly observedAtMs: number
}

/** True when the current price holds for a block of this time. */
const isPricedBy = ({ observedAtMs }: Pick<PriceNow, "observedAtMs">, timeMs: number): boolean =>
  Math.abs(observedAtMs - timeMs) <= NOW_MS

/** True for a pool swap of SOL for dollars. SOL is the traded token only against dollars. */
export const isSolSwap = ({ mint, role, volumeUsdNanos }: TapeTrade): boolean =>
  mint === SOL && role !== "wallet" && volumeUsdNanos !== null

interface SolSwap extends Weighted {
  /** Position in the order of the chain. */
  readonly order: number
  readonly timeMs: number
}

/**
 * Micro-dollars for a lamport at the time of a block: the median of the newest swaps of SOL for dollars, weighted by
 * their dollars. It depends on the recorded chain alone. Without recorded swaps it is the current price by the pools.
 */
export class SolPrice {
  /** In the order of the chain. */
  #swaps: ReadonlyArray<SolSwap> = []

  /** Adds the swaps of a block. Swaps of other tokens are ignored. */
  observe(legs: ReadonlyArray<Leg>, timeMs: number): void {
    const swaps = legs.filter(({ quote, token }) => token.mint === SOL && isDollar(quote.mint))
    this.#add(
      swaps.flatMap((leg) => swapOf(orderKey(leg.slot, placeOf(leg)), timeMs, leg.token.amount, leg.quote.amount))
    )
  }

  /** Adds trades that were priced before, in any order. Each trade counts once. */
  recall(trades: ReadonlyArray<TapeTrade>): void {
    this.#add(
      trades
        .filter(isSolSwap)
        .flatMap(({ amount, index, slot, timeMs, volumeUsdNanos }) =>
          swapOf(orderKey(slot, index), timeMs, amount, (volumeUsdNanos ?? 0n) / NANOS_PER_MICRO)
        )
    )
  }

  #add(swaps: ReadonlyArray<SolSwap>): void {
    if (swaps.length > 0) {
      const known = new Set(this.#swaps.map(({ order }) => order))
      const all = [...this.#swaps, ...swaps.filter(({ order }) => !known.has(order))]
      this.#swaps = all.toSorted((a, b) => a.order - b.order).slice(-MOST_SWAPS)
    }
  }

  /** The price at a time; null when it is unknown. */
  at(timeMs: number, now: PriceNow | null): Rational | null {
    const recent = this.#swaps.filter((swap) => Math.abs(timeMs - swap.timeMs) <= TRADED_MS)
    return medianPrice(recent)?.price ?? (now !== null && isPricedBy(now, timeMs) ? now.price : null)
  }
}

/** The swap in a list; an empty list when it has no price, or more dollars than a trade can have. */
const swapOf = (order: number, timeMs: number, lamports: bigint, micros: bigint): ReadonlyArray<SolSwap> =>
  lamports > 0n && lamports <= MAX_U64 && micros > 0n && micros * NANOS_PER_MICRO <= MAX_U64
    ? [{ order, timeMs, weight: micros, price: { numerator: micros, denominator: lamports } }]
    : []

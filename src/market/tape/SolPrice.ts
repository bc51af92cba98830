/** The price of SOL at the time of a block. */
import { MAX_U64 } from "../../domain/Amount.ts"
import { SOL } from "../../domain/Address.ts"
import type { Rational } from "../../domain/rational.ts"
import type { Leg } from "../../domain/market/Trade.ts"
import { medianPrice, type Weighted } from "../../tokens/poolPrice.ts"
import { isDollar } from "../../trades/sides.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { placeOf } from "./tapeTrades.ts"
import { orderKey } from "./TradeRecord.ts"

/** The current price is used only for blocks within this of it, in milliseconds. */
const NOW_MS = 60_000
/** Swaps of SOL price blocks for this long, in milliseconds. */
export const TRADED_MS = 300_000
/** The newest swaps of SOL that price a block. */
export const MOST_SWAPS = 64
const NANOS_PER_MICRO = 1000n

/** A price and the time it is of. */
export interface PriceNow {
  /** Millionths of a dollar for a lamport. */
  readonly price: Rational
  readonly observedAtMs: number
}

/** True when current prices hold for a block of this time. */
const isPricedBy = ({ observedAtMs }: Pick<PriceNow, "observedAtMs">, timeMs: number): boolean =>
  Math.abs(observedAtMs - timeMs) <= NOW_MS

/** True for a swap of SOL against dollars in a pool: SOL is the traded token only against dollars. */
export const isSolSwap = ({ mint, role, volumeUsdNanos }: TapeTrade): boolean =>
  mint === SOL && role !== "wallet" && volumeUsdNanos !== null

interface SolSwap extends Weighted {
  /** Position in the order of the chain. */
  readonly order: number
  readonly timeMs: number
}

/**
 * Micro-dollars for a lamport at the time of a block: the median of the newest swaps of SOL against dollars, weighted with the
 * dollars, a function of the recorded chain alone. Where none was recorded, the current price by the pools.
 */
export class SolPrice {
  /** In the order of the chain. */
  private swaps: ReadonlyArray<SolSwap> = []

  /** Adds the swaps of a block; those of other tokens are ignored. */
  observe(legs: ReadonlyArray<Leg>, timeMs: number): void {
    const swaps = legs.filter(({ quote, token }) => token.mint === SOL && isDollar(quote.mint))
    this.add(
      swaps.flatMap((leg) => swapOf(orderKey(leg.slot, placeOf(leg)), timeMs, leg.token.amount, leg.quote.amount))
    )
  }

  /** Adds trades that were priced before, in any order; each counts once. */
  recall(trades: ReadonlyArray<TapeTrade>): void {
    this.add(
      trades
        .filter(isSolSwap)
        .flatMap(({ amount, index, slot, timeMs, volumeUsdNanos }) =>
          swapOf(orderKey(slot, index), timeMs, amount, (volumeUsdNanos ?? 0n) / NANOS_PER_MICRO)
        )
    )
  }

  private add(swaps: ReadonlyArray<SolSwap>): void {
    if (swaps.length > 0) {
      const known = new Set(this.swaps.map(({ order }) => order))
      const all = [...this.swaps, ...swaps.filter(({ order }) => !known.has(order))]
      this.swaps = all.toSorted((a, b) => a.order - b.order).slice(-MOST_SWAPS)
    }
  }

  /** Null when it is unknown. */
  at(timeMs: number, now: PriceNow | null): Rational | null {
    const recent = this.swaps.filter((swap) => Math.abs(timeMs - swap.timeMs) <= TRADED_MS)
    return medianPrice(recent)?.price ?? (now !== null && isPricedBy(now, timeMs) ? now.price : null)
  }
}

/** Nothing for a swap without a price, or with more dollars than a trade can have. */
const swapOf = (order: number, timeMs: number, lamports: bigint, micros: bigint): ReadonlyArray<SolSwap> =>
  lamports > 0n && lamports <= MAX_U64 && micros > 0n && micros * NANOS_PER_MICRO <= MAX_U64
    ? [{ order, timeMs, weight: micros, price: { numerator: micros, denominator: lamports } }]
    : []

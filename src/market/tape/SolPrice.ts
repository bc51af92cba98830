/** The price of SOL at the time of a block. */
import { SOL } from "../../domain/Address.ts"
import type { Rational } from "../../domain/rational.ts"
import type { Leg } from "../../domain/market/Trade.ts"
import { medianPrice, type Weighted } from "../../tokens/poolPrice.ts"
import { isDollar } from "../../trades/sides.ts"
import type { TapeTrade } from "./TapeTrade.ts"

/** The current price is used only for blocks within this of it, in milliseconds. */
const NOW_MS = 60_000
/** Trades of SOL count for this long. */
const TRADED_MS = 300_000
const MOST_TRADES = 64
const NANOS_PER_MICRO = 1000n

/** A price and the time it is of. */
export interface PriceNow {
  /** Millionths of a dollar for a lamport. */
  readonly price: Rational
  readonly observedAtMs: number
}

/** True when current prices hold for a block of this time. */
export const isPricedBy = ({ observedAtMs }: Pick<PriceNow, "observedAtMs">, timeMs: number): boolean =>
  Math.abs(observedAtMs - timeMs) <= NOW_MS

/**
 * Micro-dollars for a lamport at the time of a block: the price by the pools for a current block; for the blocks of a
 * backfill the median of the latest trades of SOL against dollars, weighted with the dollars.
 */
export class SolPrice {
  private trades: Array<Weighted & { readonly timeMs: number }> = []

  /** Adds a swap of a pool; swaps of other tokens are ignored. */
  observe({ quote, token }: Leg, timeMs: number): void {
    if (token.mint === SOL && isDollar(quote.mint)) {
      this.note(token.amount, quote.amount, timeMs)
    }
  }

  /** Adds a trade that was priced before. */
  recall({ amount, mint, role, timeMs, volumeUsdNanos }: TapeTrade): void {
    // SOL is the traded token only against dollars.
    if (mint === SOL && role !== "wallet" && volumeUsdNanos !== null) {
      this.note(amount, volumeUsdNanos / NANOS_PER_MICRO, timeMs)
    }
  }

  private note(lamports: bigint, micros: bigint, timeMs: number): void {
    if (lamports > 0n && micros > 0n) {
      const price = { numerator: micros, denominator: lamports }
      this.trades = [...this.trades.slice(1 - MOST_TRADES), { price, weight: micros, timeMs }]
    }
  }

  /** Null when it is unknown. */
  at(timeMs: number, now: PriceNow | null): Rational | null {
    if (now !== null && isPricedBy(now, timeMs)) {
      return now.price
    }
    const recent = this.trades.filter((trade) => Math.abs(timeMs - trade.timeMs) <= TRADED_MS)
    return medianPrice(recent)?.price ?? null
  }
}

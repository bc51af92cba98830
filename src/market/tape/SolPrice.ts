/** What SOL was worth when a block was made. */
import { SOL } from "../../domain/Address.ts"
import type { Rational } from "../../domain/rational.ts"
import type { Leg } from "../../domain/market/Trade.ts"
import { medianPrice, type Weighted } from "../../tokens/poolPrice.ts"
import { isDollar } from "../../trades/sides.ts"
import type { TapeTrade } from "./TapeTrade.ts"

/** A price of now says nothing of a block that is further away than this. */
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

/**
 * Micro-dollars for a lamport at the time of a block: what the pools say while the block is of now; for the blocks of a
 * backfill the median of what SOL had just been traded for against dollars, weighted with the dollars.
 */
export class SolPrice {
  private trades: Array<Weighted & { readonly timeMs: number }> = []

  /** Takes note of a pool swap; those of other tokens are left alone. */
  observe({ quote, token }: Leg, timeMs: number): void {
    if (token.mint === SOL && isDollar(quote.mint)) {
      this.note(token.amount, quote.amount, timeMs)
    }
  }

  /** Takes note of a trade that was priced before, as if it had been observed. */
  recall({ amount, mint, role, timeMs, volumeUsdNanos }: TapeTrade): void {
    // SOL is what is bought and sold only where dollars are the money.
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

  /** Null when nothing tells. */
  at(timeMs: number, now: PriceNow | null): Rational | null {
    if (now !== null && Math.abs(now.observedAtMs - timeMs) <= NOW_MS) {
      return now.price
    }
    const recent = this.trades.filter((trade) => Math.abs(timeMs - trade.timeMs) <= TRADED_MS)
    return medianPrice(recent)?.price ?? null
  }
}

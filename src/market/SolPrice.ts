/** What SOL was worth when a block was made. */
import { SOL } from "../domain/Address.ts"
import type { Rational } from "../domain/rational.ts"
import type { Leg } from "../domain/Trade.ts"
import { medianPrice, type Weighted } from "../tokens/poolPrice.ts"
import { isDollar } from "../trades/sides.ts"

/** A price of now says nothing of a block that is further away than this. */
const NOW_MS = 60_000
/** Trades of SOL count for this long. */
const TRADED_MS = 300_000
const MOST_TRADES = 64

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
    if (token.mint !== SOL || !isDollar(quote.mint) || token.amount <= 0n || quote.amount <= 0n) {
      return
    }
    const price = { numerator: quote.amount, denominator: token.amount }
    this.trades = [...this.trades.slice(1 - MOST_TRADES), { price, weight: quote.amount, timeMs }]
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

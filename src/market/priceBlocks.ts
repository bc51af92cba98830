/** Prices the trades of blocks, one block after the other. */
import { SOL } from "../domain/Address.ts"
import type { PriceBook } from "../tokens/PriceBook.ts"
import { SolPrice } from "./SolPrice.ts"
import { tapeTradesOf } from "./tapeTrades.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import type { TradeBatch } from "./TradeFeed.ts"
import type { PricedBatch } from "./TradeTape.ts"

/** What prices blocks. It remembers what SOL traded for, so blocks come in the order of the chain. */
export interface BlockPricing {
  readonly price: (batch: TradeBatch, nowMs: number) => PricedBatch
  /** Takes note of a trade that was priced before. */
  readonly recall: (trade: TapeTrade) => void
}

/** Pricing that knows of no trade yet. */
export const makeBlockPricing = (prices: PriceBook["Service"]): BlockPricing => {
  const sol = new SolPrice()
  return {
    price: (batch, nowMs) => {
      for (const { legs } of batch.transactions) {
        legs.forEach((leg) => sol.observe(leg, batch.timeMs))
      }
      const { isStale, lifetime, of } = prices.at(nowMs)
      const each = isStale ? null : (of(SOL)?.usd ?? null)
      const now = each === null || lifetime === null ? null : { price: each, observedAtMs: lifetime.observedAtMs }
      const moment = { timeMs: batch.timeMs, microPerLamport: sol.at(batch.timeMs, now) }
      return { ...batch, trades: batch.transactions.flatMap((decoded) => tapeTradesOf(decoded, moment)) }
    },
    recall: (trade) => sol.recall(trade)
  }
}

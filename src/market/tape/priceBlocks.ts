/** Prices the trades of blocks, one block after the other. */
import { Clock, Effect } from "effect"
import { type Mint, SOL } from "../../domain/Address.ts"
import { visitInParts } from "../../trades/blocks/PackedTransactions.ts"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import type { DecodedTrades } from "../../trades/decode.ts"
import { isPricedBy, SolPrice } from "./SolPrice.ts"
import { tapeTradesOf } from "./tapeTrades.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import type { TradeBatch } from "./TradeBatch.ts"
import type { PricedBatch } from "./TradeBatch.ts"

/** Prices blocks in the order of the chain, because earlier trades of SOL price later blocks. */
export interface BlockPricing {
  /** Yields to other work. For one block at a time. */
  readonly price: (batch: TradeBatch) => Effect.Effect<PricedBatch>
  /** Adds a trade that was priced before. */
  readonly recall: (trade: TapeTrade) => void
}

/** Pricing without earlier trades. */
export const makeBlockPricing = (prices: PriceBook["Service"]): BlockPricing => {
  const sol = new SolPrice()
  return {
    price: Effect.fnUntraced(function* (batch) {
      const decoded: Array<DecodedTrades> = []
      yield* visitInParts(batch.transactions, ({ legs, nets, unresolved }) => {
        legs.forEach((leg) => sol.observe(leg, batch.timeMs))
        decoded.push({ legs, nets, unresolved })
      })
      const { isStale, lifetime, of } = prices.at(yield* Clock.currentTimeMillis)
      const each = isStale ? null : (of(SOL)?.usd ?? null)
      const now = each === null || lifetime === null ? null : { price: each, observedAtMs: lifetime.observedAtMs }
      const isCurrent = now !== null && isPricedBy(now, batch.timeMs)
      const price = {
        timeMs: batch.timeMs,
        microPerLamport: sol.at(batch.timeMs, now),
        microPerUnit: (mint: Mint) => (isCurrent ? (of(mint)?.usd ?? null) : null)
      }
      const trades: Array<TapeTrade> = []
      yield* visitInParts(decoded, (each) => trades.push(...tapeTradesOf(each, price)))
      return { ...batch, trades }
    }),
    recall: (trade) => sol.recall(trade)
  }
}

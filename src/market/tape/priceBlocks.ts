/** Prices the trades of blocks, one block after the other. */
import { Clock, Effect } from "effect"
import { type Mint, SOL } from "../../domain/Address.ts"
import { visitInParts } from "../../trades/blocks/PackedTransactions.ts"
import type { PriceBook, Prices } from "../../tokens/PriceBook.ts"
import type { DecodedTrades } from "../../trades/decode.ts"
import { SolPrice } from "./SolPrice.ts"
import { type MintValue, tapeTradesOf } from "./tapeTrades.ts"
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

/** Prices of the pools are used only for blocks within this of them, in milliseconds: they are not recorded. */
const CURRENT_MS = 5000

const isCurrent = ({ isStale, lifetime }: Prices, timeMs: number): boolean =>
  !isStale && lifetime !== null && Math.abs(lifetime.observedAtMs - timeMs) <= CURRENT_MS

/** The mint whose price has the greater depth, so that both directions of an exchange have one value. */
const valueIn =
  ({ of }: Prices) =>
  (a: Mint, b: Mint): MintValue | null => {
    const [first, second] = a < b ? [a, b] : [b, a]
    const known = [first, second].flatMap((mint) => {
      const price = of(mint)
      return price === null || price.usd === null
        ? []
        : [{ mint, price: price.usd, depth: price.evidence?.depthMicro ?? 0n }]
    })
    const [one, other] = known
    return one === undefined ? null : other !== undefined && other.depth > one.depth ? other : one
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
      const current = prices.at(yield* Clock.currentTimeMillis)
      const { isStale, lifetime, of } = current
      const each = isStale ? null : (of(SOL)?.usd ?? null)
      const now = each === null || lifetime === null ? null : { price: each, observedAtMs: lifetime.observedAtMs }
      const price = {
        timeMs: batch.timeMs,
        microPerLamport: sol.at(batch.timeMs, now),
        ...(isCurrent(current, batch.timeMs) ? { betterPriceOf: valueIn(current) } : {})
      }
      const trades: Array<TapeTrade> = []
      yield* visitInParts(decoded, (each) => trades.push(...tapeTradesOf(each, price)))
      return { ...batch, trades }
    }),
    recall: (trade) => sol.recall(trade)
  }
}

/** Prices the trades of blocks, one block after the other. */
import { Clock, Effect } from "effect"
import { type Mint, SOL } from "../../domain/Address.ts"
import { visitInParts } from "../../trades/blocks/PackedTransactions.ts"
import type { PriceBook, Prices } from "../../tokens/PriceBook.ts"
import type { DecodedTrades } from "../../trades/decode.ts"
import { MOST_SWAPS, SolPrice } from "./SolPrice.ts"
import { type MintValue, repriced, tapeTradesOf, tapeTransfersOf } from "./tapeTrades.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import type { TradeBatch } from "./TradeBatch.ts"
import type { PricedBatch } from "./TradeBatch.ts"

/** Prices blocks in the order of the chain, because earlier trades of SOL price later blocks. */
export interface BlockPricing {
  /** Yields to other work. For one block at a time. */
  readonly price: (batch: TradeBatch) => Effect.Effect<PricedBatch>
  /** Adds trades that were priced before; those of SOL price the blocks that follow. */
  readonly recall: (trades: ReadonlyArray<TapeTrade>) => void
  /** Stored trades of one block that have another price now, after those recalled. */
  readonly changed: (trades: ReadonlyArray<TapeTrade>, timeMs: number) => ReadonlyArray<TapeTrade>
  /** The newest block whose pricing has begun; 0 before the first. */
  readonly newest: () => number
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

const isSame = (a: TapeTrade, b: TapeTrade): boolean =>
  a.volumeUsdNanos === b.volumeUsdNanos &&
  a.priceUsd === b.priceUsd &&
  a.solUsdNanos === b.solUsdNanos &&
  a.feeUsdNanos === b.feeUsdNanos

/** Pricing without earlier trades. */
export const makeBlockPricing = (prices: PriceBook["Service"]): BlockPricing => {
  const sol = new SolPrice()
  const state = { newest: 0 }
  return {
    price: Effect.fnUntraced(function* (batch) {
      state.newest = Math.max(state.newest, batch.slot)
      const decoded: Array<DecodedTrades> = []
      const transfers: Array<TapeTrade> = []
      yield* visitInParts(batch.transactions, ({ index, legs, moves, nets, signature, unresolved }) => {
        decoded.push({ legs, nets, unresolved })
        transfers.push(...tapeTransfersOf({ index, moves, signature }, batch))
      })
      sol.observe(
        decoded.flatMap(({ legs }) => legs),
        batch.timeMs
      )
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
      return { ...batch, trades, transfers }
    }),
    recall: (trades) => sol.recall(trades),
    changed: (trades, timeMs) => {
      const price = sol.at(timeMs, null)
      return trades.flatMap((trade) => {
        const again = repriced(trade, price)
        return isSame(trade, again) ? [] : [again]
      })
    },
    newest: () => state.newest
  }
}

/** Pricing after the stored trades up to and including a slot. */
export const pricingAfter = (
  store: Pick<TradeStore["Service"], "solSwaps">,
  prices: PriceBook["Service"],
  slot: number
) =>
  Effect.map(store.solSwaps(slot, MOST_SWAPS), (swaps) => {
    const pricing = makeBlockPricing(prices)
    pricing.recall(swaps)
    return pricing
  })

/** Prices blocks that were read late, and the trades after them, as if the blocks had come in order. */
import { Effect, Schedule, Stream } from "effect"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { MarketStores } from "../model/MarketStores.ts"
import { type BlockPricing, pricingAgainAfter } from "./priceBlocks.ts"
import type { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import { isSolSwap, MOST_SWAPS, TRADED_MS } from "../model/SolPrice.ts"
import { MOST_MONEY_SWAPS } from "../model/SwapLog.ts"
import { isMoneySwap } from "../model/TokenPrices.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { PricedBatch, TradeBatch } from "../model/TradeBatch.ts"

export interface PricingParts {
  readonly stores: MarketStores
  readonly prices: PriceBook["Service"]
  /** The pricing of new blocks. */
  readonly live: Pick<BlockPricing, "newest" | "recall">
  /** The newest slot that is stored. */
  readonly durable: () => number
  /** The stored part of a block. */
  readonly storable: (batch: PricedBatch, nowMs: number) => StoredBatch
}

/** Waits up to a minute until a slot is stored, then fails. */
export const stored = (durable: () => number, slot: number) =>
  Effect.suspend(() => (durable() < slot ? Effect.fail("waiting" as const) : Effect.void)).pipe(
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 600 })
  )

/** The stored trades after a block that get another price from its SOL swaps and the SOL swaps before it. */
const changedAfter = Effect.fnUntraced(function* (
  blocks: MarketStores["blocks"],
  pricing: BlockPricing<TradeStoreUnavailable>,
  { slot, timeMs }: StoredBatch
) {
  const changed: Array<TapeTrade> = []
  const read = { swaps: 0, slot }
  const second = Math.floor((timeMs - TRADED_MS) / 1000)
  const untilMs = timeMs + TRADED_MS
  yield* blocks.since({ second, after: slot, most: Number.POSITIVE_INFINITY, untilMs }).pipe(
    Stream.takeWhile(() => read.swaps < MOST_SWAPS),
    Stream.runForEach((batch) =>
      Effect.gen(function* () {
        pricing.recall(batch.trades)
        changed.push(...(yield* pricing.changed(batch.trades, batch.timeMs)))
        read.swaps += batch.trades.filter(isSolSwap).length
        read.slot = batch.slot
      })
    )
  )
  return { changed, after: read.slot }
})

/** The stored swaps between two tokens, after a slot, that get another value from these swaps. */
const revaluedAfter = Effect.fnUntraced(function* (
  history: MarketStores["trades"],
  pricing: BlockPricing<TradeStoreUnavailable>,
  swaps: ReadonlyArray<TapeTrade>,
  { after, since }: { readonly after: number; readonly since: StoredBatch }
) {
  const mints = Array.from(new Set(swaps.map(({ mint }) => mint)))
  const [fromMs, toMs, most] = [since.timeMs - 2 * TRADED_MS, since.timeMs + TRADED_MS, MOST_MONEY_SWAPS]
  const found = yield* history.tokenSwapsAfter({ after: since.slot, fromMs, toMs, mints, most })
  const priced = found.filter(({ slot }) => slot > after)
  const places = new Map(
    priced.flatMap(({ mint, otherToken, slot }) =>
      [mint, otherToken?.mint ?? mint].map((each) => [`${each} ${slot}`, { mint: each, slot }] as const)
    )
  )
  const earlier =
    places.size === 0 ? [] : yield* history.moneySwapsOf({ places: Array.from(places.values()), fromMs, most })
  const bySlot = Map.groupBy(priced, ({ slot }) => slot)
  let next = 0
  return Array.from(bySlot).flatMap(([slot, trades]) => {
    const end = earlier.findIndex((swap) => swap.slot > slot)
    const until = end < 0 ? earlier.length : end
    pricing.recall(earlier.slice(next, until))
    next = until
    return pricing.revalued(trades)
  })
})

/** What is known about blocks that are priced again. */
export interface PricedBefore {
  /** The pricing of the blocks right before these; null to look their swaps up. */
  readonly pricing: BlockPricing<TradeStoreUnavailable> | null
  /** False when no stored trade after these blocks is near enough for their swaps to price it. */
  readonly hasLater: boolean
}

/**
 * Prices blocks, given oldest first. Returns them with the stored trades whose price they change, and the pricing for
 * the blocks right after them, which is null when later blocks are stored. The pricing of new blocks gets their swaps too. Waits until the blocks that it has already
 * priced are stored.
 */
export const priceAgain = Effect.fnUntraced(function* (
  { durable, live, prices, storable, stores }: PricingParts,
  blocks: ReadonlyArray<TradeBatch>,
  nowMs: number,
  before: PricedBefore = { pricing: null, hasLater: true }
) {
  const [first] = blocks
  if (first === undefined) {
    return { batches: [], repriced: [], pricing: before.pricing }
  }
  const pricing =
    before.pricing ?? (yield* pricingAgainAfter(stores.trades, prices, { slot: first.slot - 1, timeMs: first.timeMs }))
  const batches = yield* Effect.forEach(blocks, (batch) =>
    Effect.map(pricing.price(batch), (priced) => storable(priced, nowMs))
  )
  const last = batches.at(-1)
  const trades = before.hasLater ? batches.flatMap((batch) => batch.trades) : []
  const [solSwaps, moneySwaps] = [trades.filter(isSolSwap), trades.filter(isMoneySwap)]
  if (last === undefined || solSwaps.length + moneySwaps.length === 0) {
    return { batches, repriced: [], pricing }
  }
  live.recall([...solSwaps, ...moneySwaps])
  yield* stored(durable, live.newest())
  const { after, changed } =
    solSwaps.length === 0 ? { after: last.slot, changed: [] } : yield* changedAfter(stores.blocks, pricing, last)
  const revalued = yield* revaluedAfter(stores.trades, pricing, moneySwaps, { after, since: last })
  // This pricing knows later swaps by now.
  return { batches, repriced: [...changed, ...revalued], pricing: null }
})

/** Prices blocks that were read late, and the trades after them, as if the blocks had come in their order. */
import { Effect, Schedule, Stream } from "effect"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import type { StoredBatch } from "../store/StoredBatch.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import { type BlockPricing, pricingAfter } from "../tape/priceBlocks.ts"
import { isSolSwap, MOST_SWAPS, TRADED_MS } from "../tape/SolPrice.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"
import type { PricedBatch, TradeBatch } from "../tape/TradeBatch.ts"

/** The parts that pricing works with. */
export interface PricingParts {
  readonly store: TradeStore["Service"]
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

/** The stored trades after a block that have another price, as far as its swaps of SOL and those before count. */
const changedAfter = Effect.fnUntraced(function* (
  store: PricingParts["store"],
  pricing: BlockPricing,
  { slot, timeMs }: StoredBatch
) {
  const changed: Array<TapeTrade> = []
  let swaps = 0
  const second = Math.floor((timeMs - TRADED_MS) / 1000)
  yield* store.since({ second, after: slot, most: Number.POSITIVE_INFINITY }).pipe(
    Stream.takeWhile((batch) => swaps < MOST_SWAPS && batch.timeMs - timeMs <= TRADED_MS),
    Stream.runForEach(({ timeMs: atMs, trades }) =>
      Effect.sync(() => {
        pricing.recall(trades)
        changed.push(...pricing.changed(trades, atMs))
        swaps += trades.filter(isSolSwap).length
      })
    )
  )
  return changed
})

/**
 * The priced blocks, given oldest first, and the stored trades whose price they change. Blocks that come meanwhile are priced
 * with their swaps of SOL: those that came before are waited for until they are stored.
 */
export const priceAgain = Effect.fnUntraced(function* (
  { durable, live, prices, storable, store }: PricingParts,
  blocks: ReadonlyArray<TradeBatch>,
  nowMs: number
) {
  const [first] = blocks
  if (first === undefined) {
    return { batches: [], repriced: [] }
  }
  const pricing = yield* pricingAfter(store, prices, first.slot - 1)
  const batches = yield* Effect.forEach(blocks, (batch) =>
    Effect.map(pricing.price(batch), (priced) => storable(priced, nowMs))
  )
  const last = batches.at(-1)
  const swaps = batches.flatMap(({ trades }) => trades.filter(isSolSwap))
  if (last === undefined || swaps.length === 0) {
    return { batches, repriced: [] }
  }
  live.recall(swaps)
  yield* stored(durable, live.newest())
  return { batches, repriced: yield* changedAfter(store, pricing, last) }
})

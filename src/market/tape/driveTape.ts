/** The life of a tape: what was stored comes back, then the feed goes on where it ended, and what comes is stored. */
import { Clock, Duration, Effect, Schedule, Stream } from "effect"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import { isAcceptable } from "./isAcceptable.ts"
import { makeBlockPricing } from "./priceBlocks.ts"
import { makeRecorder, type RecordSettings } from "../store/recordTrades.ts"
import { restoreTape } from "../store/restoreTape.ts"
import type { MarketLimits } from "./MarketState.ts"
import type { TradeFeed } from "./TradeFeed.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import type { StoredBatch } from "../store/StoredBatch.ts"
import type { TradeProgress } from "../store/TradeProgress.ts"
import type { PricedBatch } from "./TradeBatch.ts"

/** What is done to a tape. */
export interface TapeControls {
  /** Takes a block that is new, and tells of it. */
  readonly apply: (batch: PricedBatch) => Effect.Effect<unknown>
  /** Takes a block that was there before, and tells nobody. */
  readonly replay: (batch: StoredBatch, nowMs: number) => void
  /** From now on the store can be asked. */
  readonly keep: (store: TradeStore["Service"]) => void
  /** What was there before is back, all of it from a second on. */
  readonly resume: (progress: TradeProgress, from: number) => void
}

/** Who takes part. */
export interface TapeParts {
  readonly feed: TradeFeed["Service"]
  readonly store: TradeStore["Service"]
  readonly prices: PriceBook["Service"]
  readonly tape: TapeControls
}

/** What the store is given of a block: the trades that the tape takes, too. */
const storable = ({ afterGap, launches, slot, timeMs, trades }: PricedBatch, nowMs: number): StoredBatch => ({
  slot,
  timeMs,
  launches,
  afterGap,
  trades: trades.filter((trade) => isAcceptable(trade, nowMs))
})

/** Runs for as long as the tape is there. */
export const driveTape = Effect.fnUntraced(function* (
  { feed, prices, store, tape }: TapeParts,
  limits: MarketLimits,
  settings: RecordSettings
) {
  const pricing = makeBlockPricing(prices)
  const chain = yield* feed.chain
  if (chain === null) {
    yield* Effect.logWarning("The node does not say which chain it is of: trades are kept in memory only")
  }

  /** Brings back what is stored; the slot to go on after. */
  const restore = Effect.gen(function* () {
    const progress =
      chain === null
        ? null
        : yield* store.open(chain).pipe(
            Effect.tapError((cause) => Effect.logWarning("Trades cannot be stored", cause)),
            Effect.retry({ schedule: Schedule.spaced("1 second") })
          )
    if (chain !== null) {
      tape.keep(store)
    }
    if (progress === null) {
      return 0
    }
    const nowMs = yield* Clock.currentTimeMillis
    const most = { trades: 2 * limits.trades, launches: limits.tokens }
    const [took, restored] = yield* Effect.timed(
      restoreTape(store, progress, most, (batch) => {
        batch.trades.forEach(pricing.recall)
        tape.replay(batch, nowMs)
      })
    )
    tape.resume(progress, restored.from)
    yield* Effect.logInfo("The market is restored", {
      trades: restored.trades,
      slot: progress.slot,
      took: Duration.format(took)
    })
    return progress.slot
  })

  const after = yield* restore
  const reread = (slot: number) => {
    const again = makeBlockPricing(prices)
    return feed
      .batches(slot)
      .pipe(
        Stream.mapEffect((batch) =>
          Effect.flatMap(again.price(batch), (priced) =>
            Effect.map(Clock.currentTimeMillis, (nowMs) => storable(priced, nowMs))
          )
        )
      )
  }
  const recorder = chain === null ? null : yield* makeRecorder(store, { after, reread }, settings)

  yield* feed.batches(after).pipe(
    Stream.runForEach(
      Effect.fnUntraced(function* (batch) {
        const priced = yield* pricing.price(batch)
        yield* tape.apply(priced)
        if (recorder !== null) {
          yield* recorder.offer(storable(priced, yield* Clock.currentTimeMillis))
        }
      })
    )
  )
})

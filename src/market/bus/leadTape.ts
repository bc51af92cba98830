/** The work of the one process that reads the chain: it appends the blocks to the bus and stores them. */
import { Clock, Effect, Ref, Schedule, Stream } from "effect"
import { keepRunning } from "../../health/keepRunning.ts"
import type { BlockBus, BusEntry } from "../../storage/bus/BlockBus.ts"
import { stored } from "../repair/priceAgain.ts"
import { makeRepairs } from "../repair/RepairWorker.ts"
import type { ChainIdentity } from "../store/ChainIdentity.ts"
import { makeRecorder } from "../store/recordTrades.ts"
import { snapshotsOf } from "../snapshot/takeSnapshots.ts"
import { historyOf, storableBy, type TapeParts, type TapeSettings } from "../tape/driveTape.ts"
import type { MarketLimits } from "../tape/MarketState.ts"
import { type BlockPricing, makeBlockPricing, recallSoon } from "../tape/priceBlocks.ts"
import { WatchedWallets } from "../tape/WatchedWallets.ts"
import { decodeBlock, encodeBlock } from "./blockMessage.ts"
import type { FollowerState } from "./followTape.ts"

const RETRY_EVERY = "300 millis"

/**
 * Leads until it is interrupted, or fails once another process has appended. The blocks that are applied and stored are those
 * of the bus, so a block is the same in every process and in the store, by each of its leaders. Blocks of a leader before that
 * were not stored are stored first. An entry that cannot be read is left out, as a gap before the next block.
 */
export const leadChain = Effect.fnUntraced(function* (
  { feed, prices, store, tape }: TapeParts,
  bus: BlockBus["Service"],
  chain: ChainIdentity,
  limits: MarketLimits,
  { record, repair, snapshots }: TapeSettings,
  following: FollowerState
) {
  const storable = storableBy(tape, yield* WatchedWallets)
  following.isLeading = true
  following.isReading = false
  yield* Effect.addFinalizer(() => Effect.sync(() => (following.isLeading = false)))
  const after = (yield* store.open(chain, "sole"))?.slot ?? 0
  yield* Effect.logInfo("This process reads the chain", { after })
  yield* Effect.addFinalizer(() => Effect.logInfo("This process does not read the chain any more"))

  const read = Effect.fnUntraced(function* ({ bytes, isAfterGap, slot }: BusEntry, isBroken: boolean) {
    const batch = decodeBlock(bytes)
    yield* Effect.sync(() => tape.newest()).pipe(
      Effect.repeat({ until: (newest) => newest >= slot, schedule: Schedule.spaced("5 millis") })
    )
    const afterGap = batch.afterGap || isAfterGap || isBroken
    return storable({ ...batch, afterGap }, yield* Clock.currentTimeMillis)
  })
  /** The newest entry that could not be read, and the slot of the block before it. */
  const leftOut = { slot: 0, after: 0 }
  /** The blocks of the bus as they are stored, once they are applied: the transfers of a wallet depend on its trades before. */
  const blocksAfter = (slot: number) =>
    Stream.mapAccumEffect(
      bus.follow(chain.genesis, slot),
      () => ({ last: slot, isBroken: false }),
      ({ isBroken, last }, entry) =>
        read(entry, isBroken).pipe(
          Effect.map((batch) => [{ last: entry.slot, isBroken: false }, [batch]] as const),
          Effect.catchCause((cause) => {
            leftOut.slot = entry.slot
            leftOut.after = last
            return Effect.as(
              Effect.logError("A block could not be read and is left out of the store", { slot: entry.slot }, cause),
              [{ last, isBroken: true }, []] as const
            )
          })
        )
    )
  const recorder = yield* makeRecorder(store, { after, reread: blocksAfter }, record)
  const offered = { slot: after }
  yield* Effect.suspend(() =>
    Stream.runForEach(blocksAfter(offered.slot), (batch) => {
      offered.slot = batch.slot
      return recorder.offer(batch)
    })
  ).pipe(keepRunning("Storing the blocks of the bus", "trades"), Effect.forkScoped)

  const pricing = yield* Ref.make<BlockPricing>(makeBlockPricing(prices))
  const live = {
    newest: () => Ref.getUnsafe(pricing).newest(),
    recall: (trades: Parameters<BlockPricing["recall"]>[0]) => Ref.getUnsafe(pricing).recall(trades)
  }
  const { durable, unstored } = recorder
  const step = yield* makeRepairs(
    { feed, store, prices, live, tape, storable, limits, durable, unstored },
    { rate: repair.rate, history: historyOf(chain, repair), snapshots: snapshotsOf(chain, snapshots) }
  )
  yield* Effect.forever(Effect.flatMap(step, Effect.sleep)).pipe(
    keepRunning("Reading missing blocks again", "backfill"),
    Effect.forkScoped
  )

  /** The newest slot up to which the entries of the bus are stored or left out. */
  const settled = () => {
    const slot = recorder.durable()
    return slot >= leftOut.after ? Math.max(slot, leftOut.slot) : slot
  }

  const relay = Effect.gen(function* () {
    const newest = (yield* bus.newest(chain.genesis)) ?? 0
    // The bus may have lost blocks that are stored or applied.
    const from = Math.max(newest, after, tape.newest())
    yield* stored(settled, Math.max(newest, after))
    const next = makeBlockPricing(prices)
    // Before the store is read, so that swaps of a repair that ends meanwhile count.
    yield* Ref.set(pricing, next)
    yield* recallSoon(store, next, from)
    const position = { slot: from }
    yield* Stream.runForEach(
      feed.batches(from),
      Effect.fnUntraced(function* (batch) {
        const bytes = encodeBlock(yield* next.price(batch))
        yield* bus.append(chain.genesis, { after: position.slot, slot: batch.slot, bytes })
        position.slot = batch.slot
      })
    )
  }).pipe(Effect.scoped)
  // After a failed append the newest block of the bus decides on from which block it goes on.
  yield* relay.pipe(
    Effect.retry({
      schedule: Schedule.spaced(RETRY_EVERY),
      while: (failure) => failure === "waiting" || failure._tag !== "AppendRefused"
    })
  )
}, Effect.scoped)

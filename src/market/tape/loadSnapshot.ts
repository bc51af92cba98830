/** Restores memory from the stored snapshot and the blocks after it. */
import { Cause, Effect, Schedule, Schema } from "effect"
import { keepTrying } from "../../operations/keepRunning.ts"
import { ImageMismatch, ImageReader, PIECE_BYTES } from "../columnar/StateImage.ts"
import { MOST_RECENT } from "../model/RecentTrades.ts"
import type { RebuiltMemory } from "../memory/tapeContent.ts"
import { restoreSince } from "./restoreTape.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import type { MarketStores } from "../model/MarketStores.ts"
import { LATE_SECONDS } from "../model/windows.ts"
import { decompress } from "../history/compression.ts"
import { inSlices } from "../history/slices.ts"
import type { StoredSnapshot } from "../model/StoredSnapshot.ts"

/** Bytes read ahead. No step of an image needs more. */
const AHEAD_BYTES = 2 * PIECE_BYTES
/** How far back the newest trades are searched. */
const RECENT_SECONDS = 86_400

/** Attempts at one read of the snapshot while the store answers other reads. */
const MOST_TRIES = 5

type Stores = Pick<MarketStores, "blocks" | "snapshots">

/** What a snapshot has to match. */
interface Expected {
  readonly progress: TradeProgress
  readonly layout: string
  /** The newest slot that memory may contain. */
  readonly slot: number
}

/** The reason after every repair, until the next snapshot. */
const OUTDATED = "trades were repaired since"

/** Why a snapshot is not used; null when it is. */
const refusalOf = (found: StoredSnapshot, { layout, progress, slot }: Expected): string | null => {
  if (found.layout !== layout) {
    return "it is of another version or of other limits"
  }
  if (found.repairs !== progress.repairs) {
    return OUTDATED
  }
  return found.slot > Math.min(slot, progress.slot) ? "blocks of it are not stored" : null
}

/** A newer snapshot has replaced the one that was being read. It may have later blocks than memory may contain. */
export class SnapshotReplaced extends Schema.TaggedError<SnapshotReplaced>()("SnapshotReplaced", {}) {}

/**
 * Repeats a read after a failure of any cause: without end while the store does not answer, and up to `MOST_TRIES`
 * times while it answers other reads.
 */
const waiting = <A, E>(stores: Stores, ask: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const untilAvailable = keepTrying("Waiting for the store")(stores.blocks.launchesBefore(0, 1))
  return ask.pipe(
    Effect.sandbox,
    Effect.tapError((cause) =>
      Effect.andThen(Effect.logWarning("The snapshot of the market cannot be read", cause), untilAvailable)
    ),
    Effect.retry({ schedule: Schedule.spaced("1 second"), times: MOST_TRIES - 1 }),
    Effect.catch((cause) => Effect.failCause(cause))
  )
}

/** The stored snapshot; null when there is none or it cannot be read. */
const newestOf = (stores: Stores) =>
  Effect.catchCause(waiting(stores, stores.snapshots.newest), () => Effect.succeed(null))

const read = Effect.fnUntraced(function* (stores: Stores, memory: RebuiltMemory, snapshot: StoredSnapshot) {
  const reader = new ImageReader()
  const state = { parts: 0, size: 0 }
  const more = Effect.gen(function* () {
    while (reader.available < AHEAD_BYTES && state.parts < snapshot.parts) {
      const part = yield* waiting(stores, stores.snapshots.part(snapshot.id, state.parts))
      if (part === null) {
        const newest = yield* newestOf(stores)
        const isReplaced = newest !== null && newest.id !== snapshot.id
        return yield* Effect.fail(isReplaced ? new SnapshotReplaced() : new ImageMismatch("a part is missing"))
      }
      const content = yield* decompress(part)
      reader.add(content)
      state.parts++
      state.size += content.length
    }
  })
  yield* inSlices(memory.read(reader), more)
  if (reader.available > 0 || state.size !== snapshot.size) {
    return yield* Effect.fail(new ImageMismatch("the image is longer than what it is of"))
  }
})

/**
 * Adds the blocks after a slot, and adds the blocks up to it to the newest trades. Returns the number of trades after
 * the slot; null when there are more than may be read, so that some were left out.
 */
const addBlocks = Effect.fnUntraced(function* (
  stores: Stores,
  memory: RebuiltMemory,
  { slot, timeMs }: StoredSnapshot,
  most: number
) {
  const second = Math.floor(timeMs / 1000)
  const added = { trades: 0, isWhole: false }
  const add = (batch: StoredBatch, nowMs: number): boolean => {
    if (batch.slot > slot) {
      if (!added.isWhole) {
        return false
      }
      memory.add(batch, nowMs)
      added.trades += batch.trades.length
    } else {
      // From here on no block is left out.
      added.isWhole = true
      memory.addRecent(batch)
    }
    return true
  }
  yield* restoreSince(stores.blocks, { second: second - RECENT_SECONDS, after: 0 }, MOST_RECENT, add)
  if (!added.isWhole) {
    added.isWhole = true
    yield* restoreSince(stores.blocks, { second: second - LATE_SECONDS, after: slot }, most, add)
  }
  return added.trades < most ? added.trades : null
})

/**
 * Fills memory from the snapshot and the blocks after it. Returns the snapshot and the number of trades after it.
 * Returns null, with memory empty, when no snapshot can be used. Waits while the store does not answer, but gives a
 * snapshot up when only its parts cannot be read. Fails with `SnapshotReplaced` when a newer snapshot takes its place
 * meanwhile.
 */
export const loadSnapshot = Effect.fnUntraced(function* (
  stores: Stores,
  memory: RebuiltMemory,
  expected: Expected,
  most: number
) {
  const found = yield* newestOf(stores)
  if (found === null) {
    return null
  }
  const { bytes, slot } = found
  const refusal = refusalOf(found, expected)
  if (refusal !== null) {
    const log = refusal === OUTDATED ? Effect.logDebug : Effect.logInfo
    yield* log("The snapshot of the market is not used", { slot, bytes, reason: refusal })
    return null
  }
  const isRead = yield* read(stores, memory, found).pipe(
    Effect.as(true),
    Effect.catchCause((cause) => {
      const failure = Cause.squash(cause)
      return failure instanceof SnapshotReplaced
        ? Effect.fail(failure)
        : Effect.as(
            Effect.logWarning(
              "The snapshot of the market is damaged or cannot be read, and is not used",
              { slot, bytes },
              cause
            ),
            false
          )
    })
  )
  const trades = isRead ? yield* addBlocks(stores, memory, found, most) : null
  if (trades === null) {
    memory.empty()
    return null
  }
  return { snapshot: found, trades }
})

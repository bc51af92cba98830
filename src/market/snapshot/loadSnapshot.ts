/** Restores memory from the stored snapshot and the blocks after it. */
import { Cause, Effect, Schedule, Schema } from "effect"
import { ImageMismatch, ImageReader, PIECE_BYTES } from "../columnar/StateImage.ts"
import { MOST_RECENT } from "../tape/RecentTrades.ts"
import type { RebuiltMemory } from "../tape/TapeControls.ts"
import { restoreSince } from "../store/restoreTape.ts"
import type { StoredBatch } from "../store/StoredBatch.ts"
import type { TradeProgress } from "../store/TradeProgress.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import { LATE_SECONDS } from "../windows/windows.ts"
import { decompress } from "./compression.ts"
import { inSlices } from "./slices.ts"
import type { StoredSnapshot } from "./StoredSnapshot.ts"

/** No step of an image reads more before the next. */
const AHEAD_BYTES = 2 * PIECE_BYTES
/** The newest trades are searched this far back. */
const RECENT_SECONDS = 86_400

/** Attempts at one answer about the snapshot while the store gives others. */
const MOST_TRIES = 5

type Store = Pick<TradeStore["Service"], "launchesBefore" | "since" | "snapshot" | "snapshotPart">

/** A process can read the snapshot, and it is that of the stored trades. */
interface Expected {
  readonly progress: TradeProgress
  readonly layout: string
  /** The newest slot that memory may have. */
  readonly slot: number
}

/** Ordinary after every repair, until the next snapshot. */
const OUTDATED = "trades were repaired since"

/** The reason why a snapshot is not used; null when it is. */
const refusalOf = (found: StoredSnapshot, { layout, progress, slot }: Expected): string | null => {
  if (found.layout !== layout) {
    return "it is of another version or of other limits"
  }
  if (found.repairs !== progress.repairs) {
    return OUTDATED
  }
  return found.slot > Math.min(slot, progress.slot) ? "blocks of it are not stored" : null
}

/** Another snapshot took the place of the one that was being read, and may have later blocks than memory may have. */
export class SnapshotReplaced extends Schema.TaggedError<SnapshotReplaced>()("SnapshotReplaced", {}) {}

const again = Schedule.spaced("1 second")

/**
 * Asks again whatever the cause of a failure: without an end while the store is unavailable, and up to `MOST_TRIES` times while it
 * answers something else.
 */
const waiting = <A, E>(store: Store, ask: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const untilAvailable = store.launchesBefore(0, 1).pipe(Effect.sandbox, Effect.retry(again), Effect.ignore)
  return ask.pipe(
    Effect.sandbox,
    Effect.tapError((cause) =>
      Effect.andThen(Effect.logWarning("The snapshot of the market cannot be read", cause), untilAvailable)
    ),
    Effect.retry({ schedule: again, times: MOST_TRIES - 1 }),
    Effect.catch((cause) => Effect.failCause(cause))
  )
}

/** The stored snapshot; null when there is none, or the store cannot read it. */
const newestOf = (store: Store) => Effect.catchCause(waiting(store, store.snapshot), () => Effect.succeed(null))

const read = Effect.fnUntraced(function* (store: Store, memory: RebuiltMemory, snapshot: StoredSnapshot) {
  const reader = new ImageReader()
  const state = { parts: 0, size: 0 }
  const more = Effect.gen(function* () {
    while (reader.available < AHEAD_BYTES && state.parts < snapshot.parts) {
      const part = yield* waiting(store, store.snapshotPart(snapshot.id, state.parts))
      if (part === null) {
        const newest = yield* newestOf(store)
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
 * Adds the blocks after a slot, and to the newest trades those up to it. Returns the number of trades after it; null when
 * there are more than may be read, and some were left out.
 */
const addBlocks = Effect.fnUntraced(function* (
  store: Store,
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
  yield* restoreSince(store, { second: second - RECENT_SECONDS, after: 0 }, MOST_RECENT, add)
  if (!added.isWhole) {
    added.isWhole = true
    yield* restoreSince(store, { second: second - LATE_SECONDS, after: slot }, most, add)
  }
  return added.trades < most ? added.trades : null
})

/**
 * Fills memory from the snapshot and the blocks after it. Returns the snapshot and the number of trades after it; null, with
 * nothing in memory, when there is none that can be used. Waits while the store is unavailable, but not for a part that cannot be read
 * from one that answers. Fails with `SnapshotReplaced` once its parts are gone because there is a newer one.
 */
export const loadSnapshot = Effect.fnUntraced(function* (
  store: Store,
  memory: RebuiltMemory,
  expected: Expected,
  most: number
) {
  const found = yield* newestOf(store)
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
  const isRead = yield* read(store, memory, found).pipe(
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
  const trades = isRead ? yield* addBlocks(store, memory, found, most) : null
  if (trades === null) {
    memory.empty()
    return null
  }
  return { snapshot: found, trades }
})

/** Stores snapshots of memory, now and then and at an orderly stop. */
import { Clock, Config, Duration, Effect, Option, Stream } from "effect"
import { durationSetting, rangeSetting } from "../../domain/countSetting.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import { noteFailure } from "../../operations/SourceMonitor.ts"
import { ImageTooLarge, ImageWriter } from "../columnar/StateImage.ts"
import type { MarketLimits } from "../memory/MarketState.ts"
import type { MarketStores } from "../model/MarketStores.ts"
import { compress, layoutOf } from "../history/compression.ts"
import { inSlices } from "../history/slices.ts"
import type { Tape } from "./Tape.ts"

/** Blocks wait for a snapshot, so its slices are longer than others. */
const SLICE_NANOS = 2_000_000n

export interface SnapshotSettings {
  /** The time between two snapshots; null takes none. */
  readonly every: Duration.Duration | null
  /** Bytes of memory. A larger image is not stored. */
  readonly most: number
}

const GIB = 2 ** 30

/** `SNAPSHOT_EVERY` (5 minutes beside a permanent chain, else none) and `SNAPSHOT_BYTES` (1 GiB). */
export const snapshotSettings = Config.all({
  every: Config.option(durationSetting("SNAPSHOT_EVERY")),
  most: rangeSetting("SNAPSHOT_BYTES", GIB, { minimum: 0, maximum: 64 * GIB })
})

const DEFAULT_EVERY = Duration.minutes(5)

export const snapshotsOf = (
  chain: { readonly isSandbox: boolean },
  { every, most }: Config.Success<typeof snapshotSettings>
): SnapshotSettings => {
  const pause = Option.getOrElse(every, () => (chain.isSandbox ? Duration.zero : DEFAULT_EVERY))
  return { every: Duration.toMillis(pause) > 0 ? pause : null, most }
}

/** How long the snapshot of an orderly stop may take. */
const STOP_LIMIT = Duration.seconds(10)

export interface SnapshotParts {
  readonly stores: Pick<MarketStores, "snapshots">
  readonly tape: Pick<Tape["Service"], "capture" | "noteSnapshot">
  readonly limits: MarketLimits
}

/** Hands out the parts one by one, so that each is freed once it is compressed. */
function* taken(parts: Array<Uint8Array>): Generator<Uint8Array, void, void> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    yield part
  }
}

/**
 * Stores an image of the tape. It is copied while blocks wait, in turns of about two milliseconds, then compressed
 * and stored while they go on. Returns the stored snapshot. Returns null when the tape is empty or being restored, or when
 * a repair has changed trades meanwhile. Fails with `ImageTooLarge` above the bound.
 */
export const takeSnapshot = Effect.fnUntraced(function* ({ limits, stores, tape }: SnapshotParts, most: number) {
  const captured = yield* tape.capture(({ image, repairs, slot, timeMs, usedBytes }) =>
    Effect.gen(function* () {
      if (usedBytes > most) {
        return yield* Effect.fail(new ImageTooLarge(`${usedBytes} bytes are more than ${most}`))
      }
      const writer = new ImageWriter(most)
      yield* inSlices(image(writer), null, ownTurn, SLICE_NANOS).pipe(
        Effect.catchDefect((defect) => (defect instanceof ImageTooLarge ? Effect.fail(defect) : Effect.die(defect)))
      )
      writer.end()
      return { state: { layout: layoutOf(limits), repairs, slot, timeMs }, writer }
    })
  )
  if (captured === null) {
    return null
  }
  const { state, writer } = captured
  const parts = Stream.mapEffect(Stream.fromIterable(taken(writer.parts), { chunkSize: 1 }), compress)
  const kept = yield* stores.snapshots.keep({ state, size: writer.size, parts })
  if (kept === null) {
    const { repairs, slot } = state
    yield* Effect.logInfo("The snapshot of the market is not kept: the store has other blocks", { repairs, slot })
  }
  return kept
})

/** The snapshots of a process that writes the store. Call one method at a time. */
export const makeSnapshots = Effect.fnUntraced(function* (
  parts: SnapshotParts,
  settings: SnapshotSettings,
  /** Stores the blocks that wait to be stored. */
  flush: Effect.Effect<unknown, unknown>
) {
  const state = { lastMs: yield* Clock.currentTimeMillis, isTooLarge: false }

  const take = Effect.gen(function* () {
    state.lastMs = yield* Clock.currentTimeMillis
    const [took, kept] = yield* Effect.timed(takeSnapshot(parts, settings.most))
    if (kept !== null) {
      state.isTooLarge = false
      parts.tape.noteSnapshot({ kept })
      const { bytes, size, slot } = kept
      yield* Effect.logDebug("The market has a snapshot", { slot, bytes, size, took: Duration.format(took) })
    }
  }).pipe(
    Effect.catchTag("ImageTooLarge", (failure) => {
      const isNew = !state.isTooLarge
      state.isTooLarge = true
      return isNew
        ? Effect.logWarning("The market is too large for a snapshot: raise SNAPSHOT_BYTES", { detail: failure.message })
        : Effect.void
    }),
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logWarning("The snapshot of the market could not be stored", cause),
        noteFailure("snapshot", cause)
      )
    )
  )

  return {
    /** Takes a snapshot when its time has come. */
    ifDue: (nowMs: number): Effect.Effect<void> =>
      // The absolute difference counts, in case the clock was set back.
      settings.every !== null && Math.abs(nowMs - state.lastMs) >= Duration.toMillis(settings.every)
        ? take
        : Effect.void,

    /** Takes a last snapshot, within ten seconds. */
    atStop:
      settings.every === null
        ? Effect.void
        : // If another process writes by now, the store refuses the snapshot.
          Effect.interruptible(Effect.ignore(Effect.andThen(flush, take))).pipe(
            Effect.timeoutOption(STOP_LIMIT),
            Effect.asVoid
          )
  }
})

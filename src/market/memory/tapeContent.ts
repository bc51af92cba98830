/** The content of a tape while it is rebuilt, and while it is written to a snapshot. */
import { type Clock, Duration, Effect, Latch } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { ImageSteps, StateImage } from "../columnar/StateImage.ts"
import type { Gaps } from "../model/Gaps.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import { addBlock, imageOfChain, type TapedChain } from "./TapedChain.ts"

/** The content of a tape that is being rebuilt. */
export interface RebuiltMemory {
  /** The newest slot that it may contain. Later blocks come by themselves. */
  readonly slot: number
  /** Adds a stored block. A block later than `slot` is left out. */
  readonly add: (batch: StoredBatch, nowMs: number) => void
  /** Adds a block to the newest trades. An image contains the block's sums but not its trades. */
  readonly addRecent: (batch: StoredBatch) => void
  /** The steps that fill it from an image, instead of adding blocks. */
  readonly read: (image: StateImage) => ImageSteps
  /** From this second on the image that was read has every trade. */
  readonly heldFrom: () => number
  /** Removes everything. */
  readonly empty: () => void
}

/** The content of a tape that no block changes meanwhile. */
export interface CapturedTape {
  /** Its newest block. */
  readonly slot: number
  readonly timeMs: number
  /** The number of the store's repairs that the tape contains. */
  readonly repairs: number
  /** Bytes of its largest parts. */
  readonly usedBytes: number
  /** The steps that write it. */
  readonly image: (image: StateImage) => ImageSteps
}

/** Makes the content of a tape that is being rebuilt, up to a slot. */
export const makeMemory = (slot: number, empty: () => TapedChain) => {
  let next = empty()
  const memory: RebuiltMemory = {
    slot,
    add: (batch, nowMs) => {
      if (batch.slot <= slot) {
        addBlock(next, batch, nowMs)
      }
    },
    addRecent: (batch) => next.recent.add(batch),
    read: (image) => imageOfChain(next, image),
    heldFrom: () => next.heldFrom,
    empty: () => {
      next = empty()
    }
  }
  return { memory, content: () => next }
}

/**
 * Runs `write` on the content of a tape. Returns null when the tape is empty, is being restored, or contains only part
 * of a block.
 */
export const captureOf = <A, E>(
  chain: TapedChain,
  write: (tape: CapturedTape) => Effect.Effect<A, E>
): Effect.Effect<A | null, E> => {
  const { continuity, isRestoring, isTorn, repairs, state } = chain
  const { newest } = continuity
  return newest === null || isRestoring || isTorn
    ? Effect.succeed(null)
    : write({
        ...newest,
        repairs,
        usedBytes: Object.values(state.usedBytes).reduce((sum, bytes) => sum + bytes, 0),
        image: (image) => imageOfChain(chain, image)
      })
}

/**
 * Lets reads wait for a restore. The wait ends with the restore, or when `patience` has passed since the restore began.
 */
export const makeRestoreWait = (clock: Clock.Clock, patience: Duration.Duration) => {
  const restored = Latch.makeUnsafe(true)
  let endsAtMs = 0
  return {
    begin: (): void => {
      endsAtMs = monotonicMs(clock) + Duration.toMillis(patience)
      restored.closeUnsafe()
    },
    end: (): void => void restored.openUnsafe(),
    wait: Effect.suspend(() => {
      const leftMs = endsAtMs - monotonicMs(clock)
      return restored.isOpen() || leftMs <= 0
        ? Effect.void
        : Effect.asVoid(Effect.timeoutOption(restored.await, leftMs))
    })
  }
}

/** True while missing blocks are still to be read. The answer is cached, because it is asked for every transfer. */
export const rememberMissing = () => {
  let last: { readonly gaps: Gaps; readonly isMissing: boolean } | null = null
  return (gaps: Gaps): boolean => {
    if (last?.gaps !== gaps) {
      last = { gaps, isMissing: gaps.some(({ state }) => state === "open") }
    }
    return last.isMissing
  }
}

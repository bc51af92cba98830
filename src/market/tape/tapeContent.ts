/** The content of a tape while it is rebuilt and while it is written to a snapshot. */
import { type Clock, Duration, Effect, Latch } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { Gaps } from "./Gaps.ts"
import type { CapturedTape, RebuiltMemory } from "./TapeControls.ts"
import { addBlock, imageOfChain, type TapedChain } from "./TapedChain.ts"

/** The content of a tape that is being rebuilt, up to a slot. */
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

/** Runs `write` on the content of a tape; null when it is empty, being restored, or has a part of a block. */
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

/** The wait of reads for a restore, which ends with it, at the latest so long after its beginning by the monotonic clock. */
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

/** True while blocks of the record are still to be read. The answer is kept, because it is asked for every transfer. */
export const rememberMissing = () => {
  let last: { readonly gaps: Gaps; readonly isMissing: boolean } | null = null
  return (gaps: Gaps): boolean => {
    if (last?.gaps !== gaps) {
      last = { gaps, isMissing: gaps.some(({ state }) => state === "open") }
    }
    return last.isMissing
  }
}

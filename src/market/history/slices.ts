/** Runs long work in slices, so that the event loop turns between them. */
import { Clock, Effect } from "effect"
import type { ImageSteps } from "../columnar/StateImage.ts"

const SLICE_NANOS = 1_000_000n

/**
 * Runs the steps in slices, with a pause after each. `before` runs ahead of each step. A slice ends with the step during
 * which `sliceNanos` have passed.
 */
export const inSlices = Effect.fnUntraced(function* <E = never, R = never>(
  steps: ImageSteps,
  before: Effect.Effect<void, E, R> | null = null,
  pause: Effect.Effect<void> = Effect.yieldNow,
  sliceNanos = SLICE_NANOS
) {
  const clock = yield* Clock.Clock
  let begunAt = clock.monotonicTimeNanosUnsafe()
  while (true) {
    if (before !== null) {
      yield* before
    }
    if (steps.next().done === true) {
      return
    }
    if (clock.monotonicTimeNanosUnsafe() - begunAt > sliceNanos) {
      yield* pause
      begunAt = clock.monotonicTimeNanosUnsafe()
    }
  }
})

/** Runs long work in slices, so that the event loop turns between them. */
import { Clock, Effect } from "effect"
import type { ImageSteps } from "../columnar/StateImage.ts"

/** A slice ends with the step during which this time has passed. */
const SLICE_NANOS = 2_000_000n

/** Runs the steps in slices, with a pause after each. `before` runs ahead of each step. */
export const inSlices = Effect.fnUntraced(function* <E = never, R = never>(
  steps: ImageSteps,
  before: Effect.Effect<void, E, R> | null = null,
  pause: Effect.Effect<void> = Effect.yieldNow
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
    if (clock.monotonicTimeNanosUnsafe() - begunAt > SLICE_NANOS) {
      yield* pause
      begunAt = clock.monotonicTimeNanosUnsafe()
    }
  }
})

/** Work that repeats beside the frames of blocks: one topic after the other, with pauses. */
import { Clock, Effect } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { Topic } from "./Topic.ts"

/** The pause after each topic, in multiples of the time that it took: the work gets a quarter of the thread at most. */
const REST = 3

/**
 * Runs `work` for each topic that is due and has readers, and rests after each. Before each, `whole` waits until no block
 * of the market is half applied.
 */
export const takeTurns = Effect.fnUntraced(function* (
  topics: Iterable<Topic>,
  whole: Effect.Effect<void>,
  isDue: (topic: Topic, atMs: number) => boolean,
  work: (topic: Topic) => Effect.Effect<void>
) {
  const clock = yield* Clock.Clock
  for (const topic of Array.from(topics)) {
    if (topic.readers.size > 0 && isDue(topic, monotonicMs(clock))) {
      yield* whole
      const beganMs = monotonicMs(clock)
      yield* work(topic)
      yield* Effect.sleep(REST * (monotonicMs(clock) - beganMs))
    }
  }
})

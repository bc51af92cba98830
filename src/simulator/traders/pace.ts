import { Clock, Duration, Effect } from "effect"

/**
 * How many overdue slots are made up for. After a larger jump of the clock, as when a machine wakes up, all are
 * skipped.
 */
const MOST_BEHIND = 25

/** How many slots to skip when the next one is this late: none, or all that were missed. */
export const slotsToSkip = (overdueMs: number, intervalMs: number): number => {
  const behind = Math.floor(overdueMs / intervalMs)
  return behind > MOST_BEHIND ? behind : 0
}

/**
 * Runs `step` once per interval, for ever. When the clock has jumped, calls `skip` with the number of slots to skip.
 */
export const keepPace = Effect.fnUntraced(function* (
  intervalMs: number,
  step: () => void,
  skip: (slots: number) => void
): Effect.fn.Return<never> {
  let dueMs = (yield* Clock.currentTimeMillis) + intervalMs
  return yield* Effect.forever(
    Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const skipped = slotsToSkip(nowMs - dueMs, intervalMs)
      if (skipped > 0) {
        skip(skipped)
        dueMs += skipped * intervalMs
      }
      // A late slot is made at once, but other fibers get to run in between.
      yield* dueMs > nowMs ? Effect.sleep(Duration.millis(dueMs - nowMs)) : Effect.yieldNow
      step()
      dueMs += intervalMs
    })
  )
})

import { Clock, Duration, Effect } from "effect"

/** Most slots that are made late; after a larger jump of the clock, as of a suspended machine, all are skipped. */
const MOST_BEHIND = 25

/** Slots to skip when the next one is so long overdue: none, or all that were missed. */
export const slotsToSkip = (overdueMs: number, intervalMs: number): number => {
  const behind = Math.floor(overdueMs / intervalMs)
  return behind > MOST_BEHIND ? behind : 0
}

/** Runs `step` once an interval for ever; calls `skip` with the slots to skip when the clock has jumped. */
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
      // A late slot is made at once, but other fibers run in between.
      yield* dueMs > nowMs ? Effect.sleep(Duration.millis(dueMs - nowMs)) : Effect.yieldNow
      step()
      dueMs += intervalMs
    })
  )
})

import { Clock, Duration, Effect } from "effect"

/** Slots that are caught up with; a clock that jumped further, as after a suspended machine, leaves the rest out. */
const MOST_BEHIND = 25

/** How many slots to leave out when the next one has been due for so long: none, or all that were missed. */
export const slotsToSkip = (overdueMs: number, intervalMs: number): number => {
  const behind = Math.floor(overdueMs / intervalMs)
  return behind > MOST_BEHIND ? behind : 0
}

/** Runs `step` once an interval of the clock for ever, and says how many to skip when the clock has jumped. */
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
      // A slot that is late is made at once, but never at the expense of everything else.
      yield* dueMs > nowMs ? Effect.sleep(Duration.millis(dueMs - nowMs)) : Effect.yieldNow
      step()
      dueMs += intervalMs
    })
  )
})

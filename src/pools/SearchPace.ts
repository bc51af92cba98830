/** The pace of searching pools: providers refuse `getProgramAccounts` after some calls a second. */
import { Clock, Context, Deferred, Duration, Effect, Latch, type Scope } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import { keepRunning } from "../health/keepRunning.ts"

/** Searches a second where `DISCOVERY_RATE` is not set; null for any number, as of a market on this machine. */
export const DefaultSearchRate = Context.Reference<number | null>("fathom/pools/SearchPace/DefaultSearchRate", {
  defaultValue: () => 5
})

/** Searches that may begin at once after a pause, at least: those of one mint. Otherwise those of a second. */
const BURST = 20

/** Waits until a search may begin. Searches for asked mints come before those that look for new pools. */
export type SearchPace = (isAsked: boolean) => Effect.Effect<void>

/** A pace of so many searches a second; null for any number. */
export const makeSearchPace = Effect.fnUntraced(function* (
  perSecond: number | null
): Effect.fn.Return<SearchPace, never, Scope.Scope> {
  if (perSecond === null) {
    return () => Effect.void
  }
  const clock = yield* Clock.Clock
  const nowMs = () => monotonicMs(clock)
  const asked = new Set<Deferred.Deferred<void>>()
  const again = new Set<Deferred.Deferred<void>>()
  const waiting = yield* Latch.make()
  const most = Math.max(BURST, perSecond)
  const credit = { calls: most, atMs: nowMs() }

  const earn = () => {
    const now = nowMs()
    credit.calls = Math.min(most, credit.calls + ((now - credit.atMs) / 1000) * perSecond)
    credit.atMs = now
  }

  /** Lets searches begin while there is credit for them; returns the time until there is for the next, null when none waits. */
  const beginAll = (): number | null => {
    earn()
    while (asked.size + again.size > 0) {
      if (credit.calls < 1) {
        return Math.ceil(((1 - credit.calls) / perSecond) * 1000)
      }
      // Chosen anew each time: an asked mint may have come meanwhile.
      const queue = asked.size > 0 ? asked : again
      for (const next of queue) {
        credit.calls -= 1
        queue.delete(next)
        Deferred.doneUnsafe(next, Effect.void)
        break
      }
    }
    return null
  }
  const begin = Effect.suspend(() => {
    const inMs = beginAll()
    if (inMs !== null) {
      return Effect.sleep(Duration.millis(inMs))
    }
    waiting.closeUnsafe()
    return waiting.await
  })
  yield* begin.pipe(Effect.forever, keepRunning("Pacing the search of pools"), Effect.forkScoped)

  return (isAsked) =>
    Effect.suspend(() => {
      const turn = Deferred.makeUnsafe<void>()
      const queue = isAsked ? asked : again
      queue.add(turn)
      waiting.openUnsafe()
      return Effect.onInterrupt(Deferred.await(turn), () => Effect.sync(() => queue.delete(turn)))
    })
})

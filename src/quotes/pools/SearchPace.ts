/** Limits the pace of searches, because providers refuse `getProgramAccounts` after a few calls a second. */
import { Clock, Context, Deferred, Duration, Effect, Latch, type Scope } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { keepRunning } from "../../operations/keepRunning.ts"

/** Searches a second when `DISCOVERY_RATE` is not set. Null means no limit, as for a market on this machine. */
export const DefaultSearchRate = Context.Reference<number | null>("fathom/quotes/pools/SearchPace/DefaultSearchRate", {
  defaultValue: () => 5
})

/**
 * Burst size of the pace. At least 20, so that the searches of one mint can start together; otherwise one second's
 * worth.
 */
const BURST = 20

/** Waits until a search may start. Searches for requested mints come before searches for new pools. */
export type SearchPace = (isRequested: boolean) => Effect.Effect<void>

/** Makes a pace of `perSecond` searches; null means no limit. */
export const makeSearchPace = Effect.fnUntraced(function* (
  perSecond: number | null
): Effect.fn.Return<SearchPace, never, Scope.Scope> {
  if (perSecond === null) {
    return () => Effect.void
  }
  const clock = yield* Clock.Clock
  const nowMs = () => monotonicMs(clock)
  const requested = new Set<Deferred.Deferred<void>>()
  const again = new Set<Deferred.Deferred<void>>()
  const waiting = yield* Latch.make()
  const most = Math.max(BURST, perSecond)
  const credit = { calls: most, atMs: nowMs() }

  const earn = () => {
    const now = nowMs()
    credit.calls = Math.min(most, credit.calls + ((now - credit.atMs) / 1000) * perSecond)
    credit.atMs = now
  }

  /**
   * Starts waiting searches while there is credit. Returns the milliseconds until the next one can start; null when
   * none waits.
   */
  const beginAll = (): number | null => {
    earn()
    while (requested.size + again.size > 0) {
      if (credit.calls < 1) {
        return Math.ceil(((1 - credit.calls) / perSecond) * 1000)
      }
      // Chosen again each time, because a requested mint may have arrived meanwhile.
      const queue = requested.size > 0 ? requested : again
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

  return (isRequested) =>
    Effect.suspend(() => {
      const turn = Deferred.makeUnsafe<void>()
      const queue = isRequested ? requested : again
      queue.add(turn)
      waiting.openUnsafe()
      return Effect.onInterrupt(Deferred.await(turn), () => Effect.sync(() => queue.delete(turn)))
    })
})

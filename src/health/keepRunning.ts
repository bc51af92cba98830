/** Background loops that end only with their scope. */
import { Cause, Clock, Effect } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import { noteFailure } from "./SourceMonitor.ts"

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/** A loop that ran this long begins again with the first pause. */
const STEADY_MS = 60_000

/**
 * Runs a background loop again whenever it fails, dies or is interrupted from inside, and logs it with the cause. The pause
 * before a restart doubles from 250 ms to 30 s, and is short again after a minute without a failure. Returns when the loop
 * ends by itself; interrupting the fiber ends it for good. The failure is that of `source`, where the loop keeps one up to date.
 */
export const keepRunning =
  (name: string, source?: string) =>
  <A, E, R>(loop: Effect.Effect<A, E, R>): Effect.Effect<A, never, R> =>
    Effect.flatMap(Clock.Clock, (clock) => {
      let pauseMs = FIRST_PAUSE_MS / 2
      const run: Effect.Effect<A, never, R> = Effect.suspend(() => {
        const begunMs = monotonicMs(clock)
        return Effect.catchCause(loop, (cause) => {
          pauseMs = monotonicMs(clock) - begunMs >= STEADY_MS ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
          return Effect.logError(`${name} stopped and restarts`, { pauseMs }, cause).pipe(
            Effect.andThen(source === undefined ? Effect.void : noteFailure(source, Cause.squash(cause))),
            Effect.andThen(Effect.sleep(pauseMs)),
            Effect.andThen(run)
          )
        })
      })
      return run
    })

/** Runs one step of a background loop; a failure of any cause is logged, and the loop goes on with its next step. */
export const keepGoing =
  (name: string) =>
  <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A | void, never, R> =>
    Effect.catchCause(step, (cause) => Effect.logError(`${name} failed and is skipped`, cause))

/**
 * Background loops that end only with their scope. Wrap a loop in `keepRunning`. Wrap a step inside it in
 * `keepTrying` when the step must not be lost, or in `keepGoing` when the loop may go on without it.
 */
import { Cause, Clock, type Duration, Effect } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import { noteFailure } from "./SourceMonitor.ts"

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/** A loop that ran this long restarts after the shortest pause. */
const STEADY_MS = 60_000

/**
 * Restarts a background loop whenever it fails, dies or is interrupted from inside, and logs the cause. The pause
 * before a restart doubles from 250 ms to 30 s, and is short again after a minute without a failure. Returns when the
 * loop ends by itself. Interrupting the fiber ends the loop for good. With a `source`, each failure is recorded for
 * it.
 */
export const keepRunning =
  (name: string, source?: string) =>
  <A, E, R>(loop: Effect.Effect<A, E, R>): Effect.Effect<A, never, R> =>
    Effect.flatMap(Clock.Clock, (clock) => {
      let pauseMs = FIRST_PAUSE_MS / 2
      const run: Effect.Effect<A, never, R> = Effect.suspend(() => {
        const startedMs = monotonicMs(clock)
        return Effect.catchCause(loop, (cause) => {
          pauseMs =
            monotonicMs(clock) - startedMs >= STEADY_MS ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
          return Effect.logError(`${name} stopped and restarts`, { pauseMs }, cause).pipe(
            Effect.andThen(source === undefined ? Effect.void : noteFailure(source, Cause.squash(cause))),
            Effect.andThen(Effect.sleep(pauseMs)),
            Effect.andThen(run)
          )
        })
      })
      return run
    })

/**
 * Repeats a step that a background loop must not skip, until it succeeds. Every failure is recorded as a failure of
 * `source`. The first failure is logged as a warning, further ones as debug lines, and the success after them as
 * information. Waits `every` between attempts (one second by default). The rest of the loop waits too.
 */
export const keepTrying =
  (name: string, { every = "1 second", source }: { readonly every?: Duration.Input; readonly source?: string } = {}) =>
  <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A, never, R> => {
    const attempt = (failures: number): Effect.Effect<A, never, R> =>
      step.pipe(
        Effect.tap(() => (failures === 0 ? Effect.void : Effect.logInfo(`${name} succeeds again`, { failures }))),
        Effect.catchCause((cause) =>
          (failures === 0
            ? Effect.logWarning(`${name} failed and is tried again`, cause)
            : Effect.logDebug(`${name} failed again`, { failures: failures + 1 }, cause)
          ).pipe(
            Effect.andThen(source === undefined ? Effect.void : noteFailure(source, Cause.squash(cause))),
            Effect.andThen(Effect.sleep(every)),
            Effect.andThen(attempt(failures + 1))
          )
        )
      )
    return Effect.suspend(() => attempt(0))
  }

/** A step that keeps failing is in the log at its first failure, and then at most once in this time. */
const SAID_EVERY_MS = 60_000

/**
 * Runs one step of a background loop. After a failure of any cause the loop goes on with its next step. The first failure is
 * logged, further ones once a minute with their count, and the success after them as information.
 */
export const keepGoing =
  (name: string) =>
  <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A | void, never, R> => {
    let [failures, sayAtMs] = [0, Number.NEGATIVE_INFINITY]
    const failed = Effect.fnUntraced(function* (cause: Cause.Cause<E>) {
      const nowMs = monotonicMs(yield* Clock.Clock)
      failures++
      if (nowMs < sayAtMs) {
        return yield* Effect.logDebug(`${name} failed again`, { failures }, cause)
      }
      sayAtMs = nowMs + SAID_EVERY_MS
      return yield* Effect.logError(`${name} failed and is skipped`, ...(failures > 1 ? [{ failures }] : []), cause)
    })
    const succeeded = Effect.suspend(() => {
      const before = failures
      ;[failures, sayAtMs] = [0, Number.NEGATIVE_INFINITY]
      return before === 0 ? Effect.void : Effect.logInfo(`${name} succeeds again`, { failures: before })
    })
    return step.pipe(
      Effect.tap(() => succeeded),
      Effect.catchCause(failed)
    )
  }

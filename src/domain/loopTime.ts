/** Turns of the event loop: time that is counted in them, and work that gets one for itself. The clock that never goes back. */
import { type Clock, Duration, Effect } from "effect"

/** The reading of the monotonic clock, in milliseconds: durations measured by it do not depend on the date. */
export const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

const TURN_MS = 50
const LEAST_TURNS = 4
const MOST_TURNS = 8

/**
 * Sleeps for `limit` in four to eight timers, one after the other. A loop that is busy adds its delay to each of them, so it has
 * read its sockets several times before the sleep ends: an answer that has arrived in time is not taken for a missing one.
 */
export const sleepInTurns = (limit: Duration.Input): Effect.Effect<void> => {
  const ms = Duration.toMillis(limit)
  const turns = Math.min(MOST_TURNS, Math.max(LEAST_TURNS, Math.ceil(ms / TURN_MS)))
  return Effect.asVoid(Effect.replicateEffect(Effect.sleep(Duration.millis(ms / turns)), turns, { discard: true }))
}

/** The result of the effect, or that of `late` when it takes longer than `limit` in turns of the loop. */
export const withinTurns =
  <B, E2, R2>(limit: Duration.Input, late: Effect.Effect<B, E2, R2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2, R | R2> =>
    Effect.raceFirst(effect, Effect.andThen(sleepInTurns(limit), late))

const waiting = new Set<() => void>()
const turns = { isArmed: false }

const arm = (): void => {
  if (!turns.isArmed && waiting.size > 0) {
    turns.isArmed = true
    setImmediate(runFirst)
  }
}

/** Runs the first that waits, and the next one after the loop has read its sockets. */
const runFirst = (): void => {
  turns.isArmed = false
  const [first] = waiting
  if (first !== undefined) {
    waiting.delete(first)
    first()
  }
  arm()
}

/**
 * Waits for a turn of the event loop in which no other fiber continues that waits here, first come first served. Fibers that
 * merely yield all continue in the same turn, so their steps add up to one long delay of the requests that arrive meanwhile.
 */
export const ownTurn: Effect.Effect<void> = Effect.callback<void>((resume) => {
  const start = () => resume(Effect.void)
  waiting.add(start)
  arm()
  return Effect.sync(() => waiting.delete(start))
})

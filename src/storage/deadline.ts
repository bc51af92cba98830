/** Deadlines of database queries. Each port has one typed failure. */
import { type Duration, Effect, Exit, Fiber, Metric, Predicate, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { withinTurns } from "../domain/loopTime.ts"
import { failOnLostConnection } from "./transaction.ts"

/**
 * Fails with `late` when the effect takes longer than `limit`. Delays of a busy event loop do not count. The effect
 * is then interrupted in the background, because an interrupted query waits for the server's answer, and a frozen
 * server never gives one.
 */
export const within =
  <Late>(limit: Duration.Input, late: (cause: Error) => Late) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Late, R> =>
    Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) =>
      Fiber.join(fiber).pipe(
        withinTurns(
          limit,
          Effect.suspend(() => Effect.fail(late(new Error("the database did not answer in time"))))
        ),
        Effect.onExit(() => Effect.sync(() => fiber.interruptUnsafe()))
      )
    )

/** Why a query failed: the database is unavailable, or a row does not have the expected shape. */
export type Broken = SqlError.SqlError | Schema.SchemaError

/** Upper bounds of the histogram's buckets, in seconds. */
const BOUNDARIES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * `late`: the deadline passed. A caller who may not see or change a row still got an answer, so that counts as
 * `answered`.
 */
type Outcome = "answered" | "failed" | "late"

const timers = new Map<string, Metric.Histogram<number>>()

const timerOf = (store: string, outcome: Outcome): Metric.Histogram<number> => {
  const name = `${store} ${outcome}`
  const timer =
    timers.get(name) ??
    Metric.histogram("fathom_store_call_seconds", {
      description: "Time of calls of PostgreSQL by store and outcome, waiting for a connection included.",
      boundaries: BOUNDARIES,
      attributes: { store, outcome }
    })
  timers.set(name, timer)
  return timer
}

/** The store that a failure belongs to: `KeyStore` for `KeyStoreUnavailable`. */
const storeOf = (failure: unknown): string =>
  Predicate.hasProperty(failure, "_tag") ? String(failure._tag).replace(/Unavailable$/u, "") : "other"

/**
 * Runs a query to its end or its deadline and measures it. `unavailable` makes the failure for any database error;
 * its tag also names the store in metrics.
 */
export const bounded = <Unavailable>(limit: Duration.Input, unavailable: (cause: unknown) => Unavailable) => {
  const store = storeOf(unavailable(null))
  return <A, E, R>(effect: Effect.Effect<A, E | Broken, R>) =>
    Effect.clockWith((clock) => {
      const startedNanos = clock.monotonicTimeNanosUnsafe()
      let outcome: Outcome = "answered"
      const failed = (how: Outcome) => (cause: unknown) => {
        outcome = how
        return unavailable(cause)
      }
      const call = Effect.catchTag(
        within(limit, failed("late"))(failOnLostConnection(effect)),
        ["SqlError", "SchemaError"],
        (cause) => Effect.fail(failed("failed")(cause))
      )
      return Effect.onExit(call, (exit) =>
        Exit.hasInterrupts(exit)
          ? Effect.void
          : Metric.update(timerOf(store, outcome), Number(clock.monotonicTimeNanosUnsafe() - startedNanos) / 1e9)
      )
    })
}

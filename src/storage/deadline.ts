/** How stores ask the database: every question has a deadline, and every failure of the database one name. */
import { type Duration, Effect, Fiber, type Schema } from "effect"
import type { SqlError } from "effect/sql"

/**
 * Fails with what `late` gives when the effect takes longer. It is told to stop, and nobody waits until it has: an
 * interrupted query first hears the server out, and a frozen server says nothing.
 */
export const within =
  <Late>(limit: Duration.Input, late: (cause: Error) => Late) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Late, R> =>
    Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) =>
      Fiber.join(fiber).pipe(
        Effect.timeoutOrElse({
          duration: limit,
          orElse: () => Effect.fail(late(new Error("the database did not answer in time")))
        }),
        Effect.onExit(() => Effect.sync(() => fiber.interruptUnsafe()))
      )
    )

/** What a query fails with when the database is away, or answers what makes no sense. */
export type Broken = SqlError.SqlError | Schema.SchemaError

/** Runs a query to its end or to the deadline. Whatever is wrong with the database, the caller learns what `away` says. */
export const bounded =
  <Away>(limit: Duration.Input, away: (cause: unknown) => Away) =>
  <A, E, R>(effect: Effect.Effect<A, E | Broken, R>) =>
    Effect.catchTag(within(limit, away)(effect), ["SqlError", "SchemaError"], (cause) => Effect.fail(away(cause)))

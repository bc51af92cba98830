/** Deadlines of database queries, and one typed failure per port. */
import { type Duration, Effect, Fiber, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { withinTurns } from "../domain/loopTime.ts"
import { failOnLostConnection } from "./transaction.ts"

/**
 * Fails with `late` when the effect takes longer than `limit`, without the delays of a busy event loop. The effect is then
 * interrupted in the background: an interrupted query waits for the server's answer, which a frozen server never gives.
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

/** Failure of a query: the database is unavailable, or a row does not have the expected shape. */
export type Broken = SqlError.SqlError | Schema.SchemaError

/** Runs a query to its end or to the deadline. Any failure of the database becomes the one that `unavailable` makes. */
export const bounded =
  <Unavailable>(limit: Duration.Input, unavailable: (cause: unknown) => Unavailable) =>
  <A, E, R>(effect: Effect.Effect<A, E | Broken, R>) =>
    Effect.catchTag(within(limit, unavailable)(failOnLostConnection(effect)), ["SqlError", "SchemaError"], (cause) =>
      Effect.fail(unavailable(cause))
    )

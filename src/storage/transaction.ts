import { Cause, Effect } from "effect"
import { type SqlClient, SqlError } from "effect/sql"

/** The failure of the database among the defects of a cause; undefined when there is none. */
const lostConnection = <E>(cause: Cause.Cause<E>): SqlError.SqlError | undefined =>
  cause.reasons.flatMap((reason) =>
    Cause.isDieReason(reason) && SqlError.isSqlError(reason.defect) ? [reason.defect] : []
  )[0]

/** Turns a defect that is a failure of the database, as a lost connection can leave, back into that failure. */
export const failOnLostConnection = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, E | SqlError.SqlError> => {
    const lost = lostConnection(cause)
    return lost === undefined ? Effect.failCause(cause) : Effect.fail(lost)
  })

/**
 * Runs the effect in a transaction, or in a savepoint when there is one already. Fails with `SqlError` when the connection is
 * lost inside it: Effect's `withTransaction` dies when its rollback fails, and makes a defect of the effect's own failure too.
 */
export const transaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.suspend(() => {
    let failure: Cause.Cause<E> | undefined
    const noted = Effect.onError(effect, (cause) =>
      Effect.sync(() => {
        failure = cause
      })
    )
    return Effect.catchCause(sql.withTransaction(noted), (cause) =>
      failure === undefined || lostConnection(cause) === undefined
        ? failOnLostConnection(Effect.failCause(cause))
        : Effect.failCause(failure)
    )
  })

import { Cause, Effect } from "effect"
import { type SqlClient, SqlError } from "effect/sql"

/** The database error among a cause's defects; undefined when there is none. */
const lostConnection = <E>(cause: Cause.Cause<E>): SqlError.SqlError | undefined =>
  cause.reasons.flatMap((reason) =>
    Cause.isDieReason(reason) && SqlError.isSqlError(reason.defect) ? [reason.defect] : []
  )[0]

/** Turns the defect that a lost connection can leave into the database error that caused it. */
export const failOnLostConnection = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, E | SqlError.SqlError> => {
    const lost = lostConnection(cause)
    return lost === undefined ? Effect.failCause(cause) : Effect.fail(lost)
  })

/**
 * Runs the effect in a transaction, or in a savepoint when one is already open. Fails with `SqlError` when the
 * connection is lost. Effect's own `withTransaction` would die when its rollback fails, and hide the effect's
 * failure.
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

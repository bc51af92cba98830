import { Cause, Effect } from "effect"
import { type SqlClient, SqlError } from "effect/sql"

/** The database failure among the defects of a cause; undefined when there is none. */
const lostConnection = <E>(cause: Cause.Cause<E>): SqlError.SqlError | undefined =>
  cause.reasons.flatMap((reason) =>
    Cause.isDieReason(reason) && SqlError.isSqlError(reason.defect) ? [reason.defect] : []
  )[0]

/** Turns a defect that a lost connection can leave back into the database failure it is. */
export const failOnLostConnection = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, E | SqlError.SqlError> => {
    const lost = lostConnection(cause)
    return lost === undefined ? Effect.failCause(cause) : Effect.fail(lost)
  })

/**
 * Runs the effect in a transaction, or in a savepoint inside one. Fails with `SqlError` when the connection is lost:
 * Effect's own `withTransaction` dies when its rollback fails, and turns the effect's failure into a defect too.
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

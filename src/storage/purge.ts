/** Deletes rows that are too old, in statements of a bounded size. Only processes with `CleansUp` do it. */
import { Context, type Duration, Effect, Schedule, type Scope } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { keepGoing, keepRunning } from "../operations/keepRunning.ts"
import type { Broken } from "./deadline.ts"

/** How many rows one statement deletes, so that no statement holds its locks for long. */
const MOST_ROWS = 5000

/** True in processes that delete old rows. Other processes of the service leave it to them. */
export const CleansUp = Context.Reference<boolean>("fathom/storage/purge/CleansUp", { defaultValue: () => true })

/** Wraps one statement in its deadline. */
export type Bound<Failure> = (
  statement: Effect.Effect<ReadonlyArray<unknown>, Broken>
) => Effect.Effect<ReadonlyArray<unknown>, Failure>

interface Purge<Failure> {
  readonly sql: SqlClient.SqlClient
  readonly table: string
  /** The condition for the rows to delete. */
  readonly where: Statement.Fragment
  readonly bound: Bound<Failure>
  readonly most?: number
}

/**
 * Deletes rows of a table without partitions, each statement in its own transaction. When one fails, rows that were
 * already deleted stay deleted.
 */
export const purgeRows = <Failure>({
  bound,
  most = MOST_ROWS,
  sql,
  table,
  where
}: Purge<Failure>): Effect.Effect<void, Failure> => {
  const name = sql(table)
  const statement = Effect.suspend(() =>
    bound(
      // The condition is repeated outside. A row may change while the statement waits for it, and PostgreSQL 17.5
      // does not check again whether the changed row is still in the subquery's result.
      sql`
        delete from ${name}
        where ctid = any(array(select ctid from ${name} where ${where} limit ${most})) and (${where}) returning 1
      `
    )
  )
  return Effect.asVoid(Effect.repeat(statement, { while: ({ length }) => length === most }))
}

/**
 * Deletes now and at every interval, in processes that clean up. A failure is logged, and the next interval tries
 * again.
 */
export const cleanUp = <E, R>(
  task: string,
  every: Duration.Input,
  purge: Effect.Effect<void, E, R>
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.flatMap(CleansUp, (cleansUp) =>
    cleansUp
      ? purge.pipe(
          keepGoing(task),
          Effect.repeat(Schedule.spaced(every)),
          keepRunning(task),
          Effect.forkScoped,
          Effect.asVoid
        )
      : Effect.void
  )

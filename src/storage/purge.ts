/** Deletes rows that are too old, in statements of a bounded size, by the processes that clean up. */
import { Context, type Duration, Effect, Schedule, type Scope } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { keepGoing, keepRunning } from "../operations/keepRunning.ts"
import type { Broken } from "./deadline.ts"

/** Most rows per statement, so that none holds its locks for long. */
const MOST_ROWS = 5000

/** False in processes that leave the deletion of old rows to other processes of the service. */
export const CleansUp = Context.Reference<boolean>("fathom/storage/purge/CleansUp", { defaultValue: () => true })

/** Gives one statement its deadline. */
export type Bound<Failure> = (
  statement: Effect.Effect<ReadonlyArray<unknown>, Broken>
) => Effect.Effect<ReadonlyArray<unknown>, Failure>

interface Purge<Failure> {
  readonly sql: SqlClient.SqlClient
  readonly table: string
  /** Holds for the rows to delete. */
  readonly where: Statement.Fragment
  readonly bound: Bound<Failure>
  readonly most?: number
}

/**
 * Deletes rows of a table without partitions, each statement in its own transaction. After a failure, what is done
 * stays done.
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
      // The condition is repeated outside: PostgreSQL 17.5 does not check again whether a row that changed while the
      // statement waited for it is still among the places of the scan.
      sql`
        delete from ${name}
        where ctid = any(array(select ctid from ${name} where ${where} limit ${most})) and (${where}) returning 1
      `
    )
  )
  return Effect.asVoid(Effect.repeat(statement, { while: ({ length }) => length === most }))
}

/**
 * Runs a deletion now and at every interval, in processes that clean up. A failure is logged, and the next turn tries
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

/** Deletion of rows that are too old: by the processes that clean up, and in statements of a bounded size. */
import { Context, type Duration, Effect, Schedule, type Scope } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { keepGoing, keepRunning } from "../health/keepRunning.ts"
import type { Broken } from "./deadline.ts"

/** Most rows of one statement, so that none holds its locks for long. */
const MOST_ROWS = 5000

/** False in processes that leave the deletion of old rows to others of the service. */
export const CleansUp = Context.Reference<boolean>("fathom/storage/purge/CleansUp", { defaultValue: () => true })

/** Puts one statement under its deadline. */
export type Bound<Failure> = (
  statement: Effect.Effect<ReadonlyArray<unknown>, Broken>
) => Effect.Effect<ReadonlyArray<unknown>, Failure>

interface Purge<Failure> {
  readonly sql: SqlClient.SqlClient
  readonly table: string
  /** Holds for the rows that go. */
  readonly where: Statement.Fragment
  readonly bound: Bound<Failure>
  readonly most?: number
}

/** Deletes rows of a table that is not partitioned, each statement in a transaction of its own. A failure keeps what is done. */
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
      // The condition again outside: PostgreSQL 17.5 does not look again whether a row that changed while the statement
      // waited for it is still among the places of the scan.
      sql`
        delete from ${name}
        where ctid = any(array(select ctid from ${name} where ${where} limit ${most})) and (${where}) returning 1
      `
    )
  )
  return Effect.asVoid(Effect.repeat(statement, { while: ({ length }) => length === most }))
}

/** Runs a deletion at once and at an interval, in processes that clean up. A failure is logged, and the next turn tries again. */
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

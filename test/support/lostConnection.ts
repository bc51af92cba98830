/** Connections that the server ends while a statement waits. */
import { Context, Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as TestDatabase from "./TestDatabase.ts"

/** A client of a database. */
export const client = Effect.fnUntraced(function* (address: TestDatabase.TestAddress) {
  return Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
})

/**
 * Runs the effect against a locked table, and ends the server process of the statement that waits for this table: others may
 * wait for a moment elsewhere, as for the automatic vacuum.
 */
export const cutOff = Effect.fnUntraced(function* <A, E, R>(
  address: TestDatabase.TestAddress,
  table: string,
  effect: Effect.Effect<A, E, R>
) {
  const [sql, admin] = [yield* client(address), yield* client(address)]
  // Not inside the transaction, which would see the activity of one moment only.
  const terminated = admin`
    select pg_terminate_backend(activity.pid) from pg_stat_activity as activity
    join pg_locks as waiting on waiting.pid = activity.pid
    where activity.datname = current_database() and activity.backend_type = 'client backend'
      and not waiting.granted and waiting.locktype = 'relation' and waiting.relation = to_regclass(${table})
  `
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`lock table ${sql(table)} in access exclusive mode`
      const fiber = yield* Effect.forkChild(Effect.exit(effect), { startImmediately: true })
      yield* terminated.pipe(
        Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("5 millis"), times: 500 })
      )
      return yield* Fiber.join(fiber)
    })
  )
})

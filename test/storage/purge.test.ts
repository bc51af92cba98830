import { assert, describe, it } from "@effect/vitest"
import { Data, Duration, Effect, Fiber, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { type Bound, CleansUp, cleanUp, purgeRows } from "../../src/storage/purge.ts"
import { transaction } from "../../src/storage/transaction.ts"
import { client } from "../support/lostConnection.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

class Broken extends Data.TaggedError("Broken") {}

/** A table of twelve rows. The first ten are old. */
const table = Effect.gen(function* () {
  const address = yield* TestDatabase.create
  const sql = yield* client(address)
  yield* sql`create table old_rows (at integer not null)`
  yield* sql`insert into old_rows select generate_series(1, 12)`
  const left = Effect.map(sql`select at from old_rows order by at`, (rows) => rows.map(({ at }) => Number(at)))
  return { address, sql, left, where: sql`at <= 10` }
})

describe.runIf(TestDatabase.isAvailable)("the deletion of old rows", () => {
  it.live("deletes a bounded number of rows per statement, until none is left", () =>
    Effect.gen(function* () {
      const { left, sql, where } = yield* table
      const deleted: Array<number> = []
      const bound: Bound<unknown> = (statement) =>
        Effect.tap(statement, ({ length }) => Effect.sync(() => deleted.push(length)))
      yield* purgeRows({ sql, table: "old_rows", where, bound, most: 4 })
      assert.deepStrictEqual(deleted, [4, 4, 2])
      assert.deepStrictEqual(yield* left, [11, 12])
    })
  )

  it.live("keeps what is done when a statement fails", () =>
    Effect.gen(function* () {
      const { left, sql, where } = yield* table
      let statements = 0
      const bound = (statement: Parameters<Bound<unknown>>[0]): ReturnType<Bound<unknown>> =>
        Effect.suspend((): ReturnType<Bound<unknown>> => (++statements === 2 ? Effect.fail(new Broken()) : statement))
      yield* Effect.flip(purgeRows({ sql, table: "old_rows", where, bound, most: 4 }))
      assert.lengthOf(yield* left, 8)
    })
  )

  it.live("leaves a row that another transaction renews while the deletion waits for it", () =>
    Effect.gen(function* () {
      const { address, left, sql, where } = yield* table
      const other = yield* client(address)
      // Outside the transaction, because inside it the activity would be frozen at one moment.
      const isWaiting = sql`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%delete from "old_rows"%'
      `.pipe(
        Effect.filterOrFail((rows) => rows.length > 0),
        Effect.retry(Schedule.spaced("10 millis"))
      )
      const deletion = yield* transaction(
        other,
        Effect.gen(function* () {
          yield* other`update old_rows set at = 20 where at = 3`
          const purge = purgeRows({ sql, table: "old_rows", where, bound: (statement) => statement })
          const fiber = yield* Effect.forkChild(purge, { startImmediately: true })
          yield* isWaiting
          return fiber
        })
      )
      yield* Fiber.join(deletion)
      assert.deepStrictEqual(yield* left, [11, 12, 20])
    })
  )
})

describe("the loop that deletes", () => {
  const turnsIn = Effect.fnUntraced(function* (cleansUp: boolean) {
    let turns = 0
    const purge = Effect.suspend(() => (++turns === 2 ? Effect.fail(new Broken()) : Effect.void))
    yield* cleanUp("Deleting", Duration.hours(6), purge).pipe(Effect.provideService(CleansUp, cleansUp))
    yield* TestClock.adjust("13 hours")
    return turns
  })

  it.effect(
    "runs now and at its interval, goes on after failures, and runs in no process that leaves it to others",
    () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* turnsIn(true), 3)
        assert.strictEqual(yield* turnsIn(false), 0)
      })
  )
})

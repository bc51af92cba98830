import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Fiber, Layer, Schedule } from "effect"
import { whileLeading } from "../../src/storage/LeaderLock.ts"
import * as Proxy from "../support/Proxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { until } from "../support/sse.ts"

const LOCK = { key: 7_000_001, silenceMs: 1500 }

describe.runIf(TestDatabase.isAvailable)("whileLeading", () => {
  it.live("lets one lead at a time, and the next one when the first has ended", () =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<void>()
      const leading: Array<string> = []
      const lead = (name: string) =>
        whileLeading(
          LOCK,
          Effect.andThen(
            Effect.sync(() => leading.push(name)),
            Deferred.await(done)
          )
        )
      const first = yield* Effect.forkChild(lead("first"))
      yield* until("a leader", () => leading.length === 1)
      const second = yield* Effect.forkChild(lead("second"))
      // A third session sees that the second waits for the lock and does not have it.
      const sql = yield* PgClient.PgClient
      yield* sql`select from pg_stat_activity where query like '%pg_try_advisory_lock%' and application_name = 'fathom-leader'`.pipe(
        Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("10 millis") })
      )
      assert.deepStrictEqual(leading, ["first"])
      yield* Fiber.interrupt(first)
      yield* until("the next leader", () => leading.length === 2)
      yield* Deferred.succeed(done, undefined)
      yield* Fiber.join(second)
      assert.deepStrictEqual(leading, ["first", "second"])
    }).pipe(Effect.provide(TestDatabase.layer))
  )

  it.live("passes to another when the leader stands still", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const network = yield* Proxy.make(address)
      const leading: Array<string> = []
      const lead = (name: string) =>
        whileLeading(
          LOCK,
          Effect.andThen(
            Effect.sync(() => leading.push(name)),
            Effect.never
          )
        )
      const first = yield* Effect.forkChild(
        Effect.flip(lead("first")).pipe(Effect.provide(Layer.fresh(TestDatabase.connect(network.address))))
      )
      yield* until("a leader", () => leading.length === 1)
      yield* Effect.forkChild(lead("second").pipe(Effect.provide(Layer.fresh(TestDatabase.connect(address)))))
      yield* network.freeze
      // As long as it takes: the server waits before it ends the session.
      yield* Effect.sync(() => leading.length).pipe(
        Effect.repeat({ until: (count) => count === 2, schedule: Schedule.spaced("10 millis") })
      )
      // Its connection is still open, and carries no answer.
      assert.strictEqual((yield* Fiber.join(first))._tag, "LeadershipLost")
      assert.deepStrictEqual(leading, ["first", "second"])
    }).pipe(Effect.scoped)
  )

  it.live("fails when its session has ended, and interrupts the leader's work", () =>
    Effect.gen(function* () {
      const leads = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const leading = yield* Effect.forkChild(
        Effect.flip(
          whileLeading(
            LOCK,
            Effect.andThen(Deferred.succeed(leads, undefined), Effect.never).pipe(
              Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
            )
          )
        )
      )
      yield* Deferred.await(leads)
      const sql = yield* PgClient.PgClient
      yield* sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'fathom-leader' and datname = current_database()
      `
      assert.strictEqual((yield* Fiber.join(leading))._tag, "LeadershipLost")
      yield* Deferred.await(ended)
    }).pipe(Effect.provide(Layer.fresh(TestDatabase.layer)))
  )
})

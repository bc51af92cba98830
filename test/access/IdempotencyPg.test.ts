import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Idempotency } from "../../src/access/Idempotency.ts"
import * as IdempotencyPg from "../../src/access/IdempotencyPg.ts"
import type { IdempotencyUnavailable } from "../../src/domain/Idempotency.ts"
import * as Proxy from "../support/Proxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { begin, beginFresh, idempotencyContract, requestOf } from "./idempotencyContract.ts"

/** A store in a process of its own. */
const open = (address: TestDatabase.TestAddress) =>
  Effect.map(
    Layer.build(IdempotencyPg.layer.pipe(Layer.provide(TestDatabase.connect(address)))),
    (context) =>
      <A, E>(asked: Effect.Effect<A, E, Idempotency>): Effect.Effect<A, E> =>
        Effect.provideService(asked, Idempotency, Context.get(context, Idempotency))
  )

/** The failure of a call. */
const asked = (question: Effect.Effect<unknown, IdempotencyUnavailable>) => Effect.flip(question)

const answer = { status: 200, body: "{}" }

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  idempotencyContract("IdempotencyPg.layer", IdempotencyPg.layer.pipe(Layer.provide(TestDatabase.layer)))
})

describe.runIf(TestDatabase.isAvailable)("the idempotency keys of a database", { concurrent: true }, () => {
  it.live("are the same in every process, and after a restart", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      yield* Effect.scoped(
        Effect.gen(function* () {
          const [here, there] = [yield* open(address), yield* open(address)]
          const fresh = yield* here(beginFresh(requestOf("everywhere")))
          assert.strictEqual(yield* there(begin(requestOf("everywhere"))), "InFlight")
          yield* fresh.complete(answer)
          assert.deepStrictEqual(yield* there(begin(requestOf("everywhere"))), answer)
        })
      )
      const restarted = yield* open(address)
      assert.deepStrictEqual(yield* restarted(begin(requestOf("everywhere"))), answer)
    })
  )

  it.live("begin once when two processes claim them at once", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      for (let round = 0; round < 10; round++) {
        const begun = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? here : there)),
          (at) => at(begin(requestOf(`raced_${round}`))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(begun.filter((tag) => tag === "Fresh").length, 1)
      }
    })
  )

  it.live("are unavailable within the deadline when the database is frozen", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const store = yield* open(proxy.address)
      const fresh = yield* store(beginFresh(requestOf("before")))
      yield* proxy.freeze
      for (const question of [store(begin(requestOf("after"))), fresh.complete(answer), fresh.abandon].map(asked)) {
        const [took, error] = yield* Effect.timed(question)
        assert.strictEqual(error._tag, "IdempotencyUnavailable")
        assert.isBelow(Duration.toMillis(took), Proxy.UNANSWERED_MS)
      }
    })
  )

  it.live("leave the table when they are forgotten", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
      yield* sql`
        insert into idempotency_keys (key_id, idempotency_key, digest, holder, held_until, expires_at)
        values ('key_a', 'old', 'd', 'h', now(), now() - interval '1 day'), ('key_a', 'new', 'd', 'h', now(), now() + interval '1 day')
      `
      yield* open(address)
      const kept = Effect.map(sql`select idempotency_key from idempotency_keys`, (rows) => rows.length)
      assert.strictEqual(
        yield* kept.pipe(Effect.delay("20 millis"), Effect.repeat({ until: (count) => count === 1, times: 100 })),
        1
      )
    })
  )
})

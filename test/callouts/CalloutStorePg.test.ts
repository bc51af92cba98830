import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CalloutStore } from "../../src/callouts/CalloutStore.ts"
import * as CalloutStorePg from "../../src/callouts/CalloutStorePg.ts"
import type { CalloutStoreUnavailable } from "../../src/api/schemas/Callout.ts"
import * as Proxy from "../support/Proxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { at } from "../support/clock.ts"
import { calloutOf, START, tradeOf } from "./callouts.ts"
import { calloutStoreContract } from "./calloutStoreContract.ts"

/** A callout store in a process of its own. */
const open = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(CalloutStorePg.layer.pipe(Layer.provide(TestDatabase.connect(address)))), (context) =>
    CalloutStore.of(Context.get(context, CalloutStore))
  )

const first = { sort: "top", mint: null, limit: 5, after: null } as const
const now = at(START + 1000)

/** Why a query was not answered. */
const asked = (question: Effect.Effect<unknown, CalloutStoreUnavailable>) => Effect.flip(question)

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  calloutStoreContract("CalloutStorePg.layer", CalloutStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))
})

describe.runIf(TestDatabase.isAvailable)("the callouts of a database", { concurrent: true }, () => {
  it.live("count a trade once in any process that reports it", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      yield* here.post(calloutOf("co_shared"))
      const told = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? here : there)),
        (store, i) => store.attribute(tradeOf(`t_${i % 5}`, "co_shared", 2)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(told.filter((isNew) => isNew).length, 5)
      assert.deepInclude(yield* there.find("co_shared"), { attributedVolumeUsdNanos: 10_000_000_000n, traderCount: 1 })
    }).pipe(now)
  )

  it.live("leave the lists' indexes some time after they expire", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* open(address)
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
      const listed = Effect.map(sql`select id from callouts where is_listed`, (rows) => rows.map(({ id }) => id))
      yield* store.post(calloutOf("co_old", { expiresAtMs: START + 10 })).pipe(at(START))
      yield* store.post(calloutOf("co_soon")).pipe(at(START + 60_000))
      assert.sameMembers(yield* listed, ["co_old", "co_soon"])
      yield* store.post(calloutOf("co_new")).pipe(at(START + 3_700_000))
      assert.sameMembers(yield* listed, ["co_soon", "co_new"])
    })
  )

  it.live("are away within the deadline while the database is frozen, and back afterwards", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const store = yield* open(proxy.address)
      yield* store.post(calloutOf("co_frozen"))
      yield* proxy.freeze
      for (const question of [store.find("co_frozen"), store.page(first), store.recordClick("co_frozen")].map(asked)) {
        const [took, error] = yield* Effect.timed(question)
        assert.strictEqual(error._tag, "CalloutStoreUnavailable")
        assert.isBelow(Duration.toMillis(took), Proxy.UNANSWERED_MS)
      }
      yield* proxy.thaw
      assert.strictEqual((yield* Effect.eventually(store.find("co_frozen")))?.id, "co_frozen")
    }).pipe(now)
  )

  it.live("are away without their tables", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* open(address)
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
      yield* sql`drop table callouts cascade`
      for (const question of [
        store.page(first),
        store.attribute(tradeOf("t", "co_x", 1)),
        store.post(calloutOf("co_x"))
      ].map(asked)) {
        assert.strictEqual((yield* question)._tag, "CalloutStoreUnavailable")
      }
    }).pipe(now)
  )
})

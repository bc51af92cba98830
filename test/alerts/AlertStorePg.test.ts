import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import * as AlertStorePg from "../../src/alerts/AlertStorePg.ts"
import type { AlertStep } from "../../src/domain/wallets/Alert.ts"
import * as Proxy from "../support/Proxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { at } from "../support/clock.ts"
import { alertOf, START } from "./alerts.ts"
import { alertStoreContract } from "./alertStoreContract.ts"

/** An alert store in a process of its own. */
const open = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(AlertStorePg.layer.pipe(Layer.provide(TestDatabase.connect(address)))), (context) =>
    AlertStore.of(Context.get(context, AlertStore))
  )

const now = at(START + 1000)
const EVERY = { alertId: null, sinceMs: null, limit: 100, after: null }

// The deadline of reads is 400 ms; a busy machine may add to it, and without one it would be thirty seconds.
const DEADLINE_MS = 2000

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  alertStoreContract("AlertStorePg.layer", AlertStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))
})

describe.runIf(TestDatabase.isAvailable)("the alerts of a database", { concurrent: true }, () => {
  it.live("fire once, whichever of several processes sees it first", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const ids = Array.from({ length: 50 }, (_, i) => `al_race_${i}`)
      yield* Effect.forEach(ids, (id) => here.create(alertOf(id)))
      const steps = ids.map((id): AlertStep => ({
        id,
        version: 1,
        watch: { armed: false, cleared: false, mark: 1 },
        firing: { value: "11", observedAtMs: START }
      }))
      const moved = yield* Effect.forEach(
        [steps, steps.toReversed(), steps, steps.toReversed()],
        (told, i) => (i % 2 === 0 ? here : there).advance(told),
        { concurrency: "unbounded" }
      )
      assert.sameMembers(
        moved.flat().map(({ id }) => id),
        ids
      )
      assert.strictEqual(moved.flat().length, 50)
      assert.strictEqual((yield* there.events("acct", EVERY)).rows.length, 50)
    }).pipe(now)
  )

  it.live("are announced to other processes when they are created, changed, removed or advanced", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const [own, others]: [Array<string | null>, Array<string | null>] = [[], []]
      for (const [store, ids] of [
        [here, own],
        [there, others]
      ] as const) {
        yield* store.changes.pipe(
          Stream.runForEach((id) => Effect.sync(() => ids.push(id))),
          Effect.forkScoped({ startImmediately: true })
        )
      }
      const until = (count: number) =>
        Effect.sync(() => own.length > 0 && others.length >= count).pipe(
          Effect.delay("10 millis"),
          Effect.repeat({ until: (so) => so, times: 1000 })
        )
      yield* until(1)
      yield* here.create(alertOf("al_one"))
      yield* here.create(alertOf("al_two"))
      yield* here.change("acct", "al_one", () => Effect.succeed({ note: "new" }))
      const watch = { armed: false, cleared: false, mark: 1 }
      yield* here.advance([{ id: "al_two", version: 1, watch, firing: null }])
      yield* here.remove("acct", "al_two")
      yield* until(6)
      assert.deepStrictEqual(others, [null, "al_one", "al_two", "al_one", "al_two", "al_two"])
      assert.deepStrictEqual(own, [null])
    }).pipe(now)
  )

  it.live("keep state and firing together: where one cannot be written, the other is not", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* open(address)
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
      yield* store.create(alertOf("al_whole"))
      yield* sql`alter table alert_events add constraint none check (value <> '11')`
      const watch = { armed: false, cleared: false, mark: 1 }
      const step = (value: string) => ({ id: "al_whole", version: 1, watch, firing: { value, observedAtMs: START } })
      assert.strictEqual((yield* Effect.flip(store.advance([step("11")])))._tag, "AlertStoreUnavailable")
      assert.deepInclude(yield* store.find("acct", "al_whole"), { status: "active", armed: true, version: 1 })
      assert.strictEqual((yield* store.advance([step("12")])).length, 1)
    }).pipe(now)
  )

  it.live("are away within the deadline when the database is frozen, and back when it is", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const store = yield* open(proxy.address)
      yield* store.create(alertOf("al_frozen"))
      yield* proxy.freeze
      const asked = [Effect.asVoid(store.find("acct", "al_frozen")), Effect.asVoid(store.events("acct", EVERY))]
      for (const question of asked) {
        const [took, error] = yield* Effect.timed(Effect.flip(question))
        assert.strictEqual(error._tag, "AlertStoreUnavailable")
        assert.isBelow(Duration.toMillis(took), DEADLINE_MS)
      }
      yield* proxy.thaw
      assert.strictEqual((yield* Effect.eventually(store.find("acct", "al_frozen")))?.id, "al_frozen")
    }).pipe(now)
  )
})

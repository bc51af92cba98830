import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AlertStore, type FiringSignal } from "../../src/alerts/AlertStore.ts"
import * as AlertStorePg from "../../src/alerts/AlertStorePg.ts"
import type { AlertEvent, AlertStep } from "../../src/api/schemas/Alert.ts"
import { MAIN_GROUP } from "../../src/api/schemas/Tracker.ts"
import { TrackerStore } from "../../src/wallets/tracker/TrackerStore.ts"
import * as TrackerStorePg from "../../src/wallets/tracker/TrackerStorePg.ts"
import { WatchList } from "../../src/wallets/tracker/WatchList.ts"
import { ChangeChannel } from "../../src/storage/ChangeChannel.ts"
import { mintOf } from "../market/tape/tape.ts"
import * as Proxy from "../support/Proxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { at } from "../support/clock.ts"
import { walletOf } from "../market/tape/tape.ts"
import { alertOf, ofWallet, START, tradeOf } from "./alerts.ts"
import { alertStoreContract } from "./alertStoreContract.ts"
import { walletAlertContract } from "./walletAlertContract.ts"

/** An alert store in a process of its own. */
const open = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(AlertStorePg.layer.pipe(Layer.provide(TestDatabase.connect(address)))), (context) =>
    AlertStore.of(Context.get(context, AlertStore))
  )

const now = at(START + 1000)
const byId = (a: AlertEvent, b: AlertEvent) => (a.eventId < b.eventId ? -1 : 1)
const EVERY = { alertId: null, sinceMs: null, limit: 100, after: null }

/** The firing signals of a store, as they come. */
const firingsOf = Effect.fnUntraced(function* (store: AlertStore["Service"]) {
  const signals: Array<FiringSignal> = []
  yield* store.firings.pipe(
    Stream.runForEach((signal) => Effect.sync(() => signals.push(signal))),
    Effect.forkScoped({ startImmediately: true })
  )
  return signals
})

const until = (isSo: () => boolean) =>
  Effect.sync(isSo).pipe(Effect.delay("10 millis"), Effect.repeat({ until: (so) => so, times: 1000 }))

const sightings = (slot: number, mintAuthority: string | null) =>
  Array.from({ length: 40 }, (_, i) => ({ mint: mintOf(i), slot, mintAuthority, freezeAuthority: null }))

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  alertStoreContract("AlertStorePg.layer", AlertStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))

  walletAlertContract("AlertStorePg.layer, of wallets", {
    store: Layer.merge(AlertStorePg.layer, TrackerStorePg.layer).pipe(
      Layer.provide([TestDatabase.layer, WatchList.layer])
    ),
    track: (accountId, wallet) =>
      TrackerStore.use((tracker) => tracker.add({ accountId, wallet, groupId: MAIN_GROUP })).pipe(
        Effect.orDie,
        Effect.asVoid
      ),
    untrack: (accountId, wallet) =>
      TrackerStore.use((tracker) => tracker.remove({ accountId, wallet })).pipe(Effect.orDie, Effect.asVoid)
  })
})

describe.runIf(TestDatabase.isAvailable)("the alerts of a database", { concurrent: true }, () => {
  it.live("fire once, whichever of several processes sees the crossing first", () =>
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

  it.live("count a change of authorities once, whichever of several processes sees it", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const inBoth = (slot: number, mintAuthority: string | null) =>
        Effect.forEach(
          [sightings(slot, mintAuthority), sightings(slot, mintAuthority).toReversed()],
          (seen, i) => (i === 0 ? here : there).noteAuthorities(seen),
          { concurrency: "unbounded" }
        )
      yield* inBoth(1, "a")
      assert.strictEqual((yield* here.authorityChanges).size, 0)
      yield* inBoth(2, null)
      const changes = yield* there.authorityChanges
      assert.strictEqual(changes.size, 40)
      assert.isTrue(Array.from(changes.values()).every(({ length }) => length === 1))
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
      const untilHeard = (count: number) => until(() => own.length > 0 && others.length >= count)
      yield* untilHeard(1)
      yield* here.create(alertOf("al_one"))
      yield* here.create(alertOf("al_two"))
      yield* here.change("acct", "al_one", () => Effect.succeed({ note: "new" }))
      const watch = { armed: false, cleared: false, mark: 1 }
      yield* here.advance([{ id: "al_two", version: 1, watch, firing: null }])
      yield* here.remove("acct", "al_two")
      yield* untilHeard(6)
      assert.deepStrictEqual(others, [null, "al_one", "al_two", "al_one", "al_two", "al_two"])
      assert.deepStrictEqual(own, [null])
    }).pipe(now)
  )

  it.live("announce each firing to every process once, with the fields of its event", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const [own, others] = [yield* firingsOf(here), yield* firingsOf(there)]
      yield* until(() => own.length > 0 && others.length > 0)
      yield* here.create(alertOf("al_told", { accountId: "a b" }))
      yield* here.create(alertOf("al_quiet"))
      const watch = { armed: false, cleared: false, mark: 1 }
      const fires: AlertStep = { id: "al_told", version: 1, watch, firing: { value: "0.5", observedAtMs: START + 7 } }
      yield* here.advance([fires, { id: "al_quiet", version: 1, watch, firing: null }])
      yield* there.advance([fires])
      yield* here.create(alertOf("al_last"))
      yield* there.advance([{ ...fires, id: "al_last" }])
      yield* until(() => own.length > 2 && others.length > 2)
      const [event] = (yield* here.events("a b", EVERY)).rows
      const [last] = (yield* here.events("acct", EVERY)).rows
      assert.deepInclude(event, { alertId: "al_told", value: "0.5", observedAtMs: START + 7, firedAtMs: START + 1000 })
      const [missed, first, second, ...rest]: ReadonlyArray<unknown> = others
      assert.deepStrictEqual(missed, { _tag: "Missed", fromMs: null })
      assert.deepStrictEqual(first, { _tag: "Fired", accountId: "a b", event })
      assert.deepStrictEqual(second, { _tag: "Fired", accountId: "acct", event: last })
      assert.deepStrictEqual(rest, [])
      assert.deepStrictEqual(own, others)
    }).pipe(now)
  )

  it.live("fire once for a wallet's trade that two processes apply at once, announced with the trade", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const others = yield* firingsOf(there)
      yield* until(() => others.length > 0)
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
      yield* sql`insert into tracker_accounts (account_id, revision) values ('acct', 1)`
      yield* sql`insert into tracked_wallets (account_id, wallet, added_at) values ('acct', ${walletOf(1)}, now())`
      const ids = Array.from({ length: 20 }, (_, i) => `al_race_${i}`)
      yield* Effect.forEach(ids, (id) => here.create(ofWallet(id)))
      const blocks = [1, 2, 3].map((n) => ids.map((id) => ({ id, trades: [tradeOf(2 * n), tradeOf(2 * n + 1)] })))
      yield* Effect.all(
        [
          Effect.forEach(blocks, (block) => here.fire(block), { discard: true }),
          Effect.forEach(blocks, (block) => there.fire(block.toReversed()), { discard: true })
        ],
        { concurrency: "unbounded" }
      )
      const events = yield* Effect.forEach(ids, (alertId) => here.events("acct", { ...EVERY, alertId }))
      assert.deepStrictEqual(
        events.map(({ rows }) => rows.map(({ trade }) => trade?.signature).toSorted()),
        ids.map(() => ["s2", "s3", "s4", "s5", "s6", "s7"])
      )
      yield* until(() => others.length > 6 * ids.length)
      const announced = others.flatMap((signal) => (signal._tag === "Fired" ? [signal.event] : []))
      assert.deepStrictEqual(announced.toSorted(byId), events.flatMap(({ rows }) => rows).toSorted(byId))
    }).pipe(now)
  )

  it.live("say from when on firings may be missing, after the database is back or a firing cannot be read", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const proxy = yield* Proxy.make(address)
      const other = Context.get(yield* Layer.build(TestDatabase.connect(address)), ChangeChannel)
      const signals = yield* firingsOf(yield* open(proxy.address))
      yield* until(() => signals.length > 0)
      yield* other.announce("firings", '{"metric":"of a later version"}')
      yield* until(() => signals.length > 1)
      // The clock stands still: a firing is stored within five seconds of its time.
      assert.deepStrictEqual(signals, [
        { _tag: "Missed", fromMs: null },
        { _tag: "Missed", fromMs: START + 1000 - 5000 }
      ])
      yield* proxy.freeze
      yield* proxy.replace
      yield* until(() => signals.length > 2)
      const [, , missed] = signals
      assert.isBelow(missed?._tag === "Missed" ? (missed.fromMs ?? Infinity) : Infinity, START + 1000 - 5000)
    }).pipe(now)
  )

  it.live("keep state and firing together: when one cannot be written, neither is", () =>
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

  it.live("are away within the deadline while the database is frozen, and back afterwards", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const store = yield* open(proxy.address)
      yield* store.create(alertOf("al_frozen"))
      yield* proxy.freeze
      const asked = [Effect.asVoid(store.find("acct", "al_frozen")), Effect.asVoid(store.events("acct", EVERY))]
      for (const question of asked) {
        const [took, error] = yield* Effect.timed(Effect.flip(question))
        assert.strictEqual(error._tag, "AlertStoreUnavailable")
        assert.isBelow(Duration.toMillis(took), Proxy.UNANSWERED_MS)
      }
      yield* proxy.thaw
      assert.strictEqual((yield* Effect.eventually(store.find("acct", "al_frozen")))?.id, "al_frozen")
    }).pipe(now)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { MAX_TRACKED_WALLETS, type TrackerStoreUnavailable } from "../../../src/api/schemas/Tracker.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import * as TrackerStorePg from "../../../src/wallets/tracker/TrackerStorePg.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { addressOf, START } from "../../callouts/callouts.ts"
import * as Proxy from "../../support/Proxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { trackerGroupsContract } from "./trackerGroupsContract.ts"
import { trackerStoreContract } from "./trackerStoreContract.ts"

const store = TrackerStorePg.layer.pipe(Layer.provideMerge(Layer.fresh(WatchList.layer)))

/** A tracker store, and its list, in a process of its own. */
const open = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(Layer.fresh(store.pipe(Layer.provide(TestDatabase.connect(address))))), (context) => ({
    tracker: Context.get(context, TrackerStore),
    watched: Context.get(context, WatchList)
  }))

const own = { accountId: "own", groupId: null }

/** Why a query was not answered. */
const asked = (question: Effect.Effect<unknown, TrackerStoreUnavailable | { readonly _tag: string }>) =>
  Effect.flip(question)

/** Tries again until the condition holds. */
const soon = (isSo: () => boolean) =>
  Effect.sync(isSo).pipe(Effect.delay("20 millis"), Effect.repeat({ until: (so) => so, times: 300 }))

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  trackerStoreContract("TrackerStorePg.layer", store.pipe(Layer.provide(TestDatabase.layer)))
  trackerGroupsContract("TrackerStorePg.layer", store.pipe(Layer.provide(TestDatabase.layer)))
})

describe.runIf(TestDatabase.isAvailable)("the tracked wallets of a database", { concurrent: true }, () => {
  it.live("never exceed five hundred for an account, whichever processes add them", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
      yield* here.tracker.overview(own)
      const many = Array.from({ length: MAX_TRACKED_WALLETS - 3 }, (_, i) => addressOf(1000 + i))
      yield* sql`
        insert into tracked_wallets (account_id, wallet, added_at)
        select 'own', wallet, now() from unnest(${many}::text[]) as many (wallet)
      `
      const added = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? here : there)),
        ({ tracker }, i) => Effect.exit(tracker.add({ ...own, wallet: addressOf(i) })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(added.filter(Exit.isSuccess).length, 3)
      const [row] = yield* sql`select count(*)::int as count from tracked_wallets`
      assert.deepStrictEqual(row, { count: MAX_TRACKED_WALLETS })
    })
  )

  it.live("survive a restart, with when they were last seen", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const wallet = addressOf(1)
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const { tracker } = yield* open(address)
          const group = yield* tracker.createGroup({ accountId: "own", name: "Desks" })
          yield* tracker.add({ ...own, wallet, label: "desk", groupId: group.groupId })
          yield* tracker.recordActivity([{ wallet, atMs: 4_000_000_000_000 }])
          return yield* tracker.overview(own)
        })
      )
      assert.strictEqual(before.wallets[0]?.lastEventAtMs, 4_000_000_000_000)
      const { tracker, watched } = yield* open(address)
      assert.deepStrictEqual(yield* tracker.overview(own), before)
      assert.isTrue(watched.has(wallet))
    })
  )

  it.live("are soon known to other processes, and removed from all", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const heard: Array<string> = []
      yield* there.tracker.changes.pipe(
        Stream.runForEach((accountId) => Effect.sync(() => heard.push(accountId))),
        Effect.forkScoped({ startImmediately: true })
      )
      const wallet = addressOf(1)
      yield* here.tracker.add({ ...own, wallet })
      assert.isTrue(yield* soon(() => there.watched.has(wallet) && heard.length > 0))
      yield* here.tracker.remove({ accountId: "own", wallet })
      assert.isTrue(yield* soon(() => !there.watched.has(wallet) && !here.watched.has(wallet) && heard.length > 1))
      assert.deepStrictEqual(heard, ["own", "own"])
    })
  )

  it.live(
    "are unavailable within the deadline while the database is frozen, and available after it",
    () =>
      Effect.gen(function* () {
        const proxy = yield* Proxy.make(yield* TestDatabase.create)
        const { tracker } = yield* open(proxy.address)
        yield* tracker.add({ ...own, wallet: addressOf(1) })
        yield* proxy.freeze
        const questions = [
          tracker.overview(own),
          tracker.add({ ...own, wallet: addressOf(2) }),
          tracker.remove({ accountId: "own", wallet: addressOf(1) }),
          tracker.createGroup({ accountId: "own", name: "x" }),
          tracker.recordActivity([{ wallet: addressOf(1), atMs: START }])
        ].map(asked)
        const answers = yield* Effect.forEach(questions, Effect.timed, { concurrency: "unbounded" })
        for (const [took, error] of answers) {
          assert.strictEqual(error._tag, "TrackerStoreUnavailable")
          assert.isBelow(Duration.toMillis(took), Proxy.UNANSWERED_MS)
        }
        yield* proxy.replace
        assert.strictEqual((yield* Effect.eventually(tracker.overview(own))).wallets.length, 1)
        // A transaction on a dead connection cannot be interrupted, and the pool waits for it when it closes.
        yield* proxy.thaw
      }),
    30_000
  )

  it.live("are unavailable without their tables", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const { tracker } = yield* open(address)
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
      yield* sql`drop table tracked_wallets cascade`
      for (const question of [tracker.overview(own), tracker.add({ ...own, wallet: addressOf(1) })].map(asked)) {
        assert.strictEqual((yield* question)._tag, "TrackerStoreUnavailable")
      }
    })
  )
})

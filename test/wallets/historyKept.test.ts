import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as MarketStoresPg from "../../src/market/history/MarketStoresPg.ts"
import { makeBackfill } from "../../src/wallets/backfill.ts"
import { HistoryStore } from "../../src/wallets/HistoryStore.ts"
import * as HistoryStorePg from "../../src/wallets/HistoryStorePg.ts"
import { MONDAY, trade, walletOf } from "../market/tape/tape.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { BlockStore } from "../../src/market/model/BlockStore.ts"

const GENESIS = "kept"
const KEPT = Duration.hours(2)
const node = { genesis: Effect.succeed(GENESIS), list: () => Effect.succeed([]), read: () => Effect.succeed(null) }

const scene = Effect.gen(function* () {
  yield* TestClock.setTime(MONDAY * 1000)
  const address = yield* TestDatabase.create
  const database = yield* Layer.build(
    Layer.mergeAll(MarketStoresPg.layer, HistoryStorePg.layer).pipe(Layer.provideMerge(TestDatabase.connect(address)))
  )
  yield* Context.get(database, BlockStore).open({ genesis: GENESIS, isSandbox: true })
  const store = Context.get(database, HistoryStore)
  yield* store.open(GENESIS)
  const sql = Context.get(database, SqlClient.SqlClient)
  const process = makeBackfill(node, store, { most: 1000, rate: 1000, kept: KEPT })
  return { process, sql, store }
})

const nowMs = Effect.clockWith((clock) => clock.currentTimeMillis)

describe.runIf(TestDatabase.isAvailable)("histories of wallets", () => {
  it.effect("are shown for the configured time after the last request, then deleted with their trades", () =>
    Effect.gen(function* () {
      const { process, sql, store } = yield* scene
      const [first, second] = [yield* process, yield* process]
      const wallets = Array.from({ length: 12 }, (_, i) => walletOf(i))
      const [asked, ...left] = wallets
      if (asked === undefined) {
        return assert.fail("no wallet")
      }
      yield* first.step
      yield* first.ask(wallets, "key_a")
      for (let job = yield* store.next; job !== null; job = yield* store.next) {
        yield* store.save(job, { ...job.progress, state: "done" }, [trade({ wallet: job.wallet, role: "wallet" })])
      }
      const shown = Effect.fnUntraced(function* (process: typeof first) {
        const now = yield* nowMs
        return wallets.filter((wallet) => process.progressOf(wallet, now) !== null)
      })
      const stored = Effect.map(
        sql`select (select count(*) from wallet_backfills) as asked, (select count(*) from wallet_history) as trades`
          .values,
        ([row]) => row?.map(Number)
      )

      yield* TestClock.adjust(Duration.minutes(115))
      yield* second.step
      yield* first.step
      // Requested by another process than the one that deletes.
      yield* second.ask([asked], "key_a")
      assert.deepStrictEqual([yield* shown(first), yield* shown(second)], [wallets, wallets])

      yield* TestClock.adjust(Duration.sum(Duration.minutes(5), Duration.millis(1)))
      yield* first.step
      assert.deepStrictEqual([yield* shown(first), yield* shown(second)], [[asked], [asked]])
      assert.deepStrictEqual(yield* stored, [12, 12])

      yield* TestClock.adjust(Duration.minutes(90))
      for (const remaining of [7, 2, 1]) {
        yield* first.step
        assert.deepStrictEqual(yield* stored, [remaining, remaining])
      }
      assert.strictEqual((yield* store.ofWallet(asked, 10)).length, 1)
      assert.deepStrictEqual(
        yield* Effect.forEach(left, (wallet) => store.ofWallet(wallet, 10)),
        left.map(() => [])
      )
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Duration, Effect, Layer, Schedule, Stream } from "effect"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { Idempotency } from "../../src/access/Idempotency.ts"
import * as IdempotencyPg from "../../src/access/IdempotencyPg.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import * as KeyStorePg from "../../src/access/KeyStorePg.ts"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import * as AlertStorePg from "../../src/alerts/AlertStorePg.ts"
import { CalloutStore } from "../../src/callouts/CalloutStore.ts"
import * as CalloutStorePg from "../../src/callouts/CalloutStorePg.ts"
import { makeRecorder } from "../../src/market/tape/recordTrades.ts"
import { transaction } from "../../src/storage/transaction.ts"
import { TrackerStore } from "../../src/wallets/tracker/TrackerStore.ts"
import * as TrackerStorePg from "../../src/wallets/tracker/TrackerStorePg.ts"
import { WatchList } from "../../src/wallets/tracker/WatchList.ts"
import { requestOf } from "../access/idempotencyContract.ts"
import { alertOf } from "../alerts/alerts.ts"
import { addressOf, calloutOf } from "../callouts/callouts.ts"
import { storedBlock } from "../market/history/storedBlock.ts"
import { client, cutOff } from "../support/lostConnection.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { storesOf, storesOn } from "../support/marketStores.ts"

const tagOf = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({}))

const ports = Layer.mergeAll(
  AlertStorePg.layer,
  CalloutStorePg.layer,
  IdempotencyPg.layer,
  KeyStorePg.layer.pipe(Layer.provide(settings)),
  TrackerStorePg.layer.pipe(Layer.provide(Layer.fresh(WatchList.layer)))
)

const open = (address: TestDatabase.TestAddress) =>
  Layer.build(ports.pipe(Layer.provide(TestDatabase.connect(address))))

const key = { accountId: "local", name: "bot", scopes: ["md.read"] as const, ipPolicy: null }

describe.runIf(TestDatabase.isAvailable)("a connection that is lost inside a transaction", { concurrent: true }, () => {
  it.live("fails the transaction with a client error that may be retried", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* client(address)
      const exit = yield* cutOff(address, "alerts", transaction(sql, sql`select from alerts`))
      const error = yield* Effect.flip(exit)
      assert.strictEqual(error._tag, "SqlError")
      assert.isTrue(error.isRetryable)
      assert.deepStrictEqual(yield* transaction(sql, sql`select 1 as one`), [{ one: 1 }])
    })
  )

  it.live("keeps the transaction's own failure when there is one", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* client(address)
      const failing = Effect.andThen(Effect.ignore(sql`select from alerts`), Effect.fail("refused" as const))
      const exit = yield* cutOff(address, "alerts", transaction(sql, failing))
      assert.strictEqual(yield* Effect.flip(exit), "refused")
    })
  )

  it.live("makes alerts, callouts, keys, idempotency and tracked wallets unavailable, and only for that call", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const context = yield* open(address)
      const alerts = Context.get(context, AlertStore)
      const callouts = Context.get(context, CalloutStore)
      const keys = Context.get(context, KeyStore)
      const tracker = Context.get(context, TrackerStore)
      const idempotency = Context.get(context, Idempotency)
      const tracking = { accountId: "own", wallet: addressOf(1), groupId: null }
      const cases = [
        ["alerts", "AlertStoreUnavailable", alerts.create(alertOf("al_lost"))],
        ["callouts", "CalloutStoreUnavailable", callouts.post(calloutOf("co_lost"))],
        ["api_keys", "KeyStoreUnavailable", keys.issue(key, COMMAND_LINE)],
        ["idempotency_keys", "IdempotencyUnavailable", idempotency.begin(requestOf("lost"))],
        ["tracked_wallets", "TrackerStoreUnavailable", tracker.add(tracking)]
      ] as const
      for (const [table, tag, effect] of cases) {
        const exit = yield* cutOff<unknown, { readonly _tag: string }, never>(address, table, effect)
        assert.strictEqual(yield* tagOf(exit), tag, table)
        yield* effect
      }
    })
  )

  it.live("makes trades unavailable, and a recorder stores them at the next attempt", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const store = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* store.blocks.open({ genesis: "lost", isSandbox: false })
      yield* store.blocks.append([storedBlock(1, [{}])])
      const exit = yield* cutOff(address, "trades", store.blocks.append([storedBlock(2, [{}])]))
      assert.strictEqual(yield* tagOf(exit), "TradeStoreUnavailable")
      const settings = { rows: 5000, gather: Duration.millis(10), waiting: 200_000, roomTimeout: Duration.seconds(2) }
      const recorder = yield* makeRecorder(store.blocks, { after: 1001, reread: () => Stream.never }, settings)
      const recorded = recorder.offer(storedBlock(2, [{}, {}])).pipe(Effect.andThen(Effect.sleep("200 millis")))
      yield* cutOff(address, "trades", recorded)
      yield* Effect.sync(recorder.durable).pipe(
        Effect.repeat({ until: (slot) => slot === 1002, schedule: Schedule.spaced("20 millis"), times: 500 })
      )
      const stored = yield* Stream.runCollect(store.blocks.since({ second: 0, after: 0, most: 100 }))
      assert.deepStrictEqual(
        Array.from(stored, ({ slot, trades }) => [slot, trades.length]),
        [
          [1001, 1],
          [1002, 2]
        ]
      )
    })
  )
})

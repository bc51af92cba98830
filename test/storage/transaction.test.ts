import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Idempotency } from "../../src/access/Idempotency.ts"
import * as IdempotencyPg from "../../src/access/IdempotencyPg.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import * as KeyStorePg from "../../src/access/KeyStorePg.ts"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import * as AlertStorePg from "../../src/alerts/AlertStorePg.ts"
import { CalloutStore } from "../../src/callouts/CalloutStore.ts"
import * as CalloutStorePg from "../../src/callouts/CalloutStorePg.ts"
import { transaction } from "../../src/storage/transaction.ts"
import { TrackerStore } from "../../src/tracker/TrackerStore.ts"
import * as TrackerStorePg from "../../src/tracker/TrackerStorePg.ts"
import { WatchList } from "../../src/tracker/WatchList.ts"
import { requestOf } from "../access/idempotencyContract.ts"
import { alertOf } from "../alerts/alerts.ts"
import { addressOf, calloutOf } from "../callouts/callouts.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const client = Effect.fnUntraced(function* (address: TestDatabase.TestAddress) {
  return Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
})

/** Runs the effect against a locked table, and ends the server process of its waiting statement. */
const cutOff = Effect.fnUntraced(function* <A, E>(
  address: TestDatabase.TestAddress,
  table: string,
  effect: Effect.Effect<A, E>
) {
  const [sql, admin] = [yield* client(address), yield* client(address)]
  // Not inside the transaction, which would see the activity of one moment only.
  const terminated = admin`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'
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
  it.live("fails the transaction with an error of the client that may be retried", () =>
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

  it.live("leaves the transaction's own failure when there is one", () =>
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
        ["api_keys", "KeyStoreUnavailable", keys.issue(key)],
        ["idempotency_keys", "IdempotencyUnavailable", idempotency.begin(requestOf("lost"))],
        ["tracked_wallets", "TrackerStoreUnavailable", tracker.add(tracking)]
      ] as const
      for (const [table, tag, effect] of cases) {
        const exit = yield* cutOff<unknown, { readonly _tag: string }>(address, table, effect)
        assert.strictEqual(yield* tagOf(exit), tag, table)
        yield* effect
      }
    })
  )
})

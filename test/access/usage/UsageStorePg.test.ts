import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { UsageStore } from "../../../src/access/usage/UsageStore.ts"
import * as UsageStorePg from "../../../src/access/usage/UsageStorePg.ts"
import { makeUsageTable } from "../../../src/access/usage/usageTable.ts"
import { USAGE_DAYS, UsageStoreUnavailable } from "../../../src/api/schemas/Usage.ts"
import { bounded } from "../../../src/storage/deadline.ts"
import * as MemoryUsage from "../../support/memoryUsage.ts"
import * as Proxy from "../../support/Proxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { usageStoreContract } from "./usageStoreContract.ts"

const caller = { id: "key_1", accountId: "ada" }
const asked = { caller, operation: "spot.quote", units: 1, isError: false, bytes: 100 }
const DAY_MS = 86_400_000

/** A store in a process of its own, until the scope closes. */
const open = (address: TestDatabase.TestAddress) =>
  UsageStorePg.layer.pipe(
    Layer.provide(TestDatabase.connect(address)),
    Layer.build,
    Effect.map((context) => UsageStore.of(Context.get(context, UsageStore)))
  )

/** The database itself, beside the stores. */
const behind = Effect.fnUntraced(function* (address: TestDatabase.TestAddress) {
  const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
  const requests = Effect.map(
    sql`select coalesce(sum(requests), 0)::float8 as requests from key_usage`,
    ([row]) => row?.["requests"]
  )
  return { sql, requests }
})

const read = (usage: UsageStore["Service"]) =>
  Effect.map(
    usage.page({ from: "1970-01-01", to: "2099-12-31", caller, isAccount: false, limit: 10, after: null }),
    ({ rows }) => rows
  )

const eventually = <A, E>(effect: Effect.Effect<A, E>) => Effect.retry(effect, Schedule.spaced("20 millis"))

usageStoreContract("the memory of tests", MemoryUsage.layer)

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  usageStoreContract("UsageStorePg.layer", UsageStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))
})

describe.runIf(TestDatabase.isAvailable)("usage in a database", { concurrent: true }, () => {
  it.live("is stored while it is neither read nor closed, for a process that may be killed later", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const { requests } = yield* behind(address)
      const usage = yield* open(address)
      for (let i = 0; i < 1000; i++) {
        usage.request(asked)
      }
      assert.strictEqual(yield* requests, 0)
      const polls = { until: (count: unknown) => count !== 0, schedule: Schedule.spaced("50 millis"), times: 1000 }
      assert.strictEqual(yield* Effect.repeat(requests, polls), 1000)
    })
  )

  it.live("is stored when the process ends, with the streams that are still open", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const { sql } = yield* behind(address)
      const scope = yield* Scope.make()
      const usage = yield* Scope.provide(open(address), scope)
      usage.request(asked)
      usage.open(caller, "spot.stream", () => 50)
      yield* Scope.close(scope, Exit.void)
      const rows = yield* sql`select operation, requests::float8, bytes::float8 from key_usage order by operation`
      assert.deepStrictEqual(
        rows.map(({ bytes, operation, requests }) => [operation, requests, bytes]),
        [
          ["spot.quote", 1, 100],
          ["spot.stream", 0, 50]
        ]
      )
    })
  )

  it.live("adds what several processes count at once, and loses nothing", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const { requests } = yield* behind(address)
      const stores = [yield* open(address), yield* open(address), yield* open(address)]
      for (let round = 0; round < 5; round++) {
        for (const [at, usage] of stores.entries()) {
          for (let i = 0; i < 40; i++) {
            // Each begins with another operation, so that their rows are counted in different orders.
            usage.request({ ...asked, operation: `operation.${(i + 13 * at) % 40}` })
          }
        }
        yield* Effect.forEach(stores, read, { concurrency: "unbounded" })
      }
      assert.strictEqual(yield* requests, 600)
    })
  )

  it.live("keeps its counts while the database is frozen, and adds them once", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const proxy = yield* Proxy.make(address)
      const { requests } = yield* behind(address)
      const usage = yield* open(proxy.address)
      usage.request(asked)
      yield* read(usage)
      yield* proxy.freeze
      usage.request(asked)
      assert.strictEqual((yield* Effect.flip(read(usage)))._tag, "UsageStoreUnavailable")
      usage.request(asked)
      assert.strictEqual((yield* Effect.flip(read(usage)))._tag, "UsageStoreUnavailable")
      yield* proxy.thaw
      assert.strictEqual((yield* eventually(read(usage)))[0]?.requests, 3)
      assert.strictEqual(yield* requests, 3)
    })
  )

  it.live("adds a batch whose answer was lost only once, and then the next one", () =>
    Effect.gen(function* () {
      const { requests, sql } = yield* behind(yield* TestDatabase.create)
      const table = makeUsageTable(sql)
      const row = {
        ...caller,
        keyId: "key_1",
        operation: "o",
        day: 1,
        requests: 2,
        units: 0,
        errors: 0,
        bytes: 0,
        streamMs: 0
      }
      const batch = { writer: "w", seq: 1, rows: [row] }
      yield* table.add(batch, 0)
      yield* table.add(batch, 0)
      assert.strictEqual(yield* requests, 2)
      yield* table.add({ ...batch, seq: 2 }, 0)
      yield* table.add({ ...batch, writer: "other" }, 0)
      assert.strictEqual(yield* requests, 6)
    })
  )

  it.live("shows the current name of a key, and no name for a session", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const { sql } = yield* behind(address)
      yield* sql`
        insert into api_keys (id, account_id, name, prefix, last_four, secret_hash, scopes, created_at)
        values ('key_1', 'ada', 'my bot', 'svc_live_', 'abcd', 'h', array['md.read'], now())
      `
      const usage = yield* open(address)
      usage.request(asked)
      usage.request({ ...asked, caller: { id: "session:ada", accountId: "ada" } })
      const { rows } = yield* usage.page({
        from: "1970-01-01",
        to: "2099-12-31",
        caller,
        isAccount: true,
        limit: 10,
        after: null
      })
      assert.deepStrictEqual(
        rows.map(({ keyId, keyName }) => [keyId, keyName]),
        [
          ["key_1", "my bot"],
          ["session:ada", null]
        ]
      )
    })
  )

  it.live("is removed after a year", () =>
    Effect.gen(function* () {
      const { sql } = yield* behind(yield* TestDatabase.create)
      const table = makeUsageTable(sql)
      const today = 20_000
      const row = { ...caller, keyId: "key_1", operation: "o", requests: 1, units: 0, errors: 0, bytes: 0, streamMs: 0 }
      const rows = [today, today - USAGE_DAYS, today - USAGE_DAYS - 1].map((day) => ({ ...row, day }))
      yield* table.add({ writer: "w", seq: 1, rows }, today * DAY_MS)
      const bound = bounded("5 seconds", (cause) => new UsageStoreUnavailable({ cause }))
      yield* table.purge({ nowMs: today * DAY_MS, days: USAGE_DAYS, bound })
      const left = yield* sql`select (day - '1970-01-01'::date)::int as day from key_usage order by day`
      assert.deepStrictEqual(
        left.map(({ day }) => day),
        [today - USAGE_DAYS, today]
      )
      assert.strictEqual((yield* sql`select 1 from usage_writers`).length, 1)
      yield* table.purge({ nowMs: (today + 8) * DAY_MS, days: USAGE_DAYS, bound })
      assert.strictEqual((yield* sql`select 1 from usage_writers`).length, 0)
    })
  )
})

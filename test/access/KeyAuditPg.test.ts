import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AddressLog } from "../../src/access/AddressLog.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import * as KeyStorePg from "../../src/access/KeyStorePg.ts"
import { COMMAND_LINE, MOST_ADDRESSES } from "../../src/api/schemas/KeyAudit.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const request = { accountId: "local", name: "bot", scopes: ["md.read"] as const, ipPolicy: null }

/** A key store in a process of its own, until the scope closes. */
const open = (address: TestDatabase.TestAddress) =>
  KeyStorePg.layer.pipe(
    Layer.provide(TestDatabase.connect(address)),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))),
    Layer.build,
    Effect.map((context) => KeyStore.of(Context.get(context, KeyStore)))
  )

/** The database itself, for changes behind the store's back. */
const behind = Effect.fnUntraced(function* (address: TestDatabase.TestAddress) {
  return Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
})

describe.runIf(TestDatabase.isAvailable)("the audit of keys in a database", { concurrent: true }, () => {
  it.live("audits the first use of a key from an address, once for all processes, up to fifty", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const reader = yield* open(address)
      const { key } = yield* reader.issue(request, COMMAND_LINE)
      const { key: crowded } = yield* reader.issue({ ...request, accountId: "crowded" }, COMMAND_LINE)
      // Both stores write their notes when they end, at the same time.
      yield* Effect.scoped(
        Effect.gen(function* () {
          const stores = [yield* open(address), yield* open(address)]
          for (const [at, store] of stores.entries()) {
            for (let i = 0; i < 60; i++) {
              store.usedFrom(crowded, `203.0.${at}.${i}`)
            }
            store.usedFrom(key, "203.0.113.7")
            store.usedFrom(key, "203.0.113.7")
          }
          stores[0]?.usedFrom(key, "2001:db8::1")
        })
      )
      yield* Effect.scoped(Effect.map(open(address), (store) => store.usedFrom(key, "203.0.113.7")))
      const uses = (account: string) =>
        Effect.map(reader.audit(account, { limit: 100, before: null }), ({ rows }) =>
          rows.filter(({ action }) => action === "use").map(({ actor, address, keyId }) => ({ actor, address, keyId }))
        )
      assert.sameDeepMembers(yield* uses("local"), [
        { actor: "key", address: "203.0.113.7", keyId: key.id },
        { actor: "key", address: "2001:db8::1", keyId: key.id }
      ])
      assert.lengthOf(yield* uses("crowded"), MOST_ADDRESSES)
    })
  )

  it.live("ends the open streams of an expired key in every process", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const there = yield* open(address)
      const heard = yield* there.closures.pipe(
        Stream.take(1),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      const sql = yield* behind(address)
      const here = yield* open(address)
      const { key, secret } = yield* here.issue({ ...request, expiresAtMs: Date.now() + 3_600_000 }, COMMAND_LINE)
      assert.strictEqual((yield* here.authenticate(secret)).id, key.id)
      yield* sql`update api_keys set expires_at = now() + interval '1 second' where id = ${key.id}`
      assert.deepStrictEqual(yield* Fiber.join(heard), [key.id])
    })
  )

  it.live("removes entries of the audit and addresses after a year", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* behind(address)
      for (const days of [365, 367]) {
        yield* sql`
          insert into key_audit (at, account_id, key_id, actor, action)
          values (date_trunc('second', now()) - ${days}::int * interval '1 day', 'local', 'key_1', 'command', 'create')
        `
        yield* sql`
          insert into key_addresses (key_id, address, first_used_at)
          values ('key_1', ${`203.0.113.${days % 100}`}, now() - ${days}::int * interval '1 day')
        `
        yield* sql`
          insert into plan_audit (at, actor, action, plan, detail)
          values (date_trunc('second', now()) - ${days}::int * interval '1 day', 'command', 'create', 'team', 'rest 1')
        `
      }
      const store = yield* open(address)
      const left = sql`
        select (select count(*) from key_audit)::int + (select count(*) from key_addresses)::int
          + (select count(*) from plan_audit)::int as rows
      `
      yield* Effect.repeat(left, { until: ([row]) => row?.["rows"] === 3, schedule: Schedule.spaced("20 millis") })
      assert.lengthOf((yield* store.audit("local", { limit: 10, before: null })).rows, 1)
      assert.lengthOf(yield* store.planAudit(10), 1)
    })
  )
})

describe("addresses that keys were used from", () => {
  it("are recorded once each, up to a bound, until they are stored", () => {
    const log = new AddressLog()
    for (let i = 0; i < MOST_ADDRESSES + 5; i++) {
      log.note("key_1", `203.0.113.${i}`, i)
      log.note("key_1", "203.0.113.0", i)
    }
    const batch = log.batch()
    assert.lengthOf(batch, MOST_ADDRESSES)
    log.note("key_2", "203.0.113.0", 99)
    log.written(batch)
    assert.deepStrictEqual(log.batch(), [{ keyId: "key_2", address: "203.0.113.0", atMs: 99 }])
  })
})

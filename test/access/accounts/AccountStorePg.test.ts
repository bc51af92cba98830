import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Redacted, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AccountStore } from "../../../src/access/accounts/AccountStore.ts"
import * as AccountStorePg from "../../../src/access/accounts/AccountStorePg.ts"
import { sessionReference, SessionStore } from "../../../src/access/accounts/SessionStore.ts"
import * as SessionStorePg from "../../../src/access/accounts/SessionStorePg.ts"
import { SESSION_PLAN } from "../../../src/api/schemas/Plan.ts"
import { ChangeChannel } from "../../../src/storage/ChangeChannel.ts"
import * as MemoryAccounts from "../../support/memoryAccounts.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { accountStoreContract } from "./accountStoreContract.ts"

const stores = Layer.mergeAll(AccountStorePg.layer, SessionStorePg.layer)

accountStoreContract("MemoryAccounts.layer", MemoryAccounts.layer)

/** Both stores of one process, and the database behind them. */
const open = (address: TestDatabase.TestAddress) =>
  stores.pipe(
    Layer.provideMerge(TestDatabase.connect(address)),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))),
    Layer.build,
    Effect.map((context) => ({
      accounts: Context.get(context, AccountStore),
      sessions: Context.get(context, SessionStore),
      sql: Context.get(context, SqlClient.SqlClient),
      channel: Context.get(context, ChangeChannel)
    }))
  )

describe.runIf(TestDatabase.isAvailable)("accounts in Postgres", () => {
  accountStoreContract("AccountStorePg.layer", stores.pipe(Layer.provide(TestDatabase.layer)))

  it.live("ends a session in every process at once", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      yield* here.accounts.create({ id: "me", name: "me", role: "owner" })
      const secret = yield* here.sessions.open("me")
      assert.strictEqual((yield* there.sessions.authenticate(secret)).accountId, "me")
      yield* there.sessions.end(secret)
      assert.strictEqual((yield* Effect.flip(here.sessions.authenticate(secret)))._tag, "SessionEnded")
    })
  )

  it.live("gives sessions the plan sessions, which an owner can set and remove", () =>
    Effect.gen(function* () {
      const { accounts, sessions, sql } = yield* open(yield* TestDatabase.create)
      yield* accounts.create({ id: "me", name: "me", role: "owner" })
      const secret = yield* sessions.open("me")
      assert.deepStrictEqual((yield* sessions.authenticate(secret)).plan, SESSION_PLAN)
      const { name, ...limits } = { ...SESSION_PLAN, rest: 7 }
      yield* sql`insert into plans ${sql.insert({ name, ...limits })}`
      assert.deepStrictEqual((yield* sessions.authenticate(secret)).plan, { ...SESSION_PLAN, rest: 7 })
      yield* sql`delete from plans`
      assert.strictEqual((yield* sessions.authenticate(secret)).plan.rest, SESSION_PLAN.rest)
    })
  )

  it.live("announces in every process what ended in one", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      yield* here.accounts.create({ id: "me", name: "me", role: "owner" })
      const secret = yield* here.sessions.open("me")
      const heard = yield* there.sessions.closures.pipe(
        Stream.take(3),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      // The channel of a process connects in the background. An end before that is not a change that the process
      // missed.
      const sinceMs = there.channel.sinceProvenMs
      yield* Effect.suspend(() => (sinceMs() < 1000 ? Effect.void : Effect.fail("not yet"))).pipe(
        Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })
      )
      yield* here.sessions.end(secret)
      yield* here.sessions.endAll("me")
      yield* here.accounts.setDisabled("me", true)
      assert.deepStrictEqual(yield* Fiber.join(heard), [
        { accountId: "me", session: sessionReference(secret) },
        { accountId: "me", session: null },
        { accountId: "me", session: null }
      ])
    })
  )

  it.live("removes sessions, links and sign-ins that can no longer be used", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const { accounts, sessions, sql } = yield* open(address)
      yield* accounts.create({ id: "me", name: "me", role: "owner" })
      const [, unused, ended] = [yield* sessions.open("me"), yield* sessions.open("me"), yield* sessions.open("me")]
      const age = (column: string, interval: string, secret: Redacted.Redacted) => sql`
        update sessions set ${sql(column)} = now() - ${interval}::interval where secret_hash = ${sessionReference(secret)}
      `
      yield* age("ended_at", "25 hours", ended)
      yield* age("last_used_at", "12 hours 1 minute", unused)
      yield* accounts.link("me")
      yield* accounts.beginSignIn
      yield* sql`update sign_in_links set expires_at = now() - interval '1 second'`
      yield* sql`update pending_sign_ins set expires_at = now() - interval '1 second'`
      yield* accounts.link("me")
      // The sweep runs when a process starts, and every ten minutes.
      yield* open(address)
      const count = sql`
        select (select count(*) from sessions) || ' ' || (select count(*) from sign_in_links) || ' '
          || (select count(*) from pending_sign_ins)
      `.values
      const swept = Effect.filterOrFail(
        count,
        ([row]) => row?.[0] === "1 1 0",
        (rows) => rows
      )
      yield* Effect.retry(swept, { schedule: Schedule.spaced("20 millis"), times: 500 })
    })
  )

  it.live("ends an unused session after 12 hours and a used one after 30 days", () =>
    Effect.gen(function* () {
      const { accounts, sessions, sql } = yield* open(yield* TestDatabase.create)
      yield* accounts.create({ id: "me", name: "me", role: "owner" })
      const secret = yield* sessions.open("me")
      const isOpen = Effect.isSuccess(sessions.authenticate(secret))
      const usedAgo = sql`select extract(epoch from now() - last_used_at)::float8 from sessions`.values
      const age = (column: string, interval: string) =>
        sql`update sessions set ${sql(column)} = ${sql(column)} - ${interval}::interval`
      yield* age("last_used_at", "11 hours")
      assert.isTrue(yield* isOpen)
      assert.isBelow(Number((yield* usedAgo)[0]?.[0]), 600, "the use was stored")
      yield* age("last_used_at", "12 hours 1 minute")
      assert.isFalse(yield* isOpen)
      yield* age("last_used_at", "-13 hours")
      assert.isTrue(yield* isOpen)
      yield* age("expires_at", "30 days")
      assert.isFalse(yield* isOpen)
    })
  )

  it.live("stores neither the secret of a session nor the token of a link", () =>
    Effect.gen(function* () {
      const { accounts, sessions, sql } = yield* open(yield* TestDatabase.create)
      yield* accounts.create({ id: "me", name: "me", role: "owner" })
      const [secret, token] = [yield* sessions.open("me"), yield* accounts.link("me")]
      const stored = JSON.stringify([yield* sql`select * from sessions`, yield* sql`select * from sign_in_links`])
      assert.notInclude(stored, Redacted.value(secret))
      assert.notInclude(stored, Redacted.value(token))
    })
  )
})

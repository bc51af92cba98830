/** What has ended stays refused after PostgreSQL has fallen back to an older copy, which does not know the end. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Layer, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { AccountStore } from "../../src/access/accounts/AccountStore.ts"
import * as AccountStorePg from "../../src/access/accounts/AccountStorePg.ts"
import { sessionReference, SessionStore } from "../../src/access/accounts/SessionStore.ts"
import * as SessionStorePg from "../../src/access/accounts/SessionStorePg.ts"
import { Ended } from "../../src/access/Ended.ts"
import * as EndedValkey from "../../src/access/EndedValkey.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import * as KeyStorePg from "../../src/access/KeyStorePg.ts"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import { Valkey } from "../../src/storage/valkey/Valkey.ts"
import { until } from "../support/sse.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { client, isAvailable, sharedServer } from "../support/valkey.ts"

const request = { accountId: "me", name: "bot", scopes: ["md.read"] as const, ipPolicy: null }

/** Repeats until it holds, or the test runs out of time. */
const eventually = <A, E>(effect: Effect.Effect<A, E>) => Effect.retry(effect, Schedule.spaced("5 millis"))

describe.runIf(isAvailable && TestDatabase.isAvailable)("after PostgreSQL has fallen back to an older copy", () => {
  const shared = sharedServer()
  const ended = EndedValkey.layer.pipe(
    Layer.provideMerge(Layer.unwrap(Effect.sync(() => client(shared().url)))),
    Layer.provide(SourceMonitor.layer)
  )

  /** A process of a service with Valkey, or a command that knows PostgreSQL alone, until its end. */
  const process = Effect.fnUntraced(function* (address: TestDatabase.TestAddress, isCommand = false) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const stores = Layer.mergeAll(KeyStorePg.layer, AccountStorePg.layer, SessionStorePg.layer)
    const context = yield* (isCommand ? stores : stores.pipe(Layer.provideMerge(Layer.fresh(ended)))).pipe(
      Layer.provideMerge(Layer.fresh(TestDatabase.connect(address))),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))),
      Layer.build,
      Scope.provide(scope)
    )
    return {
      keys: Context.get(context, KeyStore),
      accounts: Context.get(context, AccountStore),
      sessions: Context.get(context, SessionStore),
      sql: Context.get(context, SqlClient.SqlClient),
      ended: Context.get(context, Ended),
      end: Scope.close(scope, Exit.void)
    }
  })

  it.live("a revoked key stays refused in every process, and is revoked there again", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const first = yield* process(address)
      const { key, secret } = yield* first.keys.issue(request, COMMAND_LINE)
      const other = yield* first.keys.issue({ ...request, name: "other" }, COMMAND_LINE)
      yield* first.keys.revoke(key.id, COMMAND_LINE)
      yield* first.end
      const { keys, sql } = yield* process(address)
      yield* sql`update api_keys set revoked_at = null`
      assert.strictEqual((yield* Effect.flip(keys.authenticate(secret)))._tag, "UnknownKey")
      assert.strictEqual((yield* keys.authenticate(other.secret)).id, other.key.id)
      const revoked = sql`select id from api_keys where revoked_at is not null`.values
      yield* eventually(Effect.filterOrFail(revoked, (rows) => rows.length === 1 && rows[0]?.[0] === key.id))
    }).pipe(Effect.scoped)
  )

  it.live("a key that a command has revoked stays refused, because a process of the service heard of it", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const service = yield* process(address)
      const command = yield* process(address, true)
      const { key, secret } = yield* service.keys.issue(request, COMMAND_LINE)
      assert.strictEqual((yield* service.keys.authenticate(secret)).id, key.id)
      yield* command.keys.revoke(key.id, COMMAND_LINE)
      const times = service.ended.times([{ kind: "key", id: key.id }])
      yield* eventually(Effect.filterOrFail(times, ([atMs]) => atMs !== null))
      yield* service.end
      yield* command.sql`update api_keys set revoked_at = null`
      const next = yield* process(address)
      assert.strictEqual((yield* Effect.flip(next.keys.authenticate(secret)))._tag, "UnknownKey")
    }).pipe(Effect.scoped)
  )

  it.live("sessions that have ended stay ended, one by one and all of an account, and new ones open", () =>
    Effect.gen(function* () {
      const { accounts, ended: ends, sessions, sql } = yield* process(yield* TestDatabase.create)
      yield* accounts.create({ id: "me", name: "me", role: "owner" })
      const [own, second, third] = [
        yield* sessions.open("me"),
        yield* sessions.open("me"),
        yield* sessions.open("me")
      ] as const
      yield* sessions.end(own)
      yield* sessions.endAll("me")
      const times = ends.times([second, third].map((secret) => ({ kind: "session", id: sessionReference(secret) })))
      yield* eventually(Effect.filterOrFail(times, (found) => found.every((atMs) => atMs !== null)))
      const fresh = yield* sessions.open("me")
      yield* sql`update sessions set ended_at = null`
      for (const secret of [own, second, third]) {
        assert.strictEqual((yield* Effect.flip(sessions.authenticate(secret)))._tag, "SessionEnded")
        assert.isFalse(yield* sessions.isOpen(sessionReference(secret)))
      }
      assert.strictEqual((yield* sessions.authenticate(fresh)).accountId, "me")
    }).pipe(Effect.scoped)
  )

  it.live("a used link, and a finished sign-in, cannot be used again", () =>
    Effect.gen(function* () {
      const { accounts, sql } = yield* process(yield* TestDatabase.create)
      yield* accounts.create({ id: "me", name: "me", role: "owner" })
      const link = yield* accounts.link("me")
      assert.strictEqual((yield* accounts.redeem(link)).id, "me")
      yield* sql`update sign_in_links set used_at = null`
      assert.strictEqual((yield* Effect.flip(accounts.redeem(link)))._tag, "LinkNotValid")
      assert.strictEqual((yield* accounts.redeem(yield* accounts.link("me"))).id, "me")
      const secret = yield* accounts.beginSignIn
      yield* sql`create table older as select * from pending_sign_ins`
      yield* accounts.finishSignIn(secret)
      yield* sql`insert into pending_sign_ins select * from older`
      assert.strictEqual((yield* Effect.flip(accounts.finishSignIn(secret)))._tag, "LinkNotValid")
    }).pipe(Effect.scoped)
  )
})

describe.runIf(isAvailable)("ends in Valkey", () => {
  const shared = sharedServer()
  const end = { kind: "key" as const, id: "k", atMs: 7 }

  it.live("are recorded once Valkey is back; until then PostgreSQL alone decides", () =>
    Effect.gen(function* () {
      const valkey = yield* Valkey
      const { claim, note, times } = yield* Ended
      yield* shared().kill
      yield* until("away", () => !valkey.isUp())
      yield* note(end)
      assert.isTrue(yield* claim({ ...end, kind: "link" }))
      assert.deepStrictEqual(yield* times([end]), [null])
      yield* shared().start
      const known = times([end, { ...end, kind: "link" }, { ...end, id: "other" }])
      yield* eventually(Effect.filterOrFail(known, ([key, link]) => key === 7 && link === 7))
      assert.deepStrictEqual(yield* known, [7, 7, null])
      assert.isFalse(yield* claim({ ...end, kind: "link" }))
    }).pipe(
      Effect.provide(
        EndedValkey.layer.pipe(
          Layer.provideMerge(Layer.unwrap(Effect.sync(() => client(shared().url)))),
          Layer.provide(SourceMonitor.layer)
        )
      )
    )
  )
})

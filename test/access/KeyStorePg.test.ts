import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Context, Duration, Effect, Fiber, Layer, Redacted, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { hashSecret, makeSecret } from "../../src/access/keyFormat.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import * as KeyStorePg from "../../src/access/KeyStorePg.ts"
import { ChangeChannel } from "../../src/storage/ChangeChannel.ts"
import { migrate } from "../../src/storage/schema.ts"
import * as EmbeddedServer from "../../src/storage/EmbeddedServer.ts"
import { signal } from "../../src/storage/processes.ts"
import { blockLoop } from "../support/blockLoop.ts"
import { movable } from "../support/clock.ts"
import * as Proxy from "../support/Proxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { keyPlansContract } from "./keyPlansContract.ts"
import { keyStoreContract } from "./keyStoreContract.ts"

const request = { accountId: "local", name: "bot", scopes: ["md.read"] as const, ipPolicy: null }

const until = (isSo: () => boolean) => Effect.repeat(Effect.delay(Effect.sync(isSo), "5 millis"), { until: (so) => so })

/** A key store in a process of its own, with its connection to the database. */
const openBoth = Effect.fnUntraced(function* (
  address: TestDatabase.TestAddress,
  settings: Record<string, string> = {}
) {
  const context = yield* KeyStorePg.layer.pipe(
    Layer.provideMerge(TestDatabase.connect(address)),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings))),
    Layer.build
  )
  const channel = Context.get(context, ChangeChannel)
  const heard = new Set<string>()
  yield* channel.subscribe("keys", { onChange: (subject) => heard.add(subject), onConnected: () => Effect.void })
  /** Waits until the store has received every change that is committed by now, and trusts its cache. */
  const settled = Effect.gen(function* () {
    const mark = `open mark${heard.size}`
    yield* until(channel.isProven)
    yield* channel.announce("keys", mark)
    yield* until(() => heard.has(mark) && channel.isProven())
  })
  return { store: KeyStore.of(Context.get(context, KeyStore)), settled, isProven: channel.isProven }
})

const open = (address: TestDatabase.TestAddress, settings: Record<string, string> = {}) =>
  Effect.map(openBoth(address, settings), ({ store }) => store)

/** The database itself, for changes without the store. */
const behind = Effect.fnUntraced(function* (address: TestDatabase.TestAddress) {
  return Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
})

/** Repeats until it holds, or the test runs out of time. */
const eventually = <A, E>(effect: Effect.Effect<A, E>) => Effect.retry(effect, Schedule.spaced("5 millis"))

const took = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const [duration, result] = yield* Effect.timed(effect)
  return { ms: Duration.toMillis(duration), result }
})

describe.runIf(TestDatabase.isAvailable)("the contract", () => {
  keyStoreContract("KeyStorePg.layer", KeyStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))
  keyPlansContract("KeyStorePg.layer: audit and plans", KeyStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))
})

// Each test has a database of its own, and mostly waits.
describe.runIf(TestDatabase.isAvailable)("several processes", { concurrent: true }, () => {
  it.live("accepts in every process what was issued in one", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const { key, secret } = yield* here.issue(request, COMMAND_LINE)
      assert.strictEqual((yield* there.authenticate(secret)).id, key.id)
    })
  )

  it.live("lets an account have ten active keys however many processes issue them", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const stores = [yield* open(address), yield* open(address)]
      const asked = yield* Effect.forEach(
        Array.from({ length: 24 }, (_, i) => stores[i % 2] ?? stores[0]),
        (store) => Effect.isSuccess(store?.issue(request, COMMAND_LINE) ?? Effect.never),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(asked.filter((made) => made).length, 10)
    })
  )

  it.live("closes in every process the keys that were revoked or disabled in one", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const here = yield* open(address)
      const { settled, store: there } = yield* openBoth(address)
      const [one, two] = [yield* here.issue(request, COMMAND_LINE), yield* here.issue(request, COMMAND_LINE)]
      const heard = yield* there.closures.pipe(
        Stream.take(2),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      yield* settled
      yield* there.authenticate(one.secret)
      yield* there.authenticate(two.secret)
      yield* here.revoke(one.key.id, COMMAND_LINE)
      yield* here.disable(two.key.id, COMMAND_LINE)
      assert.deepStrictEqual(yield* Fiber.join(heard), [one.key.id, two.key.id])
      assert.strictEqual((yield* Effect.flip(there.authenticate(one.secret)))._tag, "UnknownKey")
      assert.strictEqual((yield* Effect.flip(there.authenticate(two.secret)))._tag, "DisabledKey")
      yield* here.enable(two.key.id, COMMAND_LINE)
      assert.strictEqual((yield* eventually(there.authenticate(two.secret))).id, two.key.id)
    })
  )

  it.live("asks the database once about a key and once about an unknown hash", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const pepper = Redacted.make("pepper")
      const { settled, store } = yield* openBoth(address, { KEY_PEPPER: Redacted.value(pepper) })
      const sql = yield* behind(address)
      const unknown = makeSecret("live", (size) => new Uint8Array(size).fill(3))
      const { key, secret } = yield* store.issue(request, COMMAND_LINE)
      yield* settled
      yield* store.authenticate(secret)
      yield* Effect.flip(store.authenticate(unknown))
      // This change is not announced: only the cache holds the old state.
      yield* sql`update api_keys set secret_hash = ${hashSecret(pepper, unknown)} where id = ${key.id}`
      assert.strictEqual((yield* store.authenticate(secret)).id, key.id)
      assert.strictEqual((yield* Effect.flip(store.authenticate(unknown)))._tag, "UnknownKey")
    })
  )

  it.live("stores the time of last use a little later", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* behind(address)
      const lastUsed = Effect.map(sql`select last_used_at from api_keys`, ([row]) => row?.["lastUsedAt"])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* open(address)
          const { secret } = yield* store.issue(request, COMMAND_LINE)
          yield* store.authenticate(secret)
          assert.isNull(yield* lastUsed)
        })
      )
      assert.instanceOf(yield* lastUsed, Date)
    })
  )

  it.live("opens although its first connection is lost, unless nothing is waited for", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      yield* proxy.refuse(1)
      const error = yield* Effect.flip(open(proxy.address, { DATABASE_WAIT: "0 seconds" }))
      assert.strictEqual(error._tag, "KeyStoreUnavailable")
      yield* proxy.refuse(2)
      const store = yield* open(proxy.address)
      assert.lengthOf(yield* store.list("local"), 0)
    })
  )

  it.live("fails within the deadline when the database is frozen, and never trusts a key for long", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const { settled, store } = yield* openBoth(proxy.address)
      const { secret } = yield* store.issue(request, COMMAND_LINE)
      yield* settled
      yield* store.authenticate(secret)
      yield* proxy.freeze
      yield* eventually(Effect.flip(store.authenticate(secret)))
      for (const asked of [1, 2, 3]) {
        const { ms, result } = yield* took(Effect.flip(store.authenticate(secret)))
        assert.strictEqual(result._tag, "KeyStoreUnavailable", `${asked}`)
        assert.isBelow(ms, Proxy.UNANSWERED_MS)
      }
      const crowd = yield* took(
        Effect.forEach(Array.from({ length: 200 }), () => Effect.flip(store.authenticate(secret)), {
          concurrency: "unbounded"
        })
      )
      assert.isBelow(crowd.ms, Proxy.UNANSWERED_MS)
      assert.isTrue(crowd.result.every((error) => error._tag === "KeyStoreUnavailable"))
      // Offline checks still answer.
      assert.strictEqual((yield* Effect.flip(store.authenticate(Redacted.make("svc_live_"))))._tag, "UnknownKey")
      yield* proxy.thaw
      yield* eventually(store.authenticate(secret))
    })
  )

  it.live("accepts known keys for KEYS_TRUSTED_FOR while the database is frozen, and no others", () =>
    Effect.gen(function* () {
      const proxy = yield* Proxy.make(yield* TestDatabase.create)
      const clock = yield* movable
      const { isProven, settled, store } = yield* Effect.provideService(
        openBoth(proxy.address, { KEYS_TRUSTED_FOR: "1 hour" }),
        Clock.Clock,
        clock
      )
      const [one, two] = [yield* store.issue(request, COMMAND_LINE), yield* store.issue(request, COMMAND_LINE)]
      yield* settled
      yield* store.authenticate(one.secret)
      yield* proxy.freeze
      yield* until(() => !isProven())
      assert.strictEqual((yield* store.authenticate(one.secret)).id, one.key.id)
      assert.strictEqual((yield* Effect.flip(store.authenticate(two.secret)))._tag, "KeyStoreUnavailable")
      clock.forward(Duration.hours(1))
      assert.strictEqual((yield* Effect.flip(store.authenticate(one.secret)))._tag, "KeyStoreUnavailable")
    })
  )

  it.live("bypasses the cache while changes cannot be received, and then catches up with what it missed", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const proxy = yield* Proxy.make(address)
      const here = yield* open(address)
      const { settled, store: there } = yield* openBoth(proxy.address)
      const [one, two] = [yield* here.issue(request, COMMAND_LINE), yield* here.issue(request, COMMAND_LINE)]
      yield* settled
      yield* there.authenticate(one.secret)
      yield* there.authenticate(two.secret)
      const heard = yield* there.closures.pipe(
        Stream.take(2),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      yield* proxy.freeze
      yield* eventually(Effect.flip(there.authenticate(one.secret)))
      yield* here.revoke(one.key.id, COMMAND_LINE)
      yield* here.disable(two.key.id, COMMAND_LINE)
      yield* proxy.replace
      // The key is never admitted, although it is cached: first there is no answer, then the right one.
      yield* Effect.flip(there.authenticate(one.secret)).pipe(
        Effect.repeat({ until: (error) => error._tag === "UnknownKey" })
      )
      assert.deepStrictEqual(new Set(yield* Fiber.join(heard)), new Set([one.key.id, two.key.id]))
      // The cache is in use again, and still holds the other key.
      yield* settled
      assert.strictEqual((yield* Effect.flip(there.authenticate(two.secret)))._tag, "DisabledKey")
    })
  )

  it.live.runIf(process.platform === "linux")("survives a server that stands still", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-keys-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const server = yield* EmbeddedServer.start({ folder, settings: { fsync: "off" } })
      const address = { host: server.socketFolder, database: "postgres" }
      yield* Effect.provide(migrate, TestDatabase.connect(address))
      const { settled, store } = yield* openBoth(address)
      const { key, secret } = yield* store.issue(request, COMMAND_LINE)
      yield* settled
      yield* store.authenticate(secret)

      const backends = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8")
      const all = [server.pid, ...backends.trim().split(" ").map(Number)]
      all.forEach((pid) => signal(pid, "SIGSTOP"))
      yield* Effect.addFinalizer(() => Effect.sync(() => all.forEach((pid) => signal(pid, "SIGCONT"))))
      yield* eventually(Effect.flip(store.authenticate(secret)))
      const { ms, result } = yield* took(Effect.flip(store.authenticate(secret)))
      assert.strictEqual(result._tag, "KeyStoreUnavailable")
      assert.isBelow(ms, Proxy.UNANSWERED_MS)

      all.forEach((pid) => signal(pid, "SIGCONT"))
      yield* eventually(store.authenticate(secret))
      yield* eventually(store.revoke(key.id, COMMAND_LINE))
      assert.strictEqual((yield* Effect.flip(store.authenticate(secret)))._tag, "UnknownKey")
    })
  )
})

// This test runs alone: it blocks the event loop, and the deadlines of tests beside it would pass.
describe.runIf(TestDatabase.isAvailable)("several processes with a busy loop", () => {
  it.live("admits 3,000 parallel first uses of a key, while the event loop is busy", () =>
    Effect.gen(function* () {
      const { settled, store } = yield* openBoth(yield* TestDatabase.create)
      const { key, secret } = yield* store.issue(request, COMMAND_LINE)
      yield* settled
      const uses = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 3000 }), () => store.authenticate(secret), { concurrency: "unbounded" }),
        { startImmediately: true }
      )
      // Longer than the deadline of a look-up and than a beat of the change channel.
      for (let busy = 0; busy < 3; busy++) {
        blockLoop(1000)
        yield* Effect.sleep("1 millis")
      }
      assert.isTrue((yield* Fiber.join(uses)).every(({ id }) => id === key.id))
    })
  )
})

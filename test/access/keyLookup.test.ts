import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { KeyCache } from "../../src/access/KeyCache.ts"
import { makeKeyLookup } from "../../src/access/keyLookup.ts"
import { ApiKey, KeyStoreUnavailable } from "../../src/api/schemas/ApiKey.ts"

const keyOf = (id: string) =>
  ApiKey.make({
    id,
    accountId: "local",
    name: "key",
    prefix: "svc_live_",
    lastFour: "0000",
    scopes: ["md.read"],
    ipPolicy: null,
    plan: DEFAULT_PLAN,
    expiresAtMs: null,
    replacedBy: null,
    createdAtMs: 0,
    lastUsedAtMs: null,
    disabledAtMs: null,
    revokedAtMs: null
  })

type Answer = ReadonlyMap<string, ApiKey>

/** A database that answers when the test lets it, and a look-up over it. */
const scene = Effect.fnUntraced(function* (isTrusted = true) {
  const cache = new KeyCache()
  const queries: Array<{
    readonly hashes: ReadonlyArray<string>
    readonly done: Deferred.Deferred<Answer, KeyStoreUnavailable>
  }> = []
  const lookup = yield* makeKeyLookup({
    cache,
    cached: (hash, nowMs) => (isTrusted ? cache.get(hash, nowMs) : undefined),
    byHashes: (hashes) =>
      Effect.suspend(() => {
        const done = Deferred.makeUnsafe<Answer, KeyStoreUnavailable>()
        queries.push({ hashes, done })
        return Deferred.await(done)
      })
  })
  const ask = (hash: string) => Effect.forkChild(lookup(hash), { startImmediately: true })
  const answer = (n: number, keys: Answer) =>
    Effect.andThen(
      Effect.sync(() =>
        Deferred.doneUnsafe(
          queries[n]?.done ?? Deferred.makeUnsafe<Answer, KeyStoreUnavailable>(),
          Effect.succeed(keys)
        )
      ),
      settle
    )
  return { cache, queries, ask, answer }
})

const settle = Effect.repeat(TestClock.adjust(0), { times: 10 })

describe("looking keys up", () => {
  it.effect("asks the database once for all requests with the same key", () =>
    Effect.gen(function* () {
      const { answer, ask, queries } = yield* scene()
      const first = yield* Effect.forEach(Array.from({ length: 3000 }), () => ask("h"))
      yield* settle
      const later = yield* Effect.forEach(Array.from({ length: 3000 }), () => ask("h"))
      yield* TestClock.adjust("100 millis")
      yield* answer(0, new Map([["h", keyOf("k")]]))
      yield* answer(1, new Map([["h", keyOf("k")]]))
      const keys = yield* Effect.forEach([...first, ...later], Fiber.join)
      assert.isTrue(keys.every((key) => key?.id === "k"))
      assert.isAtMost(queries.length, 2)
    })
  )

  it.effect("sends a flood of unknown keys to the database 50 times a second, a thousand at a time", () =>
    Effect.gen(function* () {
      const { answer, ask, queries } = yield* scene()
      const asked = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, n) => n),
        (n) =>
          Effect.gen(function* () {
            const fibers = yield* Effect.forEach(
              Array.from({ length: 30 }, (_, k) => `${n} ${k}`),
              ask
            )
            yield* TestClock.adjust("10 millis")
            for (const [at] of queries.entries()) {
              yield* answer(at, new Map())
            }
            return fibers
          })
      )
      yield* TestClock.adjust("1 second")
      yield* answer(queries.length - 1, new Map())
      const keys = yield* Effect.forEach(asked.flat(), Fiber.join)
      assert.isTrue(keys.every((key) => key === null))
      // The flood lasts a second.
      assert.isAtMost(queries.length, 52)
      const burst = yield* Effect.forEach(
        Array.from({ length: 2500 }, (_, k) => `burst ${k}`),
        ask
      )
      yield* TestClock.adjust("1 second")
      const sizes = queries.map(({ hashes }) => hashes.filter((hash) => hash.startsWith("burst")).length)
      assert.strictEqual(
        sizes.reduce((sum, size) => sum + size, 0),
        2500
      )
      assert.isAtMost(sizes.filter((size) => size > 0).length, 4)
      yield* Effect.forEach(burst, Fiber.interrupt)
    })
  )

  it.effect("never answers from a query that was sent before the request, while the cache cannot be trusted", () =>
    Effect.gen(function* () {
      const { answer, ask, queries } = yield* scene(false)
      const before = yield* ask("h")
      yield* settle
      const after = yield* ask("h")
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(queries.length, 2)
      yield* answer(0, new Map([["h", keyOf("k")]]))
      assert.strictEqual((yield* Fiber.join(before))?.id, "k")
      assert.isUndefined(after.pollUnsafe())
      yield* answer(1, new Map())
      assert.isNull(yield* Fiber.join(after))
    })
  )

  it.effect("asks for every hash of a secret in the same query, and keeps the key under the first", () =>
    Effect.gen(function* () {
      const cache = new KeyCache()
      const asked: Array<unknown> = []
      const lookup = yield* makeKeyLookup({
        cache,
        cached: () => undefined,
        byHashes: (hashes, earlier) => {
          asked.push([hashes, Array.from(earlier)])
          return Effect.succeed(new Map([["new", keyOf("k")]]))
        }
      })
      const key = yield* Effect.forkChild(lookup("new", ["old", "older"]), { startImmediately: true })
      const other = yield* Effect.forkChild(lookup("h"), { startImmediately: true })
      yield* settle
      assert.strictEqual((yield* Fiber.join(key))?.id, "k")
      assert.isNull(yield* Fiber.join(other))
      assert.deepStrictEqual(asked, [
        [
          ["new", "h"],
          [
            ["old", "new"],
            ["older", "new"]
          ]
        ]
      ])
      assert.strictEqual(cache.get("new", 0)?.id, "k")
      assert.isUndefined(cache.get("old", 0))
    }).pipe(Effect.scoped)
  )

  it.effect("goes on after a query that failed or never ended", () =>
    Effect.gen(function* () {
      const { answer, ask, queries } = yield* scene()
      const failed = yield* ask("failed")
      yield* settle
      Deferred.doneUnsafe(
        queries[0]?.done ?? Deferred.makeUnsafe<Answer, KeyStoreUnavailable>(),
        Effect.fail(new KeyStoreUnavailable({ cause: "gone" }))
      )
      assert.strictEqual((yield* Effect.flip(Fiber.join(failed)))._tag, "KeyStoreUnavailable")
      yield* ask("hangs")
      yield* TestClock.adjust("100 millis")
      const good = yield* ask("good")
      yield* TestClock.adjust("100 millis")
      yield* answer(2, new Map([["good", keyOf("g")]]))
      assert.strictEqual((yield* Fiber.join(good))?.id, "g")
    })
  )

  it.effect("goes on after more faults of the cache than there are queries in flight", () =>
    Effect.gen(function* () {
      let faults = 5
      const lookup = yield* makeKeyLookup({
        cache: new KeyCache(),
        cached: () => {
          if (faults > 0) {
            faults--
            throw new Error("a fault of the cache")
          }
          return undefined
        },
        byHashes: (hashes) => Effect.succeed(new Map(hashes.map((hash) => [hash, keyOf(hash)])))
      })
      for (let i = 0; i < 5; i++) {
        yield* Effect.forkChild(lookup(`lost ${i}`), { startImmediately: true })
        yield* TestClock.adjust("1 minute")
      }
      const found = yield* Effect.forkChild(lookup("later"), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(found))?.id, "later")
    }).pipe(Effect.scoped)
  )
})

import { assert, layer } from "@effect/vitest"
import { Clock, Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { Idempotency } from "../../src/access/Idempotency.ts"
import type { KeyedRequest } from "../../src/domain/Idempotency.ts"

/** A request. Every test has a key of its own. */
export const requestOf = (idempotencyKey: string, other: Partial<KeyedRequest> = {}): KeyedRequest => ({
  keyId: "key_a",
  idempotencyKey,
  digest: "same",
  ...other
})

/** Outcome of a request: its tag, and the replayed response. */
export const begin = Effect.fnUntraced(function* (request: KeyedRequest) {
  const begun = yield* Idempotency.use((store) => store.begin(request))
  return begun._tag === "Replay" ? begun.answer : begun._tag
})

/** Begins a request under a new key. */
export const beginFresh = Effect.fnUntraced(function* (request: KeyedRequest) {
  const begun = yield* Idempotency.use((store) => store.begin(request))
  return begun._tag === "Fresh" ? begun : yield* Effect.die(new Error(`${request.idempotencyKey} is ${begun._tag}`))
})

const answer = { status: 201, body: '{"text":"two\\nlines, \\u0000 and 🦦"}' }
const DAY_MS = 86_400_000

/** Contract of every store of idempotency keys. */
export const idempotencyContract = <E>(name: string, store: Layer.Layer<Idempotency, E>) =>
  layer(store, { timeout: "1 minute" })(name, (it) => {
    it.effect("replays exactly what was answered", () =>
      Effect.gen(function* () {
        const request = requestOf("replayed")
        const fresh = yield* beginFresh(request)
        assert.strictEqual(yield* begin(request), "InFlight")
        yield* fresh.complete(answer)
        assert.deepStrictEqual(yield* begin(request), answer)
        assert.deepStrictEqual(yield* begin(request), answer)
      })
    )

    it.effect("refuses another request under the same key, running or answered", () =>
      Effect.gen(function* () {
        const request = requestOf("reused")
        const other = requestOf("reused", { digest: "other" })
        const fresh = yield* beginFresh(request)
        assert.strictEqual(yield* begin(other), "Reused")
        yield* fresh.complete(answer)
        assert.strictEqual(yield* begin(other), "Reused")
        assert.deepStrictEqual(yield* begin(request), answer)
      })
    )

    it.effect("keeps the idempotency keys of two API keys apart", () =>
      Effect.gen(function* () {
        yield* Effect.flatMap(beginFresh(requestOf("shared")), (fresh) => fresh.complete(answer))
        assert.strictEqual(yield* begin(requestOf("shared", { keyId: "key_b", digest: "other" })), "Fresh")
        assert.deepStrictEqual(yield* begin(requestOf("shared")), answer)
      })
    )

    it.effect("lets an abandoned request be tried again, as itself or as another", () =>
      Effect.gen(function* () {
        yield* Effect.flatMap(beginFresh(requestOf("abandoned")), (fresh) => fresh.abandon)
        const again = yield* beginFresh(requestOf("abandoned", { digest: "other" }))
        yield* again.complete(answer)
        assert.strictEqual(yield* begin(requestOf("abandoned")), "Reused")
      })
    )

    it.effect("lets exactly one of many simultaneous requests begin", () =>
      Effect.gen(function* () {
        const begun = yield* Effect.forEach(Array.from({ length: 20 }), () => begin(requestOf("raced")), {
          concurrency: "unbounded"
        })
        assert.strictEqual(begun.filter((tag) => tag === "Fresh").length, 1)
        assert.strictEqual(begun.filter((tag) => tag === "InFlight").length, 19)
      })
    )

    it.effect("lets the same request take over from a dead one after its lease, and no other", () =>
      Effect.gen(function* () {
        const request = requestOf("dead")
        const dead = yield* beginFresh(request)
        yield* TestClock.adjust("29999 millis")
        assert.strictEqual(yield* begin(request), "InFlight")
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* begin(requestOf("dead", { digest: "other" })), "Reused")
        const heir = yield* beginFresh(request)
        // The first request may only be slow: its response is discarded.
        yield* dead.complete({ status: 500, body: "late" })
        yield* dead.abandon
        assert.strictEqual(yield* begin(request), "InFlight")
        yield* heir.complete(answer)
        assert.deepStrictEqual(yield* begin(request), answer)
      })
    )

    it.effect("forgets a key twenty-four hours after its first use, and not before", () =>
      Effect.gen(function* () {
        const start = yield* Clock.currentTimeMillis
        const request = requestOf("forgotten")
        const fresh = yield* beginFresh(request)
        yield* TestClock.adjust("5 seconds")
        yield* fresh.complete(answer)
        yield* TestClock.setTime(start + DAY_MS - 1)
        assert.deepStrictEqual(yield* begin(request), answer)
        yield* TestClock.setTime(start + DAY_MS)
        assert.strictEqual(yield* begin(requestOf("forgotten", { digest: "other" })), "Fresh")
      })
    )
  })

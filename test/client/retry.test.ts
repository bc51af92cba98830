import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Ref, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { HttpApi } from "effect/http-api"
import { TestClock } from "effect/testing"
import { Api } from "../../src/api/Api.ts"
import { isRepeatable, posts } from "../../src/client/repeatable.ts"
import { FathomClient } from "../../src/client/FathomClient.ts"
import { defaultPolicy, delayMs, retryAfterMs } from "../../src/client/retryPolicy.ts"
import { SOL, USDC } from "../../src/domain/Address.ts"

const declared: Array<{ readonly id: string; readonly method: string; readonly keyed: boolean }> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, group }) => {
    const keyed = JSON.stringify(endpoint.headers?.ast ?? "").includes("idempotency-key")
    declared.push({ id: `${group.identifier}.${endpoint.identifier}`, method: endpoint.method, keyed })
  }
})

describe("the table of repeatable calls", () => {
  it("names every POST of the contract, and nothing else", () => {
    const ids = declared.filter(({ method }) => method === "POST").map(({ id }) => id)
    assert.sameMembers(Object.keys(posts), ids)
  })

  it("requires an idempotency key exactly where the contract takes one", () => {
    const keyed = declared.filter(({ keyed }) => keyed).map(({ id }) => id)
    assert.sameMembers(
      Object.keys(posts).filter((id) => posts[id] === "with-key"),
      keyed
    )
  })

  it("allows repeating anything but a POST, and no unknown POST", () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      assert.isTrue(isRepeatable({ id: "anything.new", method, isKeyed: false }))
    }
    assert.isFalse(isRepeatable({ id: "anything.new", method: "POST", isKeyed: true }))
  })
})

/** Answers in order; the last one repeats. `null` is a lost connection. */
const scripted = (answers: ReadonlyArray<Response | null>) =>
  Effect.gen(function* () {
    const sent = yield* Ref.make(0)
    const http = HttpClient.make((request) =>
      Effect.gen(function* () {
        const n = yield* Ref.getAndUpdate(sent, (count) => count + 1)
        const answer = answers[Math.min(n, answers.length - 1)]
        if (answer === null || answer === undefined) {
          const reason = new HttpClientError.TransportError({ request, description: "cut" })
          return yield* new HttpClientError.HttpClientError({ reason })
        }
        return HttpClientResponse.fromWeb(request, answer.clone())
      })
    )
    const layer = FathomClient.layer({ baseUrl: "http://fathom.test", key: "secret" })
    const client = yield* Effect.provide(FathomClient, Layer.provide(layer, Layer.succeed(HttpClient.HttpClient, http)))
    return { client, sent: Ref.get(sent) }
  })

const refused = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { code, message: code }, requestId: "r" }, { status, headers })

const prices = Response.json({
  data: [],
  nextCursor: null,
  meta: {
    requestId: "r",
    methodVersion: "public-price-v1",
    chain: "solana",
    observedAtMs: null,
    status: "unavailable",
    coverage: { complete: true, reason: null }
  }
})

const askPrices = ({ client }: { readonly client: FathomClient["Service"] }) =>
  client.tokens.prices({ query: {}, payload: { mints: [SOL] } })

const cold = () => refused(503, "data_unavailable", { "retry-after": "3" })

describe("a retry", () => {
  it.effect("waits at least as long as the service asks", () =>
    Effect.gen(function* () {
      const scene = yield* scripted([cold(), prices])
      const fiber = yield* Effect.forkChild(askPrices(scene))
      yield* TestClock.adjust(Duration.millis(2999))
      assert.strictEqual(yield* scene.sent, 1)
      yield* TestClock.adjust(Duration.millis(defaultPolicy.firstDelayMs + 1))
      assert.deepStrictEqual((yield* Fiber.join(fiber)).data, [])
      assert.strictEqual(yield* scene.sent, 2)
    })
  )

  it.effect("gives up after the last attempt with the typed problem of the last answer", () =>
    Effect.gen(function* () {
      const scene = yield* scripted([null, refused(502, "oops"), refused(504, "oops"), cold()])
      const fiber = yield* Effect.forkChild(Effect.flip(askPrices(scene)))
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "DataUnavailable")
      assert.strictEqual(yield* scene.sent, defaultPolicy.tries)
    })
  )

  it.effect("does not wait when the service asks for too long", () =>
    Effect.gen(function* () {
      const scene = yield* scripted([refused(429, "rate_limited", { "retry-after": "61" })])
      assert.strictEqual((yield* Effect.flip(askPrices(scene)))._tag, "RateLimited")
      assert.strictEqual(yield* scene.sent, 1)
    })
  )

  it.effect.each([400, 401, 403, 413, 500])("never follows status %d", (status) =>
    Effect.gen(function* () {
      const scene = yield* scripted([refused(status, "internal_error")])
      yield* Effect.flip(askPrices(scene))
      assert.strictEqual(yield* scene.sent, 1)
    })
  )

  it.effect("never repeats a POST that the table forbids", () =>
    Effect.gen(function* () {
      const scene = yield* scripted([cold()])
      yield* Effect.flip(scene.client.closed.spotOrders())
      assert.strictEqual(yield* scene.sent, 1)
    })
  )

  it.effect("sends nothing that does not fit the contract", () =>
    Effect.gen(function* () {
      const scene = yield* scripted([cold()])
      const pair = { inputMint: SOL, outputMint: USDC }
      const error = yield* Effect.flip(scene.client.spot.quote({ query: { ...pair, amount: 0n } }))
      assert.isTrue(Schema.isSchemaError(error))
      assert.strictEqual(yield* scene.sent, 0)
    })
  )
})

describe("the delay", () => {
  const failures = Schema.Struct({
    tried: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 })),
    jitter: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 0.999 }))
  })

  it.effect.prop("stays under a ceiling that doubles", { failed: failures }, ({ failed }) =>
    Effect.sync(() => {
      const policy = { ...defaultPolicy, tries: 100 }
      const delay = delayMs(policy, { ...failed, retryAfterMs: null }) ?? Number.NaN
      assert.isAtLeast(delay, 0)
      assert.isBelow(delay, policy.longestDelayMs)
      assert.isAtMost(delay, policy.firstDelayMs * 2 ** (failed.tried - 1))
    })
  )

  it("understands seconds and dates, and nothing else", () => {
    assert.strictEqual(retryAfterMs("7", 0), 7000)
    assert.strictEqual(retryAfterMs("Thu, 01 Jan 1970 00:00:09 GMT", 2000), 7000)
    assert.strictEqual(retryAfterMs("Thu, 01 Jan 1970 00:00:01 GMT", 2000), 0)
    assert.isNull(retryAfterMs("soon", 0))
    assert.isNull(retryAfterMs(undefined, 0))
  })
})

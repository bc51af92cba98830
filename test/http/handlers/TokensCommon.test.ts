import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { TokenNotLoaded } from "../../../src/api/schemas/Token.ts"
import { RiskReader } from "../../../src/tokens/risk/RiskReader.ts"
import { TokenReader } from "../../../src/tokens/TokenReader.ts"
import { call, keyOf, running } from "../../support/http.ts"
import { makeTokenWorld, TOKEN, tokensOver } from "../../support/tokens.ts"

interface Request {
  readonly path: string
  readonly method: "GET" | "POST"
  readonly body?: string
}

const requests: ReadonlyArray<Request> = [
  { method: "GET", path: `/api/v1/tokens/solana/${TOKEN}` },
  { method: "GET", path: `/api/v1/tokens/solana/${TOKEN}/risk` },
  { method: "GET", path: `/api/v1/tokens/solana/${TOKEN}/liquidity` },
  { method: "POST", path: "/api/v1/prices", body: JSON.stringify({ mints: [TOKEN] }) }
]

const send = ({ body, method, path }: Request, options: Parameters<typeof call>[1] = {}) =>
  call(path, {
    method,
    ...(body !== undefined && { body, headers: { "content-type": "application/json" } }),
    ...options
  })

const answerOf = (request: Request, options?: Parameters<typeof call>[1]) =>
  Effect.map(send(request, options), (answer) => {
    assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
    assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
    if (answer.status === 429 || answer.status === 503) {
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
    }
    return `${answer.status} ${String(answer.json("error.code"))}`
  })

const nameOf = ({ method, path }: Request) => `${method} ${path.replace(TOKEN, "{address}")}`

const keys = [
  keyOf("a"),
  keyOf("d", { disabledAtMs: 0 }),
  keyOf("i", { ipPolicy: ["10.0.0.0/8"] }),
  keyOf("s", { scopes: ["alerts.read"] }),
  keyOf("q")
]

layer(running({ keys, tokens: tokensOver(makeTokenWorld()) }))("every token endpoint", (it) => {
  for (const request of requests) {
    it.effect(`${nameOf(request)} answers what every endpoint answers`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* answerOf(request, { key: null }), "401 missing_api_key")
        assert.strictEqual(yield* answerOf(request, { key: "x" }), "401 invalid_api_key")
        assert.strictEqual(yield* answerOf(request, { key: "d" }), "403 key_disabled")
        assert.strictEqual(yield* answerOf(request, { key: "s" }), "403 missing_scope")
        assert.strictEqual(yield* answerOf(request, { key: "i" }), "403 ip_not_allowed")
        const wrongMethod = request.method === "GET" ? "POST" : "GET"
        assert.strictEqual(yield* answerOf({ path: request.path, method: wrongMethod }), "405 method_not_allowed")
        const long = `${request.path}?x=${"1".repeat(8192)}`
        assert.strictEqual(yield* answerOf({ ...request, path: long }), "414 uri_too_long")
        assert.strictEqual(yield* answerOf({ ...request, path: `${request.path}?x=1` }), "400 invalid_request")
        const found = yield* answerOf({ method: "GET", path: `${request.path}/more` })
        assert.strictEqual(found, "404 not_found")
      })
    )
  }

  it.effect("is refused together with the others once the rest budget is spent", () =>
    Effect.gen(function* () {
      const [, risk] = requests
      const answers = yield* Effect.replicateEffect(send(risk ?? assert.fail("no request"), { key: "q" }), 120)
      assert.isTrue(answers.every(({ status }) => status === 200))
      for (const request of requests) {
        const answer = yield* send(request, { key: "q" })
        assert.strictEqual(answer.status, 429)
        assert.deepStrictEqual(answer.json("error.details"), [{ in: "header", field: "rest", issue: "out_of_range" }])
        assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
      }
    })
  )
})

const broken = Layer.mergeAll(
  Layer.succeed(TokenReader, {
    factsOf: () => Effect.die(new Error("hunter2")),
    decimalsOf: () => Effect.die(new Error("hunter2")),
    liquidityOf: () => Effect.die(new Error("hunter2")),
    holdersOf: () => Effect.die("not asked"),
    holderHistoryOf: () => Effect.die("not asked"),
    metadataOf: () => Effect.die("not asked"),
    poolOf: () => Effect.die(new Error("hunter2")),
    pricesOf: () => Effect.die(new Error("hunter2"))
  }),
  Layer.succeed(RiskReader, { riskOf: () => Effect.die(new Error("hunter2")) })
)

layer(running({ tokens: broken }))("a reader with a bug", (it) => {
  for (const request of requests) {
    it.effect(`has ${nameOf(request)} answer 500, without details`, () =>
      Effect.gen(function* () {
        const answer = yield* send(request)
        assert.strictEqual(answer.status, 500)
        assert.strictEqual(answer.json("error.code"), "internal_error")
        assert.notInclude(answer.text, "hunter2")
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
      })
    )
  }
})

const noLimiter = Layer.succeed(RateLimiter, {
  isImmediate: true,
  admit: () => Effect.fail(new LimiterUnavailable({ cause: "down" })),
  refund: () => Effect.fail(new LimiterUnavailable({ cause: "down" })),
  peek: () => Effect.fail(new LimiterUnavailable({ cause: "down" }))
})

layer(running({ tokens: tokensOver(makeTokenWorld()), limiter: noLimiter }))("without a limiter", (it) => {
  for (const request of requests) {
    it.effect(`${nameOf(request)} admits no caller`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* answerOf(request), "503 limiter_unavailable")
      })
    )
  }
})

const read = (key: string) => call(`/api/v1/tokens/solana/${TOKEN}/liquidity`, { key })

describe("two liquidity reads at a time", () => {
  const gate = Deferred.makeUnsafe<void>()
  const waiting = { reads: 0 }
  const slow = Layer.mergeAll(
    Layer.succeed(TokenReader, {
      factsOf: (mint) => Effect.fail(new TokenNotLoaded({ mint })),
      decimalsOf: () => Effect.die("not asked"),
      holdersOf: () => Effect.die("not asked"),
      holderHistoryOf: () => Effect.die("not asked"),
      metadataOf: () => Effect.die("not asked"),
      liquidityOf: (mint) => {
        waiting.reads++
        return Effect.andThen(Deferred.await(gate), Effect.fail(new TokenNotLoaded({ mint })))
      },
      poolOf: () => Effect.die("not asked"),
      pricesOf: () => Effect.die("not asked")
    }),
    Layer.succeed(RiskReader, { riskOf: () => Effect.die("not asked") })
  )

  layer(running({ tokens: slow, keys: [keyOf("a"), keyOf("b")] }))((it) => {
    it.effect("are the most that a caller may have", () =>
      Effect.gen(function* () {
        const running = yield* Effect.forkChild(Effect.all([read("a"), read("a"), read("b")], { concurrency: 3 }))
        while (waiting.reads < 3) {
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        }
        const third = yield* read("a")
        assert.strictEqual(third.status, 429)
        assert.deepStrictEqual(third.json("error.details"), [
          { in: "header", field: "wallet-batch", issue: "out_of_range" }
        ])
        assert.strictEqual(third.headers.get("retry-after"), "1")
        assert.match(third.headers.get("ratelimit") ?? "", /;t=1$/u)
        assert.strictEqual(third.headers.get("x-ratelimit-cost"), "0")
        const other = yield* call(`/api/v1/tokens/solana/${TOKEN}`, { key: "a" })
        assert.strictEqual(other.status, 503, "other reads are not held back")
        yield* Deferred.succeed(gate, undefined)
        const answers = yield* Fiber.join(running)
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [503, 503, 503]
        )
        assert.strictEqual((yield* read("a")).status, 503, "and a place is free again")
      })
    )
  })
})

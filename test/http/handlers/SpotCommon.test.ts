import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { call, keyOf, running } from "../../support/http.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"

interface Request {
  readonly path: string
  readonly method: "GET" | "POST"
  readonly body?: string
}

const trade = `inputMint=${TOKEN}&outputMint=${SOL}&amount=1000000`

const exitCheck: Request = {
  method: "POST",
  path: "/api/v1/spot/exit-check",
  body: JSON.stringify({ mint: TOKEN, amount: "1000000" })
}

const requests: ReadonlyArray<Request> = [
  { method: "GET", path: `/api/v1/spot/quote?${trade}` },
  { method: "GET", path: `/api/v1/spot/quote/stream?${trade}` },
  exitCheck
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
    if (answer.status === 429 || answer.status === 503) {
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
    }
    return `${answer.status} ${String(answer.json("error.code"))}`
  })

const market = makeMarket()
const keys = [
  keyOf("a"),
  keyOf("d", { disabledAtMs: 0 }),
  keyOf("i", { ipPolicy: ["10.0.0.0/8"] }),
  keyOf("s", { scopes: ["alerts.read"] }),
  keyOf("q")
]

layer(running({ keys, engine: engineOver(market) }))("every spot endpoint", (it) => {
  for (const request of requests) {
    const name = `${request.method} ${request.path.split("?")[0] ?? ""}`

    it.effect(`${name} answers what every endpoint answers`, () =>
      Effect.gen(function* () {
        const wrongMethod = request.method === "GET" ? "POST" : "GET"
        assert.strictEqual(yield* answerOf(request, { key: null }), "401 missing_api_key")
        assert.strictEqual(yield* answerOf(request, { key: "x" }), "401 invalid_api_key")
        assert.strictEqual(yield* answerOf(request, { key: "d" }), "403 key_disabled")
        assert.strictEqual(yield* answerOf(request, { key: "s" }), "403 missing_scope")
        assert.strictEqual(yield* answerOf(request, { key: "i" }), "403 ip_not_allowed")
        assert.strictEqual(yield* answerOf({ path: request.path, method: wrongMethod }), "405 method_not_allowed")
        const separator = request.path.includes("?") ? "&" : "?"
        const long = `${request.path}${separator}x=${"1".repeat(8192)}`
        assert.strictEqual(yield* answerOf({ ...request, path: long }), "414 uri_too_long")
        const unknown = `${request.path}${separator}x=1`
        assert.strictEqual(yield* answerOf({ ...request, path: unknown }), "400 invalid_request")
      })
    )

    it.effect(`${name} answers 500 when the engine has a bug`, () =>
      Effect.gen(function* () {
        market.defect = new Error("a bug")
        assert.strictEqual(yield* answerOf(request), "500 internal_error")
        market.defect = undefined
      })
    )
  }

  it.effect("is refused together with the others once the quote budget is spent", () =>
    Effect.gen(function* () {
      yield* Effect.replicateEffect(send(exitCheck, { key: "q" }), 50)
      for (const request of requests) {
        assert.strictEqual(yield* answerOf(request, { key: "q" }), "429 rate_limited")
      }
    })
  )
})

const brokenLimiter = Layer.succeed(RateLimiter, {
  isImmediate: true,
  admit: () => Effect.fail(new LimiterUnavailable({ cause: "down" })),
  refund: () => Effect.fail(new LimiterUnavailable({ cause: "down" })),
  peek: () => Effect.fail(new LimiterUnavailable({ cause: "down" }))
})

layer(running({ engine: engineOver(makeMarket()), limiter: brokenLimiter }))("without a limiter", (it) => {
  for (const request of requests) {
    it.effect(`${request.path.split("?")[0] ?? ""} admits no caller`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* answerOf(request), "503 limiter_unavailable")
      })
    )
  }
})

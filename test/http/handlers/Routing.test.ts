import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { SpotQuote } from "../../../src/api/schemas/Quote.ts"
import { type Answer, call, keyOf, running, secretOf } from "../../support/http.ts"
import { COLD, DEEP_POOL, engineOver, LONELY, makeMarket, THIN_POOL, TOKEN, UNSEARCHED } from "../../support/market.ts"

type Body = Record<string, unknown>

const sale: Body = { inputMint: TOKEN, outputMint: SOL, amount: "1000000000" }

const post = (body: string, key: string | null = "a", contentType = "application/json") =>
  call("/api/v1/route", { method: "POST", key, body, headers: { "content-type": contentType } })

const route = (body: Body, key = "a") => post(JSON.stringify(body), key)

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.match(String(answer.json("error.message")), /\.$/u)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
}

const assertInvalid = (answer: Answer, where: "body" | "query", field: string, issue: string) => {
  assertRefused(answer, 400, "invalid_request")
  assert.deepInclude([answer.json("error.details")].flat(), { in: where, field, issue })
}

const without = (field: string): Body => Object.fromEntries(Object.entries(sale).filter(([name]) => name !== field))

const many = <A>(length: number, item: A) => Array.from({ length }, () => item)

const refusals: ReadonlyArray<readonly [string, Body, string, string]> = [
  ["another chain", { ...sale, chain: "base" }, "chain", "format"],
  ["a chain that is no text", { ...sale, chain: 1 }, "chain", "type"],
  ["no input mint", without("inputMint"), "inputMint", "missing"],
  ["no output mint", without("outputMint"), "outputMint", "missing"],
  ["an output mint that is no address", { ...sale, outputMint: "abc" }, "outputMint", "format"],
  ["the same mint twice", { ...sale, outputMint: TOKEN }, "outputMint", "conflict"],
  ["no amount", without("amount"), "amount", "missing"],
  ["an amount as a number", { ...sale, amount: 1 }, "amount", "type"],
  ["an amount of zero", { ...sale, amount: "0" }, "amount", "out_of_range"],
  ["an amount above u64", { ...sale, amount: "18446744073709551616" }, "amount", "out_of_range"],
  ["a signed amount", { ...sale, amount: "-1" }, "amount", "format"],
  ["a whole-token amount", { ...sale, uiAmount: "1" }, "uiAmount", "unknown"],
  ["input decimals", { ...sale, inputDecimals: 6 }, "inputDecimals", "unknown"],
  ["an engine of the caller's choice", { ...sale, engine: "svc_router" }, "engine", "unknown"],
  ["no slippage", { ...sale, slippageBps: 0 }, "slippageBps", "out_of_range"],
  ["too much slippage", { ...sale, slippageBps: 1001 }, "slippageBps", "out_of_range"],
  ["slippage as text", { ...sale, slippageBps: "50" }, "slippageBps", "type"],
  ["slippage with a fraction", { ...sale, slippageBps: 0.5 }, "slippageBps", "type"],
  ["nineteen decimals", { ...sale, outputDecimals: 19 }, "outputDecimals", "out_of_range"],
  ["an unknown venue", { ...sale, venues: ["raydium-cpmm", "nasdaq"] }, "venues.1", "unknown"],
  ["a venue that is no label", { ...sale, venues: ["NASDAQ"] }, "venues.0", "format"],
  ["no venues", { ...sale, venues: [] }, "venues", "out_of_range"],
  ["venues as text", { ...sale, venues: "pumpswap" }, "venues", "type"],
  ["a venue twice", { ...sale, venues: many(2, "pumpswap") }, "venues", "duplicate"],
  ["21 pools", { ...sale, pools: many(21, DEEP_POOL) }, "pools", "too_long"],
  ["a pool that is no address", { ...sale, pools: ["pool"] }, "pools.0", "format"],
  ["no hops", { ...sale, maxHops: 0 }, "maxHops", "out_of_range"],
  ["five hops", { ...sale, maxHops: 5 }, "maxHops", "out_of_range"],
  ["a flag as text", { ...sale, directOnly: "true" }, "directOnly", "type"],
  ["null for a field left out", { ...sale, maxHops: null }, "maxHops", "type"],
  ["a wallet", { ...sale, wallet: TOKEN }, "wallet", "unknown"]
]

const market = makeMarket()

// Budgets belong to keys, so the tests share the load.
const keys = "abcdef"
  .split("")
  .map((letter) => keyOf(letter))
  .concat(keyOf("z", { scopes: ["tracker.read"] }))

layer(running({ keys, engine: engineOver(market) }))("POST /api/v1/route", (it) => {
  it.effect("answers the quote that GET /api/v1/spot/quote answers, from the same engine", () =>
    Effect.gen(function* () {
      const answer = yield* route({ ...sale, chain: "solana", slippageBps: 100, outputDecimals: 9, directOnly: true })
      assert.strictEqual(answer.status, 200, answer.text)
      const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(SpotQuote))
      const { engineTimeMs: _t, requestId, ...routed } = yield* decode(answer.text)
      const query = new URLSearchParams({ inputMint: TOKEN, outputMint: SOL, amount: "1000000000" })
      const quoted = yield* call(`/api/v1/spot/quote?${query}&slippageBps=100&outputDecimals=9`)
      const { engineTimeMs: _, requestId: other, ...quote } = yield* decode(quoted.text)
      assert.deepStrictEqual(routed, quote)
      assert.strictEqual(routed.outAmount, 1_782_000_000n)
      assert.notStrictEqual(requestId, other)
      assert.notStrictEqual(requestId, answer.headers.get("x-request-id"), "the id of a quote is its own")
      assert.strictEqual(answer.headers.get("content-type"), "application/json")
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    })
  )

  it.effect("costs one unit of the quote budget", () =>
    Effect.gen(function* () {
      const { headers } = yield* route(sale, "b")
      assert.strictEqual(headers.get("x-ratelimit-budget"), "quote")
      assert.strictEqual(headers.get("x-ratelimit-cost"), "1")
      assert.strictEqual(headers.get("x-ratelimit-remaining"), "299")
    })
  )

  it.effect("takes half a percent of slippage by default", () =>
    Effect.gen(function* () {
      const answer = yield* route(sale)
      assert.strictEqual(answer.json("slippageBps"), 50)
      assert.strictEqual(answer.json("minOutAmount"), "1773090000")
    })
  )

  it.effect("narrows to venues and pools", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* route({ ...sale, venues: ["pumpswap"] })).json("route.0.pool"), THIN_POOL)
      assert.strictEqual((yield* route({ ...sale, pools: [THIN_POOL] })).json("route.0.dex"), "pumpswap")
      assertRefused(yield* route({ ...sale, venues: ["pumpswap"], pools: [DEEP_POOL] }), 404, "no_route")
    })
  )

  for (const [what, body, field, issue] of refusals) {
    it.effect(`refuses ${what} at ${field} as ${issue}`, () =>
      Effect.gen(function* () {
        assertInvalid(yield* route(body, "c"), "body", field, issue)
      })
    )
  }

  it.effect("refuses parameters in the URL", () =>
    Effect.gen(function* () {
      const answer = yield* call("/api/v1/route?amount=1", {
        method: "POST",
        key: "c",
        body: JSON.stringify(sale),
        headers: { "content-type": "application/json" }
      })
      assertInvalid(answer, "query", "amount", "unknown")
    })
  )

  it.effect("rejects a body that is not a JSON object of at most 8 KiB, and charges for it", () =>
    Effect.gen(function* () {
      const text = JSON.stringify(sale)
      assertInvalid(yield* post("{", "d"), "body", "", "format")
      assertInvalid(yield* post("", "d"), "body", "", "missing")
      assertInvalid(yield* post("[]", "d"), "body", "", "type")
      assertInvalid(yield* post(text.replace("}", `,"amount":"2"}`), "d"), "body", "amount", "duplicate")
      assertRefused(yield* post(text, "d", "text/plain"), 415, "unsupported_media_type")
      assertRefused(yield* post(text.padEnd(8193), "d"), 413, "body_too_large")
      const fits = yield* post(text.padEnd(8192), "d")
      assert.strictEqual(fits.status, 200, fits.text)
      assert.strictEqual(fits.headers.get("x-ratelimit-remaining"), "293")
    })
  )

  it.effect("answers 404 no_route where no pool trades the pair, which costs a unit", () =>
    Effect.gen(function* () {
      const answer = yield* route({ ...sale, inputMint: LONELY }, "e")
      assertRefused(answer, 404, "no_route")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )

  it.effect("answers 503 where pools of the token could not be searched, and charges nothing", () =>
    Effect.gen(function* () {
      const answer = yield* route({ ...sale, inputMint: UNSEARCHED }, "e")
      assertRefused(answer, 503, "upstream_unavailable")
      assert.deepStrictEqual([answer.headers.get("retry-after"), answer.headers.get("x-ratelimit-cost")], ["300", "0"])
    })
  )

  it.effect("answers 501 for what the engine does not serve, which is not a missing route, and charges nothing", () =>
    Effect.gen(function* () {
      const answer = yield* route({ ...sale, outputMint: USDC }, "e")
      assertRefused(answer, 501, "route_not_supported")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
    })
  )

  it.effect("answers 503 upstream_unavailable while the pools are not loaded, and queues them for loading", () =>
    Effect.gen(function* () {
      market.warmed.length = 0
      const answer = yield* route({ ...sale, inputMint: COLD }, "e")
      assertRefused(answer, 503, "upstream_unavailable")
      assert.strictEqual(answer.headers.get("retry-after"), "1")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
      assert.deepStrictEqual(market.warmed, [COLD])
    })
  )

  it.effect("answers 503 upstream_unavailable rather than from old state", () =>
    Effect.gen(function* () {
      const { fresh } = market
      market.fresh = { slot: 77, heardAtMs: -10_001, state: "live" }
      const answer = yield* route(sale, "e").pipe(Effect.ensuring(Effect.sync(() => (market.fresh = fresh))))
      assertRefused(answer, 503, "upstream_unavailable")
      assert.strictEqual(answer.headers.get("retry-after"), "1")
    })
  )

  it.effect("needs a key with md.read before it reads the body", () =>
    Effect.gen(function* () {
      assertRefused(yield* post("{", null), 401, "missing_api_key")
      const missing = yield* post("{", "z")
      assertRefused(missing, 403, "missing_scope")
      assert.isNull(missing.headers.get("x-ratelimit-limit"))
    })
  )

  it.effect("accepts only POST", () =>
    Effect.gen(function* () {
      const answer = yield* call("/api/v1/route", { headers: { authorization: `Bearer ${secretOf("a")}` } })
      assert.strictEqual(answer.status, 405)
      assert.strictEqual(answer.headers.get("allow"), "POST, OPTIONS")
    })
  )

  it.effect("answers 429 once the quote budget is spent, without the engine", () =>
    Effect.gen(function* () {
      yield* Effect.repeat(route(sale, "f"), { times: 299 })
      const answer = yield* route(sale, "f")
      assertRefused(answer, 429, "rate_limited")
      assert.deepInclude([answer.json("error.details")].flat(), { in: "header", field: "quote", issue: "out_of_range" })
      assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
    })
  )

  it.effect("answers 500 for a defect, without details", () =>
    Effect.gen(function* () {
      market.defect = new Error("hunter2")
      const answer = yield* route(sale).pipe(Effect.ensuring(Effect.sync(() => (market.defect = undefined))))
      assertRefused(answer, 500, "internal_error")
      assert.notInclude(answer.text, "hunter2")
    })
  )
})

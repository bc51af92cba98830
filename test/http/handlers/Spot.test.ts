import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { SpotQuote } from "../../../src/api/schemas/Quote.ts"
import { type Answer, call, keyOf, running } from "../../support/http.ts"
import {
  COLD,
  DEEP_POOL,
  engineOver,
  LONELY,
  makeMarket,
  ODD,
  SHALLOW,
  THIN_POOL,
  TOKEN,
  UNSEARCHED
} from "../../support/market.ts"

type Query = Record<string, string>

const sale: Query = { inputMint: TOKEN, outputMint: SOL, amount: "1000000000" }

const quote = (query: Query, key = "a") => call(`/api/v1/spot/quote?${new URLSearchParams(query)}`, { key })

const assertInvalid = (answer: Answer, field: string, issue: string) => {
  assert.strictEqual(answer.status, 400, answer.text)
  assert.strictEqual(answer.json("error.code"), "invalid_request")
  assert.deepInclude([answer.json("error.details")].flat(), { in: "query", field, issue })
}

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.match(String(answer.json("error.message")), /\.$/u)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
}

const without = (query: Query, ...fields: ReadonlyArray<string>): Query =>
  Object.fromEntries(Object.entries(query).filter(([field]) => !fields.includes(field)))

const ui = (uiAmount: string, inputDecimals = "6") => ({ ...without(sale, "amount"), uiAmount, inputDecimals })

const refusals: ReadonlyArray<readonly [string, Query, string, string]> = [
  ["no input mint", without(sale, "inputMint"), "inputMint", "missing"],
  ["an output mint that is no address", { ...sale, outputMint: "abc" }, "outputMint", "format"],
  ["base58 of fewer than 32 bytes", { ...sale, outputMint: "1".repeat(33) }, "outputMint", "format"],
  ["the same mint twice", { ...sale, outputMint: TOKEN }, "outputMint", "conflict"],
  ["no amount", without(sale, "amount"), "amount", "missing"],
  ["both amounts", { ...sale, uiAmount: "1", inputDecimals: "6" }, "uiAmount", "conflict"],
  ["an amount of zero", { ...sale, amount: "0" }, "amount", "out_of_range"],
  ["an amount above u64", { ...sale, amount: "18446744073709551616" }, "amount", "out_of_range"],
  ["a signed amount", { ...sale, amount: "+1" }, "amount", "format"],
  ["an amount with a leading zero", { ...sale, amount: "01" }, "amount", "format"],
  ["an amount with a fraction", { ...sale, amount: "1.0" }, "amount", "format"],
  ["an empty amount", { ...sale, amount: "" }, "amount", "format"],
  ["an amount of 129 digits", { ...sale, amount: "1".repeat(129) }, "amount", "too_long"],
  ["a whole-token amount without decimals", without(ui("1"), "inputDecimals"), "inputDecimals", "missing"],
  ["a whole-token amount of zero", ui("0.000000"), "uiAmount", "out_of_range"],
  ["a whole-token amount above u64", ui("18446744073709.551616"), "uiAmount", "out_of_range"],
  ["a whole-token amount finer than the token", ui("1.0000001"), "uiAmount", "format"],
  ["a whole-token amount with an exponent", ui("1e3"), "uiAmount", "format"],
  ["nineteen decimals", ui("1", "19"), "inputDecimals", "out_of_range"],
  ["output decimals that are no number", { ...sale, outputDecimals: "six" }, "outputDecimals", "format"],
  ["no slippage", { ...sale, slippageBps: "0" }, "slippageBps", "out_of_range"],
  ["too much slippage", { ...sale, slippageBps: "1001" }, "slippageBps", "out_of_range"],
  ["an unknown venue", { ...sale, venues: "raydium-cpmm,nasdaq" }, "venues", "unknown"],
  ["a venue twice", { ...sale, venues: "pumpswap,pumpswap" }, "venues", "duplicate"],
  ["an empty venue", { ...sale, venues: "pumpswap," }, "venues", "format"],
  ["21 pools", { ...sale, pools: Array.from({ length: 21 }, () => DEEP_POOL).join() }, "pools", "too_long"],
  ["a pool that is no address", { ...sale, pools: "pool" }, "pools", "format"],
  ["no hops", { ...sale, maxHops: "0" }, "maxHops", "out_of_range"],
  ["five hops", { ...sale, maxHops: "5" }, "maxHops", "out_of_range"],
  ["a flag in another spelling", { ...sale, directOnly: "True" }, "directOnly", "format"],
  ["an unknown parameter", { ...sale, wallet: TOKEN }, "wallet", "unknown"]
]

const market = makeMarket()

// Budgets belong to keys, so the tests share the load.
const keys = "abcdefgh"
  .split("")
  .map((letter) => keyOf(letter))
  .concat(keyOf("z", { scopes: ["tracker.read"] }))

layer(running({ keys, engine: engineOver(market) }))("GET /api/v1/spot/quote", (it) => {
  it.effect("prices a sale", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...sale, outputDecimals: "9", slippageBps: "100" })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("content-type"), "application/json")
      const body: unknown = JSON.parse(answer.text)
      const { engineTimeMs, requestId, ...rest } = yield* Schema.decodeUnknownEffect(SpotQuote)(body)
      assert.isAtLeast(engineTimeMs, 0)
      assert.match(requestId, /^[0-9a-f-]{36}$/u)
      assert.deepStrictEqual(rest, {
        inputMint: TOKEN,
        outputMint: SOL,
        inAmount: 1_000_000_000n,
        outAmount: 1_782_000_000n,
        minOutAmount: 1_764_180_000n,
        outUiAmount: 1.782,
        minOutUiAmount: 1.76418,
        slippageBps: 100,
        impactMeasurable: true,
        clamped: false,
        route: [
          {
            dex: "raydium-cpmm",
            inputMint: TOKEN,
            outputMint: SOL,
            pool: DEEP_POOL,
            percent: 100,
            amountIn: 1_000_000_000n,
            amountOut: 1_800_000_000n,
            priceImpactPct: 10,
            provenAtSlot: null
          }
        ],
        venues: ["raydium-cpmm"],
        engine: "svc_native_cache",
        priceImpactPct: 10,
        contextSlot: 77,
        swapUsdValue: null,
        quotedAtMs: 0,
        stateSlot: 75,
        stateAgeMs: 0,
        feeBasis: "net"
      })
    })
  )

  it.effect("writes by hand exactly what its schema would write", () =>
    Effect.gen(function* () {
      for (const query of [sale, { ...sale, outputDecimals: "0" }, { ...sale, inputMint: SHALLOW }]) {
        const { text } = yield* quote(query)
        const decoded = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(SpotQuote))(text)
        const encoded = yield* Schema.encodeEffect(SpotQuote)(decoded)
        assert.deepStrictEqual(JSON.parse(text), encoded)
      }
    })
  )

  it.effect("reads whole tokens as text, to the last unit", () =>
    Effect.gen(function* () {
      const answer = yield* quote(ui("0.123456789012345678", "18"))
      assert.strictEqual(answer.json("inAmount"), "123456789012345678")
      assert.strictEqual((yield* quote(ui("18446744073709.551615"))).json("inAmount"), "18446744073709551615")
    })
  )

  it.effect("prices a purchase as principal, at the default slippage", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...sale, inputMint: SOL, outputMint: TOKEN })
      assert.strictEqual(answer.json("feeBasis"), "principal")
      assert.strictEqual(answer.json("outAmount"), "500000000")
      assert.strictEqual(answer.json("minOutAmount"), "497500000")
    })
  )

  it.effect("narrows to venues and pools", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* quote({ ...sale, venues: "pumpswap" })).json("route.0.pool"), THIN_POOL)
      assert.strictEqual((yield* quote({ ...sale, pools: `${THIN_POOL},${ODD}` })).json("route.0.dex"), "pumpswap")
      assertRefused(yield* quote({ ...sale, venues: "pumpswap", pools: DEEP_POOL }), 404, "no_route")
    })
  )

  it.effect("serves direct routes at any hop limit", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* quote({ ...sale, maxHops: "4", directOnly: "true" })).status, 200)
    })
  )

  it.effect("answers 200 with a clamped quote when liquidity ends first", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...sale, inputMint: SHALLOW })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.json("clamped"), true)
      assert.isNull(answer.json("priceImpactPct"))
      assert.strictEqual(answer.json("route.0.amountIn"), "1000")
    })
  )

  for (const [what, query, field, issue] of refusals) {
    it.effect(`refuses ${what} at ${field} as ${issue}`, () =>
      Effect.gen(function* () {
        assertInvalid(yield* quote(query, "b"), field, issue)
      })
    )
  }

  it.effect("refuses a parameter sent twice", () =>
    Effect.gen(function* () {
      const twice = `${new URLSearchParams(sale)}&amount=1`
      assertInvalid(yield* call(`/api/v1/spot/quote?${twice}`, { key: "b" }), "amount", "repeated")
    })
  )

  it.effect("answers 404 no_route, which costs a unit", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...sale, inputMint: LONELY }, "c")
      assertRefused(answer, 404, "no_route")
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "299")
    })
  )

  it.effect("answers 503 where pools of the token could not be searched, and charges nothing", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...sale, inputMint: UNSEARCHED }, "d")
      assertRefused(answer, 503, "data_unavailable")
      assert.include(answer.text, UNSEARCHED)
      assert.strictEqual(answer.headers.get("retry-after"), "300")
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
    })
  )

  it.effect("answers 501 for routes it does not serve, and charges nothing", () =>
    Effect.gen(function* () {
      for (const query of [
        { ...sale, directOnly: "false" },
        { ...sale, outputMint: USDC },
        { ...sale, inputMint: ODD }
      ]) {
        const answer = yield* quote(query, "d")
        assertRefused(answer, 501, "route_not_supported")
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
        assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
      }
      assert.include((yield* quote({ ...sale, inputMint: ODD }, "d")).text, "mode 9")
    })
  )

  it.effect("answers 503 state_cold with a delay, charges nothing, and queues the mint for loading", () =>
    Effect.gen(function* () {
      const answer = yield* quote({ ...sale, inputMint: COLD }, "e")
      assertRefused(answer, 503, "state_cold")
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
      assert.deepStrictEqual(new Set(market.warmed), new Set([COLD]))
    })
  )

  it.effect("answers 503 state_cold with the time that the loading queue needs", () =>
    Effect.gen(function* () {
      market.loading = { _tag: "Queued", readyInMs: 6100 }
      const answer = yield* quote({ ...sale, inputMint: COLD }, "e")
      assertRefused(answer, 503, "state_cold")
      assert.strictEqual(answer.headers.get("retry-after"), "7")
    })
  )

  it.effect("answers 429 for free when the key has too many mints being loaded", () =>
    Effect.gen(function* () {
      market.loading = { _tag: "TooMany", fitsInMs: 2500 }
      const answer = yield* quote({ ...sale, inputMint: COLD }, "e")
      market.loading = { _tag: "Loaded" }
      assertRefused(answer, 429, "rate_limited")
      const seconds = Number(answer.headers.get("retry-after"))
      assert.isTrue(seconds >= 3 && seconds <= 4)
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
    })
  )

  it.effect("answers 503 state_stale once the chain has been silent for ten seconds", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      const answer = yield* quote(sale, "f")
      assert.strictEqual(answer.json("stateAgeMs"), 10_000)
      yield* TestClock.adjust(1)
      assertRefused(yield* quote(sale, "f"), 503, "state_stale")
      market.fresh = { ...market.fresh, heardAtMs: 10_001 }
      assert.strictEqual((yield* quote(sale, "f")).status, 200)
    })
  )

  it.effect("answers 500 when the engine has a bug, charges nothing and reveals nothing", () =>
    Effect.gen(function* () {
      market.defect = new Error("hunter2")
      const answer = yield* quote(sale, "g")
      market.defect = undefined
      assertRefused(answer, 500, "internal_error")
      assert.notInclude(answer.text, "hunter2")
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
    })
  )

  it.effect("is charged to the quote budget, and refused when the budget is spent", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 300; i++) {
        yield* quote(sale, "h")
      }
      const answer = yield* quote(sale, "h")
      assertRefused(answer, 429, "rate_limited")
      assert.strictEqual(answer.json("error.details.0.field"), "quote")
      assert.match(answer.headers.get("retry-after") ?? "", /^6[01]$/u)
    })
  )

  it.effect("needs a key with the scope md.read, and GET", () =>
    Effect.gen(function* () {
      const path = `/api/v1/spot/quote?${new URLSearchParams(sale)}`
      assertRefused(yield* call(path, { key: null }), 401, "missing_api_key")
      assertRefused(yield* call(path, { key: "y" }), 401, "invalid_api_key")
      assertRefused(yield* call(path, { key: "z" }), 403, "missing_scope")
      assertRefused(yield* call(path, { method: "POST" }), 405, "method_not_allowed")
      assertRefused(yield* call(`${path}&pools=${"1".repeat(8192)}`), 414, "uri_too_long")
    })
  )
})

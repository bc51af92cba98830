import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SpotQuotes } from "../../../src/api/schemas/SpotQuotes.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { constantProduct } from "../../quotes/toyChain.ts"
import { type Answer, call, keyOf, running } from "../../support/http.ts"
import { COLD, DEEP_POOL, engineOver, LONELY, makeMarket, ODD, THIN_POOL, TOKEN } from "../../support/market.ts"

const M = 1_000_000n
const market = makeMarket()
market.pools = [
  constantProduct(DEEP_POOL, TOKEN, SOL, [9000n * M, 18_000n * M], { dex: "orca-whirlpool", exactOut: true }),
  constantProduct(THIN_POOL, TOKEN, SOL, [1000n * M, 1000n * M], { dex: "raydium-cpmm" })
]

const sale = { inputMint: TOKEN, outputMint: SOL, amount: "1000000" }
const purchase = { inputMint: SOL, outputMint: TOKEN, amount: "1000000", swapMode: "exactOut" }

const send = (body: unknown, key = "a") =>
  call("/api/v1/spot/quotes", {
    key,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
const decoded = (answer: Answer) => Schema.decodeUnknownEffect(Schema.toCodecJson(SpotQuotes))(JSON.parse(answer.text))
const cost = (answer: Answer) => answer.headers.get("x-ratelimit-cost")

const trades = (count: number, twoSided: boolean) => ({
  quotes: Array.from({ length: count }, () => ({ ...sale, twoSided }))
})
const second = (change: object) => send({ quotes: [sale, { ...sale, ...change }] }, "e")

const assertInvalid = (answer: Answer, field: string, issue: string) => {
  assert.strictEqual(answer.status, 400, answer.text)
  assert.deepInclude([answer.json("error.details")].flat(), { in: "body", field, issue }, answer.text)
}

const keys = "abcdefgh".split("").map((letter) => keyOf(letter))

layer(running({ keys, engine: engineOver(market) }))("POST /api/v1/spot/quotes", (it) => {
  it.effect("prices every trade on one state and costs a unit for each quote", () =>
    Effect.gen(function* () {
      const answer = yield* send({ quotes: [sale, purchase, { ...sale, twoSided: true }] })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(cost(answer), "4")
      const { priced, quotes } = yield* decoded(answer)
      assert.strictEqual(priced, 4)
      assert.strictEqual(new Set(quotes.map(({ quote }) => quote?.quotedAtMs)).size, 1)
      // 18000·1/9001 lamports of the deep pool, less one percent rounded up.
      assert.strictEqual(quotes[0]?.quote?.outAmount, 1_979_779n)
      assert.strictEqual(quotes[1]?.quote?.outAmount, 1_000_000n)
      assert.strictEqual(quotes[1]?.quote?.inAmount, 2_000_223n)
      assert.strictEqual(quotes[1]?.quote?.maxInAmount, 2_010_225n)
      assert.deepStrictEqual(quotes[1]?.quote?.withoutExactOut, ["raydium-cpmm"])
      assert.isNull(quotes[0]?.reverse)
    })
  )

  it.effect("prices the way back of a two-sided quote with what the way there pays", () =>
    Effect.gen(function* () {
      const { quotes } = yield* decoded(yield* send({ quotes: [{ ...sale, outputDecimals: 9, twoSided: true }] }, "b"))
      const [there] = quotes
      const back = there?.reverse?.quote
      assert.strictEqual(back?.inputMint, SOL)
      assert.strictEqual(back?.inAmount, there?.quote?.outAmount)
      // 1000e6·1979779/(1000e6 + 1979779), of the thin pool.
      assert.strictEqual(back?.outAmount, 1_975_867n)
      assert.isUndefined(back?.outUiAmount)
      assert.strictEqual(back?.feeBasis, "principal")
    })
  )

  it.effect("says in its place why a trade has no price, and gives back what failed here", () =>
    Effect.gen(function* () {
      const token = (mint: string) => ({ ...sale, inputMint: mint, twoSided: true })
      const answer = yield* send({ quotes: [sale, token(COLD), token(LONELY), token(ODD)] }, "c")
      assert.strictEqual(answer.status, 200, answer.text)
      // The sale and the trade without a route. A cold token and an unsupported pool are not charged.
      assert.strictEqual(cost(answer), "2")
      const { priced, quotes } = yield* decoded(answer)
      assert.strictEqual(priced, 1)
      assert.deepStrictEqual(
        quotes.map(({ error, quote, reverse }) => [quote === null, error?.code ?? null, reverse]),
        [
          [false, null, null],
          [true, "state_cold", null],
          [true, "no_route", null],
          [true, "route_not_supported", null]
        ]
      )
    })
  )

  it.effect("refuses more than twenty quotes, both sides counted", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* send(trades(20, false), "d")).status, 200)
      assert.strictEqual((yield* send(trades(10, true), "d")).status, 200)
      assertInvalid(yield* send(trades(21, false), "d"), "quotes", "too_long")
      assertInvalid(yield* send(trades(11, true), "d"), "quotes.10", "out_of_range")
      assertInvalid(yield* send({ quotes: [] }, "d"), "quotes", "out_of_range")
    })
  )

  it.effect("names the trade and the field of what is wrong", () =>
    Effect.gen(function* () {
      assertInvalid(
        yield* second({ excludeVenues: ["raydium-cpmm", "nowhere"] }),
        "quotes.1.excludeVenues.1",
        "unknown"
      )
      assertInvalid(yield* second({ outputMint: TOKEN }), "quotes.1.outputMint", "conflict")
      assertInvalid(yield* second({ swapMode: "both" }), "quotes.1.swapMode", "type")
    })
  )

  it.effect("is a 503 without a charge when the chain is silent", () =>
    Effect.gen(function* () {
      const fresh = market.fresh
      market.fresh = { slot: 77, heardAtMs: -60_000, state: "live" }
      const answer = yield* send({ quotes: [sale] }, "f")
      market.fresh = fresh
      assert.strictEqual(answer.status, 503, answer.text)
      assert.strictEqual(answer.json("error.code"), "state_stale")
      assert.strictEqual(cost(answer), "0")
    })
  )
})

const query = (fields: Record<string, string>) => `/api/v1/spot/quote?${new URLSearchParams(fields)}`

layer(running({ keys, engine: engineOver(market) }))("GET /api/v1/spot/quote with swapMode", (it) => {
  it.effect("gives the input of an exact output, also of whole tokens", () =>
    Effect.gen(function* () {
      const { amount, ...pair } = purchase
      const exact = yield* call(query({ ...pair, amount }), { key: "a" })
      assert.deepStrictEqual(
        ["inAmount", "outAmount", "minOutAmount", "maxInAmount", "swapMode"].map((field) => exact.json(field)),
        ["2000223", "1000000", "1000000", "2010225", "exactOut"]
      )
      const whole = yield* call(query({ ...pair, uiAmount: "1", outputDecimals: "6" }), { key: "a" })
      assert.strictEqual(whole.json("inAmount"), "2000223")
      const missing = yield* call(query({ ...pair, uiAmount: "1", inputDecimals: "6" }), { key: "a" })
      assert.deepInclude([missing.json("error.details")].flat(), {
        in: "query",
        field: "outputDecimals",
        issue: "missing"
      })
    })
  )

  it.effect("is a 501 that names the venues without such a swap", () =>
    Effect.gen(function* () {
      const refused = yield* call(query({ ...purchase, excludeVenues: "orca-whirlpool" }), { key: "a" })
      assert.strictEqual(refused.status, 501, refused.text)
      assert.include(String(refused.json("error.message")), "raydium-cpmm")
    })
  )
})

import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { ExitCheck } from "../../../src/api/schemas/ExitCheck.ts"
import { RiskReader } from "../../../src/tokens/risk/RiskReader.ts"
import { TokenReader } from "../../../src/tokens/TokenReader.ts"
import { type Answer, call, keyOf, running } from "../../support/http.ts"
import {
  COLD,
  engineOver,
  LONELY,
  makeMarket,
  ODD,
  routerOver,
  SHALLOW,
  TOKEN,
  UNSEARCHED
} from "../../support/market.ts"

const position = { mint: TOKEN, amount: "90000000" }

const send = (body: string, key = "a", headers: Record<string, string> = { "content-type": "application/json" }) =>
  call("/api/v1/spot/exit-check", { key, method: "POST", body, headers })

const check = (body: Record<string, unknown>, key = "a") => send(JSON.stringify(body), key)

const assertInvalid = (answer: Answer, field: string, issue: string) => {
  assert.strictEqual(answer.status, 400, answer.text)
  assert.strictEqual(answer.json("error.code"), "invalid_request")
  assert.deepInclude([answer.json("error.details")].flat(), { in: "body", field, issue })
}

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
}

const decoded = ({ text }: Answer) => Schema.decodeUnknownEffect(Schema.fromJsonString(ExitCheck))(text)

const ui = (uiAmount: string, decimals = 6) => `{"mint":"${TOKEN}","decimals":${decimals},"uiAmount":${uiAmount}}`

const verdictOf = (body: Record<string, unknown>) =>
  Effect.map(check(body, "h"), (answer) => `${answer.status} ${String(answer.json("summary.verdict"))}`)

const refusals: ReadonlyArray<readonly [string, Record<string, unknown>, string, string]> = [
  ["no mint", { amount: "1" }, "mint", "missing"],
  ["a mint that is no address", { ...position, mint: "x" }, "mint", "format"],
  ["the mint as its own quote", { ...position, quoteMint: TOKEN }, "quoteMint", "conflict"],
  ["SOL sold for SOL", { ...position, mint: SOL }, "quoteMint", "conflict"],
  ["no amount", { mint: TOKEN }, "amount", "missing"],
  ["both amounts", { ...position, uiAmount: 1, decimals: 6 }, "uiAmount", "conflict"],
  ["whole tokens without decimals", { mint: TOKEN, uiAmount: 1 }, "decimals", "missing"],
  ["whole tokens as text", { mint: TOKEN, uiAmount: "1", decimals: 6 }, "uiAmount", "type"],
  ["no whole tokens", { mint: TOKEN, uiAmount: 0, decimals: 6 }, "uiAmount", "out_of_range"],
  ["a negative amount of whole tokens", { mint: TOKEN, uiAmount: -1, decimals: 6 }, "uiAmount", "out_of_range"],
  ["whole tokens above u64", { mint: TOKEN, uiAmount: 1e19, decimals: 1 }, "uiAmount", "out_of_range"],
  ["whole tokens finer than the token", { mint: TOKEN, uiAmount: 1e-7, decimals: 6 }, "uiAmount", "format"],
  ["an amount as a number", { mint: TOKEN, amount: 5 }, "amount", "type"],
  ["an amount above u64", { mint: TOKEN, amount: "18446744073709551616" }, "amount", "out_of_range"],
  ["an amount of zero", { mint: TOKEN, amount: "0" }, "amount", "out_of_range"],
  ["decimals that are no whole number", { ...position, decimals: 1.5 }, "decimals", "type"],
  ["nineteen quote decimals", { ...position, quoteDecimals: 19 }, "quoteDecimals", "out_of_range"],
  ["too much slippage", { ...position, slippageBps: 1001 }, "slippageBps", "out_of_range"],
  ["an empty ladder", { ...position, ladder: [] }, "ladder", "out_of_range"],
  ["nine rungs", { ...position, ladder: [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => n / 10) }, "ladder", "too_long"],
  ["a rung of zero", { ...position, ladder: [0, 1] }, "ladder.0", "out_of_range"],
  ["a rung above one", { ...position, ladder: [0.5, 1.01] }, "ladder.1", "out_of_range"],
  ["a rung twice", { ...position, ladder: [0.5, 0.5, 1] }, "ladder.1", "duplicate"],
  ["a falling ladder", { ...position, ladder: [0.5, 0.25] }, "ladder.1", "out_of_range"],
  ["a rung that comes to nothing", { mint: TOKEN, amount: "99", ladder: [0.01, 1] }, "ladder.0", "out_of_range"],
  ["an unknown field", { ...position, wallet: TOKEN }, "wallet", "unknown"]
]

const market = makeMarket()
const keys = "abcdefghi"
  .split("")
  .map((letter) => keyOf(letter))
  .concat(keyOf("z", { scopes: ["tracker.read"] }))

layer(running({ keys, engine: engineOver(market) }))("POST /api/v1/spot/exit-check", (it) => {
  it.effect("checks the default ladder against net SOL proceeds", () =>
    Effect.gen(function* () {
      const answer = yield* check({ ...position, decimals: 6 })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "6")
      const report = yield* decoded(answer)
      const { rungs, summary, units, ...rest } = report
      assert.deepStrictEqual(rest, {
        mint: TOKEN,
        quoteMint: SOL,
        amount: 90_000_000n,
        uiAmount: 90,
        decimals: 6,
        quoteDecimals: 9,
        slippageBps: 100,
        ladder: [0.01, 0.1, 0.25, 0.5, 0.75, 1]
      })
      assert.deepStrictEqual(
        rungs.map(({ amount }) => amount),
        [900_000n, 9_000_000n, 22_500_000n, 45_000_000n, 67_500_000n, 90_000_000n]
      )
      // 90 of 9000 tokens in the pool: 18e9·90/9090 lamports, less 1 %.
      assert.strictEqual(rungs[5]?.outAmount, 176_435_642n)
      assert.strictEqual(rungs[5]?.quote?.feeBasis, "net")
      assert.strictEqual(rungs[5]?.quote?.outUiAmount, 0.176435642)
      assert.deepStrictEqual(summary, {
        verdict: "clean",
        venues: ["raydium-cpmm"],
        warnings: [],
        fullExitImpactPct: 0.980153,
        fullExitPrice: 0.176435642 / 90,
        fullExitOutAmount: 176_435_642n,
        fullExitOutUiAmount: 0.176435642,
        maxCleanFraction: 1,
        maxCleanUiAmount: 90
      })
      assert.strictEqual(units["fraction"], "0 to 1 of the position")
    })
  )

  it.effect("prices every rung on one state", () =>
    Effect.gen(function* () {
      const { rungs } = yield* decoded(yield* check(position))
      assert.strictEqual(new Set(rungs.map(({ quote }) => quote?.quotedAtMs)).size, 1)
      assert.strictEqual(new Set(rungs.map(({ quote }) => quote?.contextSlot)).size, 1)
      assert.strictEqual(new Set(rungs.map(({ quote }) => quote?.requestId)).size, 6)
    })
  )

  it.effect("reads whole tokens from the digits as they were written", () =>
    Effect.gen(function* () {
      const amountOf = (body: string) => Effect.map(send(body), (answer) => answer.json("amount"))
      assert.strictEqual(yield* amountOf(ui("12.3456789012345678910", 18)), "12345678901234567891")
      assert.strictEqual(yield* amountOf(ui("1.5e3")), "1500000000")
      assert.strictEqual(yield* amountOf(ui("250e-2", 2)), "250")
      assertInvalid(yield* send(ui("0.1000000000000000000001", 18)), "uiAmount", "format")
    })
  )

  it.effect("is thin, trapped or without a route at size, all as 200", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* verdictOf({ mint: TOKEN, amount: "900000000" }), "200 thin")
      assert.strictEqual(yield* verdictOf({ mint: TOKEN, amount: "90000000000" }), "200 trapped")
      assert.strictEqual(yield* verdictOf({ mint: SHALLOW, amount: "2000" }), "200 trapped")
      assert.strictEqual(yield* verdictOf({ mint: LONELY, amount: "2000" }), "200 no_route")
    })
  )

  it.effect("keeps a clamped rung's quote and takes no proceeds from it", () =>
    Effect.gen(function* () {
      const { rungs, summary } = yield* decoded(
        yield* check({ mint: SHALLOW, amount: "2000", ladder: [0.04, 0.5, 1] }, "h")
      )
      assert.deepStrictEqual(
        rungs.map(({ error, outAmount, quote }) => [error, outAmount === null, quote === null]),
        [
          [null, false, false],
          [null, false, false],
          ["clamped", true, false]
        ]
      )
      assert.deepStrictEqual(
        summary.warnings.map((warning) => warning.split(":")[0]),
        // Eighty units buy seventy-nine: rounding alone costs more than one percent.
        ["coarse_baseline", "clamped_rung"]
      )
    })
  )

  for (const [what, body, field, issue] of refusals) {
    it.effect(`refuses ${what} at ${field} as ${issue}`, () =>
      Effect.gen(function* () {
        assertInvalid(yield* check(body, "b"), field, issue)
      })
    )
  }

  it.effect("charges one unit for a body it cannot read", () =>
    Effect.gen(function* () {
      for (const [i, body] of [`{"mint":`, `{"mint":"${TOKEN}"}`, ui("1e-9")].entries()) {
        const answer = yield* send(body, "c")
        assert.strictEqual(answer.status, 400)
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
        assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), String(299 - i))
      }
    })
  )

  it.effect("charges one unit for each rung: the whole ladder or nothing", () =>
    Effect.gen(function* () {
      const ladder = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
      for (let i = 0; i < 37; i++) {
        yield* check({ ...position, ladder }, "d")
      }
      const refused = yield* check({ ...position, ladder }, "d")
      assertRefused(refused, 429, "rate_limited")
      assert.strictEqual(refused.headers.get("x-ratelimit-remaining"), "4")
      assert.isNotNull(refused.headers.get("retry-after"))
      assert.strictEqual((yield* check({ ...position, ladder: [0.1, 0.2, 0.5, 1] }, "d")).status, 200)
    })
  )

  it.effect("answers 503 with Retry-After when the ladder cannot be priced, and charges nothing", () =>
    Effect.gen(function* () {
      const answer = yield* check({ mint: COLD, amount: "5000" }, "e")
      assertRefused(answer, 503, "state_cold")
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
      assert.deepStrictEqual(market.warmed, [COLD])
    })
  )

  it.effect("answers 503 where the pools could not be searched, and states no verdict", () =>
    Effect.gen(function* () {
      const answer = yield* check({ mint: UNSEARCHED, amount: "5000" }, "e")
      assertRefused(answer, 503, "data_unavailable")
      assert.strictEqual(answer.headers.get("retry-after"), "300")
    })
  )

  it.effect("refuses at the field, and charges, what the native engine never measures", () =>
    Effect.gen(function* () {
      for (const [body, field, cost] of [
        [{ ...position, quoteMint: USDC }, "quoteMint", "1"],
        [{ mint: SOL, quoteMint: USDC, amount: "5000" }, "quoteMint", "1"],
        [{ mint: ODD, amount: "5000" }, "mint", "6"]
      ] as const) {
        const answer = yield* check(body, "i")
        assertInvalid(answer, field, "out_of_range")
        assert.include(String(answer.json("error.message")), field)
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), cost)
        assert.isNull(answer.headers.get("retry-after"))
      }
    })
  )

  it.effect("answers 503 state_stale once the chain has been silent for too long", () =>
    Effect.gen(function* () {
      market.fresh = { ...market.fresh, state: "loading" }
      assertRefused(yield* check(position, "e"), 503, "state_stale")
      market.fresh = { ...market.fresh, state: "live" }
      yield* TestClock.adjust("11 seconds")
      assertRefused(yield* check(position, "e"), 503, "state_stale")
      market.fresh = { ...market.fresh, heardAtMs: 11_000 }
    })
  )

  it.effect("answers 500 when the engine has a bug, and charges nothing", () =>
    Effect.gen(function* () {
      market.defect = new Error("hunter2")
      const answer = yield* check(position, "f")
      market.defect = undefined
      assertRefused(answer, 500, "internal_error")
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
    })
  )

  it.effect("needs a POST with a key and at most 8 KiB of JSON", () =>
    Effect.gen(function* () {
      assertRefused(
        yield* send(JSON.stringify(position), "g", { "content-type": "text/plain" }),
        415,
        "unsupported_media_type"
      )
      assertRefused(yield* send(" ".repeat(8193), "g"), 413, "body_too_large")
      assertRefused(yield* check(position, "y"), 401, "invalid_api_key")
      assertRefused(yield* check(position, "z"), 403, "missing_scope")
      assertRefused(yield* call("/api/v1/spot/exit-check"), 405, "method_not_allowed")
    })
  )
})

const decimals = new Map([
  [TOKEN, 6],
  [USDC, 6]
])

const refuse = Effect.die("not asked")
const known = Layer.mergeAll(
  Layer.succeed(TokenReader, {
    factsOf: () => refuse,
    decimalsOf: (mint) => Effect.succeed(decimals.get(mint) ?? null),
    liquidityOf: () => refuse,
    holdersOf: () => Effect.die("not asked"),
    holderHistoryOf: () => Effect.die("not asked"),
    metadataOf: () => Effect.die("not asked"),
    poolOf: () => refuse,
    pricesOf: () => refuse
  }),
  Layer.succeed(RiskReader, { riskOf: () => refuse })
)

layer(running({ engine: routerOver(makeMarket()), tokens: known }))("an exit check of a router deployment", (it) => {
  it.effect("measures the exit in any mint, and fills in the decimals of the mints in memory", () =>
    Effect.gen(function* () {
      const { rungs, summary, ...report } = yield* decoded(yield* check({ ...position, quoteMint: USDC }))
      assert.deepInclude(report, { quoteMint: USDC, decimals: 6, quoteDecimals: 6, uiAmount: 90 })
      assert.deepStrictEqual(
        rungs.at(-1)?.quote?.route.map(({ outputMint }) => outputMint),
        [SOL, USDC]
      )
      const out = summary.fullExitOutAmount ?? 0n
      assert.isAbove(Number(out), 0)
      assert.strictEqual(summary.fullExitOutUiAmount, Number(out) / 1e6)
      assert.strictEqual(summary.fullExitPrice, Number(out) / 1e6 / 90)
      assert.strictEqual(rungs[0]?.quote?.outUiAmount, rungs[0]?.outUiAmount)
    })
  )

  it.effect("keeps the decimals that the request states", () =>
    Effect.gen(function* () {
      const report = yield* decoded(yield* check({ ...position, decimals: 3, quoteDecimals: 2 }))
      assert.deepInclude(report, { decimals: 3, quoteDecimals: 2, uiAmount: 90_000 })
    })
  )
})

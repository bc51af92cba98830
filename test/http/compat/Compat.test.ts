import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { setTimeout as sleep } from "node:timers/promises"
import { SOL } from "../../../src/domain/Address.ts"
import { services } from "../../../src/http/compat/CompatRoutes.ts"
import { at } from "../../quotes/toyChain.ts"
import { type Answer, call, keyOf, running, secretOf } from "../../support/http.ts"
import { LONELY, makeMarket, routerOver, TOKEN as QUOTED } from "../../support/market.ts"
import { eventually, makeTokenWorld, NOTHING, PLAIN, pools, TOKEN, tokensOver } from "../../support/tokens.ts"

const keys = [keyOf("a"), keyOf("b", { scopes: ["tracker.read"] }), keyOf("c"), keyOf("d")]
const tokens = tokensOver(makeTokenWorld())

const quote = (query: Record<string, string> = {}) =>
  `/compat/jupiter/swap/v1/quote?${new URLSearchParams({ inputMint: SOL, outputMint: QUOTED, amount: "1000000", ...query })}`

const assertCode = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("errorCode"), code)
  assert.isString(answer.json("error"))
}

/** The answer to a request that may wait for something to be loaded. */
const passing = <A, E, R>(request: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(request, Effect.forever(Effect.andThen(TestClock.adjust("1 second"), pause)))

/** Real time, so that sockets are read meanwhile. */
const pause = Effect.promise(() => sleep(5))

/** Loads the token, so that no read has to wait for it. */
const warm = Effect.gen(function* () {
  yield* TestClock.setTime(1000)
  yield* eventually(call(`/api/v1/tokens/solana/${TOKEN}/liquidity`), ({ status }) => status === 200)
  yield* eventually(
    call(`/api/v1/tokens?addresses=${TOKEN},${SOL},${PLAIN}`),
    ({ text }) => !text.includes('"loading"')
  )
})

layer(running({ keys, engine: routerOver(makeMarket()) }))("quotes in the form of Jupiter", (it) => {
  it.effect("have the amounts of our own quote, and charge the quote budget", () =>
    Effect.gen(function* () {
      const own = yield* call(`/api/v1/spot/quote?inputMint=${SOL}&outputMint=${QUOTED}&amount=1000000&slippageBps=100`)
      const theirs = yield* call(quote({ slippageBps: "100" }))
      assert.strictEqual(theirs.status, 200, theirs.text)
      assert.strictEqual(theirs.headers.get("x-ratelimit-budget"), "quote")
      assert.strictEqual(
        Number(theirs.headers.get("x-ratelimit-remaining")),
        Number(own.headers.get("x-ratelimit-remaining")) - 1
      )
      for (const name of ["inputMint", "outputMint", "inAmount", "outAmount", "slippageBps", "contextSlot"]) {
        assert.strictEqual(theirs.json(name), own.json(name), name)
      }
      assert.strictEqual(theirs.json("otherAmountThreshold"), own.json("minOutAmount"))
      assert.strictEqual(theirs.json("swapMode"), "ExactIn")
      assert.strictEqual(theirs.json("routePlan.0.swapInfo.ammKey"), own.json("route.0.pool"))
      assert.strictEqual(theirs.json("routePlan.0.percent"), 100)
      assert.strictEqual(theirs.json("routePlan.0.bps"), 10_000)
      // A fraction of one, where ours are percentage points.
      assert.closeTo(Number(theirs.json("priceImpactPct")), Number(own.json("priceImpactPct") ?? 0) / 100, 1e-12)
      assert.strictEqual(theirs.json("platformFee"), null)
    })
  )

  it.effect("choose venues by the labels of Jupiter", () =>
    Effect.gen(function* () {
      const one = yield* call(quote({ dexes: "Pump.fun Amm", onlyDirectRoutes: "true" }))
      assert.strictEqual(one.json("routePlan.0.swapInfo.label"), "Pump.fun Amm", one.text)
      const other = yield* call(quote({ excludeDexes: "Pump.fun Amm" }))
      assert.notInclude(other.text, "Pump.fun Amm")
    })
  )

  it.effect("refuse in the form of Jupiter, by code", () =>
    Effect.gen(function* () {
      assertCode(yield* call(quote({ outputMint: LONELY })), 400, "COULD_NOT_FIND_ANY_ROUTE")
      assertCode(yield* call(quote({ amount: "0" })), 400, "INVALID_REQUEST")
      assertCode(yield* call(quote({ platformFeeBps: "20" })), 400, "INVALID_REQUEST")
      assertCode(yield* call(quote({ dynamicSlippage: "true" })), 400, "INVALID_REQUEST")
      assertCode(yield* call(quote(), { key: null }), 401, "MISSING_API_KEY")
      assertCode(yield* call(quote(), { key: "b" }), 403, "MISSING_SCOPE")
      const swap = yield* call("/compat/jupiter/swap/v1/swap", { method: "POST", body: "{}" })
      assertCode(swap, 403, "FEATURE_UNAVAILABLE")
      assert.include(swap.text, "sends no transactions")
      assertCode(yield* call("/compat/jupiter/swap/v1/nothing"), 404, "NOT_FOUND")
    })
  )

  it.effect("end in a 429 with the time to come back once the budget is spent", () =>
    Effect.gen(function* () {
      yield* Effect.repeat(call(quote(), { key: "d" }), { times: 299 })
      const answer = yield* call(quote(), { key: "d" })
      assert.strictEqual(answer.status, 429)
      assert.strictEqual(answer.json("errorCode"), "RATE_LIMITED")
      assert.isAbove(Number(answer.headers.get("retry-after")), 0)
    })
  )
})

layer(running({ keys, tokens }))("tokens in the form of other services", (it) => {
  it.effect("have a price at Jupiter, and no row without one", () =>
    Effect.gen(function* () {
      yield* warm
      const answer = yield* call(`/compat/jupiter/price/v3?ids=${TOKEN},${PLAIN}`)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(Object.keys(JSON.parse(answer.text)), [TOKEN])
      assert.closeTo(Number(answer.json(`${TOKEN}.usdPrice`)), 0.3, 0.01)
      assert.strictEqual(answer.json(`${TOKEN}.priceChange24h`), null)
      assert.strictEqual((yield* call("/compat/jupiter/price/v3?ids=nothing")).status, 400)
    })
  )

  it.effect("have their pools at DexScreener, deepest first, and nothing that is unknown", () =>
    Effect.gen(function* () {
      yield* warm
      const answer = yield* call(`/compat/dexscreener/tokens/v1/solana/${TOKEN}`)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.json("length"), 3)
      assert.deepInclude(answer.json("0"), {
        chainId: "solana",
        dexId: "raydium",
        labels: ["CPMM"],
        pairAddress: pools.SOL_POOL,
        baseToken: { address: TOKEN, name: "Fern Network", symbol: "FERN" },
        txns: {},
        volume: {},
        priceChange: {}
      })
      assert.strictEqual(answer.json("0.liquidity.usd"), 600)
      assert.notProperty(answer.json("2"), "liquidity", "one side of the third pool has no price")
      assert.notProperty(answer.json("0"), "pairCreatedAt")
      const none = yield* passing(call(`/compat/dexscreener/tokens/v1/solana/${NOTHING}`))
      assert.strictEqual(none.text, "[]")
      const chain = yield* call(`/compat/dexscreener/tokens/v1/ethereum/${TOKEN}`)
      assert.strictEqual(chain.status, 404)
      assert.isString(chain.json("error"))
    })
  )

  it.effect("have their pools at GeckoTerminal, and admit the key of CoinGecko's client", () =>
    Effect.gen(function* () {
      yield* warm
      const path = `networks/solana/tokens/${TOKEN}/pools?include=base_token`
      const answer = yield* call(`/compat/geckoterminal/api/v3/onchain/${path}`, {
        key: null,
        headers: { "x-cg-pro-api-key": secretOf("a") }
      })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.json("data.0.id"), `solana_${pools.SOL_POOL}`)
      assert.strictEqual(answer.json("data.0.attributes.reserve_in_usd"), "600")
      assert.strictEqual(answer.json("data.0.attributes.market_cap_usd"), null)
      assert.strictEqual(answer.json("included.0.attributes.symbol"), "FERN")
      const refused = yield* call(`/compat/geckoterminal/api/v2/${path}`, { key: null })
      assert.strictEqual(refused.status, 401)
      assert.strictEqual(refused.json("errors.0.status"), "401")
      const prices = yield* call(`/compat/geckoterminal/api/v2/simple/networks/solana/token_price/${TOKEN},${PLAIN}`)
      assert.match(String(prices.json(`data.attributes.token_prices.${TOKEN}`)), /^0\.[23]/u)
      assert.strictEqual(prices.json(`data.attributes.token_prices.${PLAIN}`), null)
    })
  )

  it.effect("have a price at Solana Tracker, and none that is made up", () =>
    Effect.gen(function* () {
      yield* warm
      const answer = yield* call(`/compat/solanatracker/price?token=${TOKEN}`)
      assert.closeTo(Number(answer.json("price")), 0.3, 0.01)
      const unknown = yield* call(`/compat/solanatracker/price?token=${PLAIN}`)
      assert.strictEqual(unknown.status, 404)
      assert.isString(unknown.json("message"))
      const many = yield* call(`/compat/solanatracker/price/multi?tokens=${TOKEN},${PLAIN}`)
      assert.deepStrictEqual(Object.keys(JSON.parse(many.text)), [TOKEN])
    })
  )

  it.effect("are symbols of TradingView", () =>
    Effect.gen(function* () {
      yield* warm
      const config = yield* call("/compat/udf/config")
      assert.strictEqual(config.json("supports_search"), true)
      const answer = yield* call(`/compat/udf/symbols?symbol=SOLANA:${TOKEN}`)
      assert.strictEqual(answer.json("name"), "FERN", answer.text)
      assert.strictEqual(answer.json("ticker"), TOKEN)
      // 0.3 USD to six digits.
      assert.strictEqual(answer.json("pricescale"), 1_000_000)
      assert.include((yield* call("/compat/udf/config")).json("supported_resolutions"), "1D")
      const unknown = yield* passing(call(`/compat/udf/symbols?symbol=${NOTHING}`))
      assert.deepStrictEqual(JSON.parse(unknown.text), { s: "error", errmsg: "unknown_symbol" })
    })
  )

  it.effect("are asked for again while they are loaded, as clients of other services do not", () =>
    Effect.gen(function* () {
      const mint = at(99)
      const answer = yield* passing(call(`/compat/solanatracker/tokens/${mint}/holders`))
      assert.strictEqual(answer.status, 404, answer.text)
      assert.strictEqual(answer.headers.get("retry-after"), null)
    })
  )
})

layer(running({ keys }))("the paths of other services", (it) => {
  it.effect("refuse what the service has and we do not in its own form, for every method", () =>
    Effect.gen(function* () {
      for (const { prefix } of services) {
        for (const method of ["GET", "POST", "DELETE"]) {
          const answer = yield* call(`${prefix}/no/such/path`, { method })
          assert.strictEqual(answer.status, 404, `${method} ${prefix}`)
          assert.include(answer.text, `${method} /no/such/path is not served.`)
          assert.strictEqual(answer.headers.get("content-type"), "application/json")
        }
      }
    })
  )
})

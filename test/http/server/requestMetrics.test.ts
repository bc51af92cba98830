import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { Api } from "../../../src/api/Api.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { MeasureRequests, operationNames } from "../../../src/http/server/requestMetrics.ts"
import { prometheusText } from "../../../src/operations/prometheus.ts"
import { call, running } from "../../support/http.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"

/** A registry of its own, so that other tests of the process are not counted. */
const measured = running({ engine: engineOver(makeMarket()) }).pipe(
  Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map())),
  Layer.provide(Layer.succeed(MeasureRequests, true))
)

const lines = Effect.map(prometheusText, (text) => text.split("\n"))

/** Waits until the server has closed the answers that its clients have read. */
const lineOf = (line: string) =>
  Effect.andThen(
    lines,
    Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  ).pipe(Effect.andThen(lines), Effect.repeat({ until: (all) => all.includes(line) }))

layer(measured)("requests", (it) => {
  it.effect("are counted by operation and status, on the fast path and off it", () =>
    Effect.gen(function* () {
      const quote = `/api/v1/spot/quote?inputMint=${SOL}&outputMint=${TOKEN}&amount=1000000`
      yield* call(quote)
      yield* call(`${quote}&amount=1`)
      yield* call("/api/v1/account/key", { key: null })
      yield* call("/api/v1/nothing")
      yield* call("/docs", { key: null, method: "OPTIONS" })
      yield* lineOf('fathom_http_requests_total{operation="spot.quote",status="200"} 1')
      yield* lineOf('fathom_http_requests_total{operation="spot.quote",status="400"} 1')
      yield* lineOf('fathom_http_requests_total{operation="account.key",status="401"} 1')
      yield* lineOf('fathom_http_requests_total{operation="none",status="404"} 1')
      yield* lineOf('fathom_http_request_seconds_count{operation="spot.quote"} 2')
      yield* lineOf('fathom_http_request_seconds_bucket{operation="spot.quote",le="+Inf"} 2')
    })
  )
})

layer(measured)("requests beyond a budget", (it) => {
  it.effect("are counted by the budget", () =>
    Effect.gen(function* () {
      const quote = `/api/v1/spot/quote?inputMint=${SOL}&outputMint=${TOKEN}&amount=1000000`
      const { quote: limit } = DEFAULT_PLAN
      yield* Effect.forEach(Array.from({ length: limit }), () => call(quote), { concurrency: 8, discard: true })
      assert.strictEqual((yield* call(quote)).status, 429)
      yield* lineOf('fathom_budget_refusals_total{budget="quote"} 1')
    })
  )
})

describe("an operation", () => {
  const nameOf = operationNames(Api, ["/t/:mint"])

  it("is named by group and endpoint whatever its parameters", () => {
    assert.strictEqual(nameOf("GET", "/api/v1/wallets/abc/positions?limit=1"), "wallets.positions")
    assert.strictEqual(nameOf("HEAD", "/livez"), "system.live")
  })

  it("is a page or none outside the contract, so that callers cannot invent names", () => {
    assert.strictEqual(nameOf("GET", "/t/abc"), "page")
    assert.strictEqual(nameOf("POST", "/mcp"), "mcp")
    assert.strictEqual(nameOf("GET", "/nowhere"), "none")
    assert.strictEqual(nameOf("BREW", "/livez"), "none")
  })
})

import { assert, describe, it } from "@effect/vitest"
import type { ChartAnswer } from "../../../src/api/Market.ts"
import type { SpotQuote } from "../../../src/api/schemas/Quote.ts"
import { chartedVenues, closedVenues, quotableVenues } from "../../../src/api/venues.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { filled } from "../../../src/http/compat/bars.ts"
import { decimalOf, numberOf } from "../../../src/http/compat/figures.ts"
import { quoteAnswer } from "../../../src/http/compat/jupiter.ts"
import { namesOf, venueOf } from "../../../src/http/compat/venues.ts"
import { windowsOf } from "../../../src/http/compat/windows.ts"

const hop = (percent: number, amountOut: string) => ({
  dex: "orca-whirlpool",
  inputMint: SOL,
  outputMint: USDC,
  pool: SOL,
  percent,
  amountIn: "500",
  amountOut,
  priceImpactPct: null,
  provenAtSlot: null
})

const quote: typeof SpotQuote.Encoded = {
  inputMint: SOL,
  outputMint: USDC,
  inAmount: "1000",
  outAmount: "990",
  minOutAmount: "980",
  slippageBps: 50,
  impactMeasurable: true,
  clamped: false,
  route: [hop(62.25, "700"), hop(37.75, "300")],
  venues: ["orca-whirlpool"],
  engine: "test",
  priceImpactPct: 1.5,
  contextSlot: 7,
  engineTimeMs: 2,
  swapUsdValue: null,
  requestId: "q",
  quotedAtMs: 1,
  stateSlot: 6,
  stateAgeMs: 1,
  feeBasis: "net"
}

describe("a quote in the form of Jupiter", () => {
  it("has the fee of the deployment, which is what the pools pay and the trader does not get", () => {
    assert.deepStrictEqual(quoteAnswer(quote).platformFee, { amount: "10", feeBps: 100 })
    assert.strictEqual(quoteAnswer({ ...quote, feeBasis: "principal" }).platformFee, null)
  })

  it("has the price impact as a fraction of one, and shares that are not whole in basis points only", () => {
    const { priceImpactPct, routePlan } = quoteAnswer(quote)
    assert.strictEqual(priceImpactPct, "0.015")
    assert.deepStrictEqual(
      routePlan.map(({ bps, percent }) => [percent, bps]),
      [
        [null, 6225],
        [null, 3775]
      ]
    )
  })

  it("bounds the input where the output is fixed", () => {
    const fixed = quoteAnswer({ ...quote, swapMode: "exactOut", maxInAmount: "1005" })
    assert.deepInclude(fixed, { swapMode: "ExactOut", otherAmountThreshold: "1005" })
  })
})

const MINUTE = 60_000
const NOW = 2000 * MINUTE

const bar = (minute: number, c: number, buys = 1) => ({
  t: minute * MINUTE,
  o: c,
  h: c,
  l: c,
  c,
  v: 10,
  n: buys,
  buys,
  sells: 0,
  buyVolume: 10,
  sellVolume: 0,
  traders: 1,
  outliers: 0,
  isWhole: true,
  revision: 0
})

const chartOf = (
  bars: ReadonlyArray<ReturnType<typeof bar>>,
  coverage: Partial<(typeof ChartAnswer.Encoded)["meta"]["coverage"]> = {}
) =>
  ({
    data: { bars },
    meta: { coverage: { coveredFromMs: 0, coveredToMs: NOW, missingBars: 0, ...coverage } }
  }) as unknown as typeof ChartAnswer.Encoded

describe("the windows of a pool", () => {
  it("count the trades of the last minutes, and compare with the price before them", () => {
    const { h1, h24, m5 } = windowsOf(chartOf([bar(100, 1), bar(1950, 2), bar(1998, 3, 2)]), NOW)
    assert.deepStrictEqual(m5, { buys: 2, sells: 0, volume: 10, changePct: 50 })
    assert.deepStrictEqual(h1, { buys: 3, sells: 0, volume: 20, changePct: 200 })
    assert.deepStrictEqual(h24?.changePct, 200)
  })

  it("are left out where they were not seen whole", () => {
    const bars = [bar(1950, 2)]
    const young = windowsOf(chartOf(bars, { coveredFromMs: NOW - 100 * MINUTE }), NOW)
    assert.deepStrictEqual(Object.keys(young), ["m5", "h1"])
    assert.deepStrictEqual(windowsOf(chartOf(bars, { coveredToMs: NOW - 10 * MINUTE }), NOW), {})
    assert.deepStrictEqual(windowsOf(chartOf(bars, { missingBars: 1 }), NOW), {})
  })

  it("have no change of the price without a trade before them", () => {
    assert.strictEqual(windowsOf(chartOf([bar(1999, 3)]), NOW).m5?.changePct, null)
  })
})

describe("candles without gaps", () => {
  it("repeat the last close where nothing was traded, and are at most as many as asked for", () => {
    const times = (most: number) =>
      filled([bar(1, 5), bar(4, 7)], MINUTE, most).map(({ c, t, v }) => [t / MINUTE, c, v])
    assert.deepStrictEqual(times(10), [
      [1, 5, 10],
      [2, 5, 0],
      [3, 5, 0],
      [4, 7, 10]
    ])
    assert.deepStrictEqual(times(2), [
      [3, 5, 0],
      [4, 7, 10]
    ])
    assert.deepStrictEqual(filled([], MINUTE, 5), [])
  })
})

describe("a figure", () => {
  it("is unknown once it is stale, because the other services cannot say so", () => {
    assert.strictEqual(numberOf({ status: "stale", value: "1.5" }), null)
    assert.strictEqual(decimalOf({ status: "partial", value: "1.5" }), "1.5")
    assert.strictEqual(numberOf({ status: "unavailable", value: null }), null)
  })
})

describe("names of venues at Jupiter", () => {
  it.each([
    ["humidifi", "HumidiFi"],
    ["solfi-v2", "SolFi V2"],
    ["tessera", "TesseraV"],
    ["meteora-damm-v1", "Meteora"],
    ["orca-whirlpool", "Whirlpool"]
  ])("lead to the key %s and back", (dex, label) => {
    assert.strictEqual(namesOf(dex).jupiter, label)
    assert.strictEqual(venueOf(label), dex)
  })

  it("are different for every venue, so that a label leads to one", () => {
    const known = [...quotableVenues, ...chartedVenues, ...closedVenues]
    assert.deepStrictEqual(
      known.map((dex) => venueOf(namesOf(dex).jupiter)),
      known
    )
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { ChartRequest, ChartResolution } from "../../../src/api/schemas/Chart.ts"
import type { EvmCandle, EvmSeries } from "../../../src/market/reads/EvmCandles.ts"
import { evmChart, foldCandles, intervalOf, planEvmChart } from "../../../src/market/reads/evmChart.ts"
import { bucketStart, widthOf } from "../../../src/market/model/resolutions.ts"
import { seededRandom, MONDAY } from "../tape/tape.ts"

const token = { chain: "base", address: `0x${"a".repeat(40)}` } as const
const DAY = 86_400

const asked = (given: Partial<ChartRequest> = {}): ChartRequest => ({
  resolution: "12h",
  denom: "usd",
  mode: "price",
  from: null,
  to: null,
  limit: 10,
  ...given
})

const candle = (second: number, given: Partial<EvmCandle> = {}): EvmCandle => ({
  second,
  open: 1,
  high: 1,
  low: 1,
  close: 1,
  volume: 1,
  ...given
})

const series = (candles: ReadonlyArray<EvmCandle>, totalSupply: string | null = "1000.5"): EvmSeries => ({
  symbol: "X",
  name: null,
  decimals: 18,
  totalSupply,
  asOfMs: 5,
  candles
})

const folded: ReadonlyArray<ChartResolution> = ["30m", "2h", "6h", "8h", "12h", "1w", "1mn"]

describe("candles of EVM tokens", () => {
  it.effect.prop(
    "fold into exact buckets of UTC: nothing is lost, moved or filled in",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })), Schema.Literals(folded)],
    ([seed, resolution]) =>
      Effect.sync(() => {
        const roll = seededRandom(seed)
        const width = widthOf[intervalOf(resolution) ?? "1m"]
        const fine = Array.from({ length: 200 }, (_, at) => at)
          .filter(() => roll() < 0.6)
          .map((at) => candle(MONDAY + at * width, { open: roll(), close: roll(), high: 2 + roll(), low: roll() / 9 }))
        const bars = foldCandles(fine, resolution)
        for (const bar of bars) {
          const parts = fine.filter(({ second }) => bucketStart(resolution, second) === bar.second)
          assert.deepStrictEqual(bar, {
            second: bar.second,
            open: parts[0]?.open,
            close: parts.at(-1)?.close,
            high: Math.max(...parts.map(({ high }) => high)),
            low: Math.min(...parts.map(({ low }) => low)),
            volume: parts.length
          })
        }
        assert.strictEqual(
          bars.reduce((sum, { volume }) => sum + volume, 0),
          fine.length
        )
        assert.deepStrictEqual(
          bars.map(({ second }) => second),
          Array.from(new Set(fine.map(({ second }) => bucketStart(resolution, second))))
        )
      })
  )

  it("begin weeks on Monday and months on the first", () => {
    const days = [-1, 0, 6, 7].map((day) => candle(MONDAY + day * DAY))
    assert.deepStrictEqual(
      foldCandles(days, "1w").map(({ second }) => (second - MONDAY) / DAY),
      [-7, 0, 7]
    )
    const october = Date.UTC(2026, 9) / 1000
    const around = [october - DAY, october, october + 30 * DAY, october + 31 * DAY].map((second) => candle(second))
    assert.deepStrictEqual(
      foldCandles(around, "1mn").map(({ second }) => new Date(second * 1000).toISOString().slice(0, 10)),
      ["2026-09-01", "2026-10-01", "2026-11-01"]
    )
  })

  it("are asked for within 90 days, in whole buckets", () => {
    const nowMs = (MONDAY + 3 * DAY + 5) * 1000
    const plan = planEvmChart(token, "1d", asked({ resolution: "1w" }), nowMs)
    assert.strictEqual(plan.request.to, MONDAY + 7 * DAY)
    assert.strictEqual(plan.request.from, MONDAY + 7 * DAY - 84 * DAY)
    assert.isTrue(plan.clipped)
    const near = planEvmChart(token, "4h", asked({ from: MONDAY - DAY + 5, to: MONDAY + 5 }), nowMs)
    assert.deepInclude(near.request, { from: MONDAY - DAY, to: MONDAY + DAY / 2, limit: 33 })
    assert.isFalse(near.clipped)
    const far = planEvmChart(token, "4h", asked({ from: MONDAY - 400 * DAY, to: MONDAY }), nowMs)
    assert.strictEqual(far.request.from, MONDAY - 90 * DAY)
    assert.isTrue(far.clipped)
  })

  it("lead past 90 days, page by page, until the window or the candles end", () => {
    const nowMs = (MONDAY + DAY) * 1000
    const pageOf = (given: Partial<ChartRequest>, candles: ReadonlyArray<EvmCandle>) => {
      const request = asked({ resolution: "1d", limit: 300, ...given })
      return evmChart(planEvmChart(token, "1d", request, nowMs), request, series(candles), nowMs).knowledge
    }
    const open = pageOf({}, [candle(MONDAY)])
    assert.deepInclude(open, { prevTo: MONDAY - 88 * DAY, truncated: false })
    assert.strictEqual(open.coverage.reason, "range_clipped")
    assert.isNull(pageOf({ to: MONDAY - 88 * DAY }, []).prevTo)
    const from = MONDAY - 200 * DAY
    assert.strictEqual(pageOf({ from, to: MONDAY }, []).prevTo, MONDAY - 90 * DAY)
    assert.strictEqual(pageOf({ from, to: MONDAY - 90 * DAY }, []).prevTo, MONDAY - 180 * DAY)
    assert.isNull(pageOf({ from, to: MONDAY - 180 * DAY }, []).prevTo)
  })

  it("make a page of whole buckets, with the end of the page before", () => {
    const nowMs = (MONDAY + DAY) * 1000
    const request = asked({ resolution: "30m", limit: 2 })
    const plan = planEvmChart(token, "15m", request, nowMs)
    const quarters = [1, 2, 3, 4, 5].map((at) => candle(MONDAY + at * 900))
    const { data, knowledge } = evmChart(plan, request, { ...series(quarters), asOfMs: nowMs }, nowMs)
    assert.deepStrictEqual(
      data.bars.map(({ n, t, v }) => [t / 1000 - MONDAY, v, n]),
      [
        [1800, 2, null],
        [3600, 2, null]
      ]
    )
    assert.strictEqual(knowledge.prevTo, MONDAY + 1800)
    assert.strictEqual(knowledge.status, "known")
    assert.strictEqual(knowledge.openBarMs, null)
  })

  it("become market values when the supply is known, and nothing when it is not", () => {
    const nowMs = MONDAY * 1000
    const request = asked({ mode: "mcap", from: MONDAY - DAY, to: MONDAY })
    const plan = planEvmChart(token, "4h", request, nowMs)
    const chart = evmChart(plan, request, series([candle(MONDAY - DAY)]), nowMs)
    assert.deepInclude(chart.data.bars[0], { c: 1000.5, v: 1 })
    assert.strictEqual(chart.knowledge.supply?.value, "1000.5")
    const untold = evmChart(plan, request, series([candle(MONDAY - DAY)], null), nowMs)
    assert.deepStrictEqual(untold.data.bars, [])
    assert.strictEqual(untold.knowledge.coverage.reason, "supply_unknown")
  })
})

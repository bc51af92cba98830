/** Charts of EVM tokens: exact intervals, folded in UTC from finer candles of another service. */
import type {
  ChartBar,
  ChartRequest,
  ChartResolution,
  ChartSupply,
  EvmChain,
  Lacking,
  KnownChart
} from "../../api/schemas/Chart.ts"
import { type ChartWindow, chartKnowledge, chartWindow, nextBucket } from "./chartWindow.ts"
import type { EvmCandle, EvmInterval, EvmRequest, EvmSeries } from "./EvmCandles.ts"
import { bucketStart, widthOf } from "../model/resolutions.ts"

/** Charts reach back this far: 90 days. */
const BOUND = 90 * 86_400
/** The longest month, in days. */
const LONGEST_MONTH = 31

/** The widest candles of a source that divide every bucket of a resolution exactly; null below a minute. */
export const intervalOf = (resolution: ChartResolution): EvmInterval | null => intervals[resolution] ?? null

const intervals: Partial<Record<ChartResolution, EvmInterval>> = {
  "1m": "1m",
  "3m": "1m",
  "5m": "5m",
  "15m": "15m",
  "30m": "15m",
  "1h": "1h",
  "2h": "1h",
  "4h": "4h",
  "6h": "1h",
  "8h": "4h",
  "12h": "4h",
  "1d": "1d",
  "1w": "1d",
  "1mn": "1d"
}

/** The request to the source, and the window to which its answer is cut. */
export interface EvmPlan {
  readonly request: EvmRequest
  readonly window: ChartWindow
  /** True when the window was cut to the bound. */
  readonly clipped: boolean
}

/** A token on an EVM chain. */
export interface EvmToken {
  readonly chain: EvmChain
  readonly address: string
}

/** Plans a chart as of `nowMs`. Only whole buckets lie within the bound. */
export const planEvmChart = (token: EvmToken, interval: EvmInterval, chart: ChartRequest, nowMs: number): EvmPlan => {
  const { limit, resolution } = chart
  const window = chartWindow(chart)
  const to = window.to ?? nextBucket(resolution, Math.floor(nowMs / 1000))
  const bound = to - BOUND
  const earliest = bucketStart(resolution, bound) === bound ? bound : nextBucket(resolution, bound)
  const from = Math.max(earliest, window.from ?? earliest)
  const each = resolution === "1mn" ? LONGEST_MONTH : widthOf[resolution] / widthOf[interval]
  return {
    // One more bucket shows whether there are older ones, and keeps the oldest shown bucket whole.
    request: { ...token, interval, from, to, limit: (limit + 1) * each },
    window,
    clipped: window.from === null || window.from < earliest
  }
}

/** Buckets of a resolution from finer candles, both oldest first. Nothing is filled in. */
export const foldCandles = (
  candles: ReadonlyArray<EvmCandle>,
  resolution: ChartResolution
): ReadonlyArray<EvmCandle> => {
  const buckets: Array<EvmCandle> = []
  for (const candle of candles) {
    const second = bucketStart(resolution, candle.second)
    const last = buckets.at(-1)
    if (last?.second !== second) {
      buckets.push({ ...candle, second })
      continue
    }
    buckets[buckets.length - 1] = {
      second,
      open: last.open,
      high: Math.max(last.high, candle.high),
      low: Math.min(last.low, candle.low),
      close: candle.close,
      volume: last.volume + candle.volume
    }
  }
  return buckets
}

const barOf = ({ close, high, low, open, second, volume }: EvmCandle, factor: number): ChartBar => ({
  t: second * 1000,
  o: open * factor,
  h: high * factor,
  l: low * factor,
  c: close * factor,
  v: volume,
  n: null,
  buys: null,
  sells: null,
  buyVolume: null,
  sellVolume: null,
  traders: null,
  outliers: null,
  isWhole: null,
  revision: null
})

const supplyOf = ({ asOfMs, totalSupply }: EvmSeries): ChartSupply => ({
  value: totalSupply,
  basis: "total",
  applied: "current",
  observedAtMs: totalSupply === null ? null : asOfMs
})

/**
 * Where the next older page ends, when the window was cut to the bound; else null. Without a requested beginning,
 * paging stops once 90 days contain no candle.
 */
const pageBefore = ({ clipped, request, window }: EvmPlan, { candles }: EvmSeries): number | null =>
  clipped && request.from > 0 && (window.from !== null || candles.length > 0) ? request.from : null

/** Makes the chart from a source's answer. */
export const evmChart = (plan: EvmPlan, chart: ChartRequest, series: EvmSeries, nowMs: number): KnownChart => {
  const { address, chain, from } = plan.request
  const { denom, mode, resolution } = chart
  const isUnknown = mode === "mcap" && series.totalSupply === null
  const buckets = isUnknown ? [] : foldCandles(series.candles, resolution)
  const truncated = buckets.length > chart.limit
  const factor = mode === "mcap" ? Number(series.totalSupply ?? 0) : 1
  const bars = buckets.slice(-chart.limit).map((candle) => barOf(candle, factor))
  const clipped: Lacking = plan.clipped && !truncated ? "range_clipped" : null
  const lacking: Lacking = isUnknown ? "supply_unknown" : clipped
  return {
    data: {
      token: { chain, address, symbol: series.symbol, name: series.name, decimals: series.decimals, imageUrl: null },
      resolution,
      resolutionMs: widthOf[resolution] * 1000,
      denom,
      mode,
      bars
    },
    knowledge: chartKnowledge(plan.window, {
      bars,
      prevTo: truncated ? (bars[0]?.t ?? 0) / 1000 : pageBefore(plan, series),
      truncated,
      sourceFrom: from,
      missingBars: null,
      lacking,
      status: isUnknown ? "unavailable" : lacking === null ? "known" : "partial",
      slot: null,
      observedAtMs: series.asOfMs,
      supply: mode === "mcap" ? supplyOf(series) : null,
      nowMs
    })
  }
}

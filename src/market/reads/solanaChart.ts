/** Charts of Solana tokens, from candles in memory and in the store. */
import { type Mint, SOL, USDC } from "../../domain/Address.ts"
import type { ChartBar, ChartRequest, ChartSupply, Lacking, KnownChart } from "../../api/schemas/Chart.ts"
import { fromAtomic, uiNumber } from "../../domain/decimal.ts"
import { barRecord, cutBars } from "./cutBars.ts"
import { type ChartWindow, chartKnowledge, chartWindow, nextBucket } from "./chartWindow.ts"
import type { Bar, BarPage } from "../memory/foldBars.ts"
import { type SupplyHistory, suppliesBefore } from "./supplyHistory.ts"
import type { OutliersByBar } from "./barOutliers.ts"
import { mayHaveOutliers, type Outliers } from "../model/outliers.ts"
import { FINE_RETENTION, widthOf } from "../model/resolutions.ts"
import { barsOf, NO_BARS, type OlderBars } from "./longBars.ts"
import { type Supply, supplyOf, tokenRef, type TokenSources } from "./tokenRef.ts"
import { lackingNow, MARKET_STALE_MS } from "../tape/freshness.ts"
import type { Market } from "../tape/Market.ts"

/** The sources of a chart. */
export interface ChartSources extends TokenSources {
  readonly tape: Market["Service"]
  readonly older: OlderBars
  readonly outliers: OutliersByBar
  /** The changes of the supply since the first bar; null when unknown. */
  readonly supply: SupplyHistory | null
}

const MINUTE = 60
const FOREVER = Number.POSITIVE_INFINITY

/**
 * The mint whose bars a chart is made of. USDC counts as one dollar, so its chart is made of the trades of SOL against
 * dollars.
 */
export const chartedMint = (mint: Mint): Mint => (mint === USDC ? SOL : mint)

/** A bar from the other side of its trades: whoever bought one mint sold the other. */
const otherSide = (bar: Bar): Bar => ({
  ...bar,
  buys: bar.buys === null ? null : bar.trades - bar.buys,
  buyVolume: bar.sellVolume,
  sellVolume: bar.buyVolume
})

/** Bars of USDC in USD, made from the bars of SOL: worth one dollar. */
const dollarBars = (bars: ReadonlyArray<Bar>): ReadonlyArray<Bar> =>
  bars.map((bar) => ({ ...otherSide(bar), open: 1, high: 1, low: 1, close: 1 }))

/**
 * Bars of USDC in SOL: the inverse of the bars of SOL in USD, so the high is at SOL's low, with the volume of the bars
 * in SOL.
 */
const inverseBars = (inUsd: ReadonlyArray<Bar>, inSol: ReadonlyArray<Bar>): ReadonlyArray<Bar> => {
  const bySecond = new Map(inSol.map((bar) => [bar.second, bar]))
  return inUsd.map((bar) => {
    const { close, high, low, open } = bar
    const { buyVolume, sellVolume, volume } = bySecond.get(bar.second) ?? bar
    const prices = { open: 1 / open, high: 1 / low, low: 1 / high, close: 1 / close }
    return { ...otherSide({ ...bar, volume, buyVolume, sellVolume }), ...prices }
  })
}

/** The page of a mint in the denomination of the request. USDC's page is SOL's page from the other side. */
const pageOf = ({ older, tape }: ChartSources, mint: Mint, { denom }: ChartRequest, window: ChartWindow): BarPage => {
  if (mint !== USDC) {
    return barsOf(tape, older, mint, { ...window, denom })
  }
  const page = barsOf(tape, older, SOL, window)
  const bars =
    denom === "usd"
      ? dollarBars(page.bars)
      : inverseBars(page.bars, barsOf(tape, older, SOL, { ...window, denom }).bars)
  return { ...page, bars }
}

/** The bar with outliers left out of its high and low, which still enclose open and close. */
const withoutOutliers = (bar: Bar, { high, low }: Outliers): Bar => ({
  ...bar,
  high: Math.max(high, bar.open, bar.close),
  low: Math.min(low, bar.open, bar.close)
})

const chartBar = (bar: Bar, factor: number, outliers: number | null, isWhole: boolean): ChartBar => ({
  t: bar.second * 1000,
  o: bar.open * factor,
  h: bar.high * factor,
  l: bar.low * factor,
  c: bar.close * factor,
  outliers,
  v: bar.volume,
  n: bar.trades,
  buys: bar.buys,
  sells: bar.buys === null ? null : bar.trades - bar.buys,
  buyVolume: bar.buyVolume,
  sellVolume: bar.sellVolume,
  traders: bar.traders,
  isWhole,
  revision: bar.revision
})

/** True when memory has bars from before the window, so that none of the window was dropped. */
const holdsBefore = ({ state }: Market["Service"], mint: Mint, { from, resolution }: ChartWindow): boolean => {
  const before = from === null ? null : state.bars(mint, { resolution, from: null, to: from, limit: 1 })
  return before !== null && before.bars.length + before.unpriced > 0
}

/** How many seconds the bars of a chart are kept. Bars of one pool are kept as long as trades. */
const keptSeconds = (
  { tape }: ChartSources,
  { pool, resolution }: Pick<ChartRequest, "pool" | "resolution">
): number => {
  const stored = tape.stored()?.candles.keptSeconds(pool === undefined ? resolution : "1s") ?? FOREVER
  return Math.min(stored, widthOf[resolution] < MINUTE ? FINE_RETENTION : FOREVER)
}

/** Why bars at the start of the window are missing; null when none are. */
const lackingBefore = (
  sources: ChartSources,
  mint: Mint,
  request: ChartRequest,
  page: BarPage,
  nowMs: number
): Lacking => {
  const window = chartWindow(request)
  const [first] = page.bars
  const { older, tape } = sources
  const { from, resolution } = window
  if (page.truncated && first !== undefined) {
    return tape.recordedFrom(first.second).reason
  }
  const stored = tape.stored()
  const isFine = widthOf[resolution] < MINUTE
  const start = request.pool === undefined ? from : Math.max(from ?? 0, tape.firstRead())
  if (start !== null && start < nowMs / 1000 - keptSeconds(sources, request)) {
    return "resolution_retention"
  }
  if (older.isMissing) {
    return "deadline"
  }
  if (stored === null && page.trimmed && !holdsBefore(tape, mint, window)) {
    return isFine ? "resolution_retention" : "limit_clipped"
  }
  const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
  const began = createdAtMs === null ? Number.NEGATIVE_INFINITY : Math.floor(createdAtMs / 1000)
  // Blocks from before the token's first block contain nothing of it.
  return createdAtMs !== null && (from === null || from <= began) ? null : tape.recordedFrom(from ?? began).reason
}

/** From this second on the bars were made from every block; null when there is no such second. */
const sourceFrom = ({ older, tape }: ChartSources, mint: Mint, { resolution }: ChartWindow): number | null => {
  const since = tape.recordedSince()
  const from = older.isMissing ? Math.max(since, tape.heldSince(mint, resolution)) : since
  return Number.isFinite(from) ? from : null
}

/** The time that the bars show: the store's time when all bars come from the store. Null before the first block. */
const observedAt = ({ older, tape }: ChartSources): number | null => {
  const heardAtMs = tape.heardAtMs()
  const readToMs = older.isWhole ? (older.bars?.readToMs ?? 0) : tape.state.now * 1000
  // Block times may be ahead of the local clock.
  return tape.state.now === 0 || heardAtMs === null || readToMs === 0 ? null : Math.min(readToMs, heardAtMs)
}

/** The newest slot in the bars: the store's slot when all bars come from the store. Null before the first block. */
const slotOf = ({ older, tape }: ChartSources): number | null =>
  (older.isWhole ? older.bars?.readToSlot : tape.newestSlot() || null) ?? null

/** Why the bars are not current; null when they are. */
const lackingAtEnd = (sources: ChartSources, { to }: ChartWindow, nowMs: number): Lacking => {
  const { older, tape } = sources
  const now = lackingNow(tape, nowMs)
  const isBehind = older.isWhole && nowMs - (observedAt(sources) ?? 0) > MARKET_STALE_MS
  const lacking = now ?? (isBehind ? "source_stale" : null)
  const readUntilMs = now === "backfill_running" || isBehind ? (observedAt(sources) ?? 0) : (tape.heardAtMs() ?? 0)
  return to === null || to * 1000 > readUntilMs ? lacking : null
}

const chartSupply = (supply: Supply | null, isOfTheTime: boolean): ChartSupply => ({
  value: supply === null ? null : fromAtomic(supply.units, supply.decimals),
  basis: "total",
  applied: isOfTheTime ? "per_bar" : "current",
  observedAtMs: supply?.observedAtMs ?? null
})

/** The supply at the end of each bar; null unless it is known for every bar. */
const suppliesOf = (
  { supply: history }: ChartSources,
  supply: Supply,
  bars: ReadonlyArray<Bar>,
  { resolution }: ChartRequest
): ReadonlyArray<bigint> | null =>
  history === null
    ? null
    : suppliesBefore(
        supply,
        history,
        bars.map(({ second }) => nextBucket(resolution, second))
      )

/** Starts of the bars that the record has only in part. */
const cutOf = (
  sources: ChartSources,
  mint: Mint,
  request: ChartRequest,
  bars: ReadonlyArray<Bar>,
  nowMs: number
): ReadonlySet<number> => {
  const { older, tape } = sources
  const { resolution } = request
  const isStored = tape.stored() !== null && !older.isMissing
  const keptFrom = nowMs / 1000 - keptSeconds(sources, request)
  return cutBars(
    bars.map(({ second }) => second),
    resolution,
    barRecord(tape, mint, resolution, { isStored, keptFrom })
  )
}

/** The chart of a token as of `nowMs`. A token that never traded has a chart without bars. */
export const solanaChart = (sources: ChartSources, mint: Mint, request: ChartRequest, nowMs: number): KnownChart => {
  const { denom, mode, resolution } = request
  const window = chartWindow(request)
  const supply = mode === "mcap" ? supplyOf(sources, mint) : null
  const isUnknown = mode === "mcap" && supply === null
  const charted = chartedMint(mint)
  const page = isUnknown ? NO_BARS : pageOf(sources, mint, request, window)
  const supplies = supply === null ? null : suppliesOf(sources, supply, page.bars, request)
  const cut = cutOf(sources, charted, request, page.bars, nowMs)
  const bars = page.bars.map((bar, place) => {
    const factor = supply === null ? 1 : uiNumber(supplies?.[place] ?? supply.units, supply.decimals)
    const found = sources.outliers.get(bar.second)
    const shown = found !== undefined && request.outliers === "exclude" ? withoutOutliers(bar, found) : bar
    return chartBar(shown, factor, found?.count ?? (mayHaveOutliers(bar) ? null : 0), !cut.has(bar.second))
  })

  const silent = lackingAtEnd(sources, window, nowMs)
  const unpriced: Lacking = page.unpriced > 0 ? "mark_unknown" : null
  const lacking: Lacking = isUnknown
    ? "supply_unknown"
    : (silent ?? lackingBefore(sources, charted, request, page, nowMs) ?? unpriced)
  return {
    data: {
      token: tokenRef(sources, mint),
      resolution,
      resolutionMs: widthOf[resolution] * 1000,
      denom,
      mode,
      bars
    },
    knowledge: chartKnowledge(window, {
      bars,
      prevTo: page.truncated ? (page.bars[0]?.second ?? null) : null,
      truncated: page.truncated,
      sourceFrom: sourceFrom(sources, charted, window),
      missingBars: isUnknown ? null : page.unpriced,
      lacking,
      status: isUnknown ? "unavailable" : lacking === "source_stale" ? "stale" : lacking === null ? "known" : "partial",
      slot: slotOf(sources),
      observedAtMs: observedAt(sources),
      supply: mode === "mcap" ? chartSupply(supply, supplies !== null) : null,
      nowMs
    })
  }
}

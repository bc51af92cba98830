/** Charts of Solana tokens, from candles in memory and in the store. */
import { type Mint, SOL, USDC } from "../../domain/Address.ts"
import type { ChartBar, ChartRequest, ChartSupply, Lacking, KnownChart } from "../../domain/market/Chart.ts"
import { fromAtomic, uiNumber } from "../../domain/decimal.ts"
import { type ChartWindow, chartKnowledge, chartWindow } from "./chartWindow.ts"
import type { Bar, BarPage } from "./foldBars.ts"
import { FINE_RETENTION, widthOf } from "./resolutions.ts"
import { barsOf, NO_BARS, type OlderBars } from "./longBars.ts"
import { solBars, solWindow } from "./solBars.ts"
import { type Supply, supplyOf, tokenRef, type TokenSources } from "../views/tokenRef.ts"
import { lackingNow, type TradeTape } from "../tape/TradeTape.ts"

/** The sources of a chart. */
export interface ChartSources extends TokenSources {
  readonly tape: TradeTape["Service"]
  readonly older: OlderBars
}

const MINUTE = 60
/** More than any series has. */
const ALL = 1_000_000
const FOREVER = Number.POSITIVE_INFINITY

/** SOL in SOL is worth one, whatever it trades for. */
const ones = (bars: ReadonlyArray<Bar>): ReadonlyArray<Bar> =>
  bars.map((bar) => ({ ...bar, open: 1, high: 1, low: 1, close: 1, volume: bar.volume / bar.close }))

/** The mint whose bars a chart is made of. USDC counts as one dollar, so its trades are those of SOL against dollars. */
export const chartedMint = (mint: Mint): Mint => (mint === USDC ? SOL : mint)

/** Bars of USDC from those of SOL in USD: worth one dollar, or in SOL the inverse, whose high is at SOL's low. */
const dollarBars = (bars: ReadonlyArray<Bar>, denom: ChartRequest["denom"]): ReadonlyArray<Bar> =>
  bars.map((bar) => {
    const { close, high, low, open, volume } = bar
    return denom === "sol"
      ? { ...bar, open: 1 / open, high: 1 / low, low: 1 / high, close: 1 / close, volume: volume / close }
      : { ...bar, open: 1, high: 1, low: 1, close: 1 }
  })

const inSol = ({ older, tape }: ChartSources, mint: Mint, page: BarPage, { resolution }: ChartWindow): BarPage => {
  const window = solWindow(page, { resolution })
  if (window === null || mint === SOL) {
    return { ...page, bars: ones(page.bars) }
  }
  const sol = barsOf(tape, older, SOL, { ...window, limit: ALL })
  const { bars, unpriced } = solBars(page.bars, sol.bars, resolution)
  return { ...page, bars, unpriced: page.unpriced + unpriced }
}

const chartBar = ({ close, high, low, open, second, trades, volume }: Bar, factor: number): ChartBar => ({
  t: second * 1000,
  o: open * factor,
  h: high * factor,
  l: low * factor,
  c: close * factor,
  v: volume,
  n: trades
})

/** True when memory has bars from before the window, so that none of the window was dropped. */
const holdsBefore = ({ state }: TradeTape["Service"], mint: Mint, { from, resolution }: ChartWindow): boolean => {
  const before = from === null ? null : state.bars(mint, { resolution, from: null, to: from, limit: 1 })
  return before !== null && before.bars.length + before.unpriced > 0
}

/** The reason why bars at the start of the window are missing; null when none are. */
const lackingBefore = (
  { older, tape }: ChartSources,
  mint: Mint,
  window: ChartWindow,
  page: BarPage,
  nowMs: number
): Lacking => {
  const [first] = page.bars
  const { from, resolution } = window
  if (page.truncated && first !== undefined) {
    return tape.recordedFrom(first.second).reason
  }
  const stored = tape.stored()
  const isFine = widthOf[resolution] < MINUTE
  const kept = Math.min(stored?.keptSeconds(resolution) ?? FOREVER, isFine ? FINE_RETENTION : FOREVER)
  if (from !== null && from < nowMs / 1000 - kept) {
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
  // Blocks of before the token's own first one have nothing of it.
  return createdAtMs !== null && (from === null || from <= began) ? null : tape.recordedFrom(from ?? began).reason
}

/** The second from which on the bars were made of every block; null when there is none. */
const sourceFrom = ({ older, tape }: ChartSources, mint: Mint, { resolution }: ChartWindow): number | null => {
  const since = tape.recordedSince()
  const from = older.isMissing ? Math.max(since, tape.heldSince(mint, resolution)) : since
  return Number.isFinite(from) ? from : null
}

const chartSupply = (supply: Supply | null): ChartSupply => ({
  value: supply === null ? null : fromAtomic(supply.units, supply.decimals),
  basis: "total",
  applied: "current",
  observedAtMs: supply?.observedAtMs ?? null
})

/** The chart of a token as of `nowMs`. A token that never traded has a chart without bars. */
export const solanaChart = (sources: ChartSources, mint: Mint, request: ChartRequest, nowMs: number): KnownChart => {
  const { tape } = sources
  const { denom, mode, resolution } = request
  const window = chartWindow(request)
  const supply = mode === "mcap" ? supplyOf(sources, mint) : null
  const isUnknown = mode === "mcap" && supply === null
  const charted = chartedMint(mint)
  const read = isUnknown ? NO_BARS : barsOf(tape, sources.older, charted, window)
  const page =
    charted !== mint
      ? { ...read, bars: dollarBars(read.bars, denom) }
      : denom === "sol"
        ? inSol(sources, mint, read, window)
        : read
  const factor = supply === null ? 1 : uiNumber(supply.units, supply.decimals)
  const bars = page.bars.map((bar) => chartBar(bar, factor))

  const heardAtMs = tape.heardAtMs()
  const lackingOfNow = lackingNow(tape, nowMs)
  const readUntilMs = lackingOfNow === "backfill_running" ? tape.state.now * 1000 : (heardAtMs ?? 0)
  const reachesNow = window.to === null || window.to * 1000 > readUntilMs
  const silent: Lacking = reachesNow ? lackingOfNow : null
  const unpriced: Lacking = page.unpriced > 0 ? "mark_unknown" : null
  const lacking: Lacking = isUnknown
    ? "supply_unknown"
    : (silent ?? lackingBefore(sources, charted, window, read, nowMs) ?? unpriced)
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
      prevTo: read.truncated ? (read.bars[0]?.second ?? null) : null,
      truncated: read.truncated,
      sourceFrom: sourceFrom(sources, charted, window),
      missingBars: isUnknown ? null : page.unpriced,
      lacking,
      status: isUnknown ? "unavailable" : lacking === "source_stale" ? "stale" : lacking === null ? "known" : "partial",
      // Block times may be ahead of the local clock.
      observedAtMs: tape.state.now === 0 || heardAtMs === null ? null : Math.min(tape.state.now * 1000, heardAtMs),
      supply: mode === "mcap" ? chartSupply(supply) : null,
      nowMs
    })
  }
}

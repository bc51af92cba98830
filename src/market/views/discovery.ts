/** Tokens by how far they are from their launch, and tokens that more and more wallets trade. */
import { Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { DiscoveryRow, DiscoveryStage } from "../../domain/market/MarketViews.ts"
import { decimalText, type Rational } from "../../domain/rational.ts"
import { type Coverage, incomplete, known, type Scalar, unavailable } from "../../domain/Scalar.ts"
import { isMoney } from "../../trades/sides.ts"
import type { LaunchRecord } from "../tape/Launches.ts"
import { AT_A_TIME, MOST_ROWS, MOST_WARMED, type RankedView } from "./movement.ts"
import { isAtLeast, type MeasureSources, measureToken, type MeasureContext, windowStart } from "./tokenMeasures.ts"
import { tokenRef } from "./tokenRef.ts"
import type { TradeTape } from "../tape/TradeTape.ts"
import { type WindowName, windowIndex, windowSeconds } from "../windows/windows.ts"

/** What is looked for. `least` are filters: null asks for nothing. */
export interface DiscoverySelectors {
  readonly stage: DiscoveryStage
  readonly window: WindowName
  readonly launchpads: ReadonlyArray<string> | null
  readonly minLiquidityUsd: Rational | null
  readonly minHolders: Rational | null
}

/** How rows are ordered, as the wire names it. */
export const orderOf: Readonly<Record<DiscoveryStage, string>> = {
  new: "createdAtMs_desc",
  graduating: "curveProgressPct_desc",
  graduated: "graduatedAtMs_desc",
  trending: "tradersGrowth_desc"
}

const MOST_EXAMINED = 1000
/** A curve is about to be complete from here on, in percent. */
const GRADUATING: Rational = { numerator: 60n, denominator: 1n }
/** Tokens that every common curve of Pump.fun has to sell: `initial_real_token_reserves` of its global account. */
const PUMP_FOR_SALE = 793_100_000_000_000n
const PUMP_CURVE = "pump-fun-curve"

/** How much of a curve is sold; unknown of curves whose pool does not say what is left, and of those not in memory. */
const progressOf = ({ pools, tape }: MeasureSources, mint: Mint, { life }: MeasureContext): Scalar => {
  const launch = tape.launches.of(mint)
  if (launch !== null && launch.graduatedAtMs !== null) {
    return known("percent", "100", life)
  }
  // Every curve sells its token for money, which is not on a curve itself.
  const curve = isMoney(mint) ? undefined : pools.poolsOf(mint).find(({ dex }) => dex === PUMP_CURVE)
  const left = curve === undefined ? undefined : curve.reserves?.[curve.mintA === mint ? 0 : 1]
  if (left === undefined || left > PUMP_FOR_SALE) {
    return unavailable("percent", "not_captured")
  }
  return known("percent", decimalText({ numerator: 100n * (PUMP_FOR_SALE - left), denominator: PUMP_FOR_SALE }), life)
}

/** The window that shows what is new in another, and how often it fits. */
const recentOf: Readonly<Record<WindowName, readonly [WindowName, WindowName]>> = {
  "5m": ["5m", "1h"],
  "1h": ["5m", "1h"],
  "6h": ["1h", "6h"],
  "24h": ["6h", "24h"]
}

const secondsOf = (name: WindowName): number => windowSeconds[windowIndex[name]] ?? 0

/** Mints by how many more wallets trade them now than at the pace of the longer window, the most first. */
const trending = ({ state }: TradeTape["Service"], window: WindowName): ReadonlyArray<Mint> => {
  const [short, long] = recentOf[window]
  const recent = new Map<number, number>()
  state.scan(short, (token, { traders }) => void recent.set(token, traders))
  const growing: Array<{ readonly token: number; readonly growth: number }> = []
  state.scan(long, (token, { traders }) => {
    const growth = (recent.get(token) ?? 0) * secondsOf(long) - traders * secondsOf(short)
    if (growth > 0) {
      growing.push({ token, growth })
    }
  })
  return growing
    .toSorted((a, b) => b.growth - a.growth || a.token - b.token)
    .slice(0, MOST_EXAMINED)
    .map(({ token }) => state.mintOfToken(token))
}

const newest = (
  tape: TradeTape["Service"],
  window: WindowName,
  timeOf: (launch: LaunchRecord) => number | null
): ReadonlyArray<Mint> => {
  const from = windowStart(tape, window) * 1000
  return Array.from(tape.launches.all())
    .filter((launch) => (timeOf(launch) ?? 0) >= from)
    .toSorted((a, b) => (timeOf(b) ?? 0) - (timeOf(a) ?? 0) || (a.mint < b.mint ? -1 : 1))
    .map(({ mint }) => mint)
}

const candidates = (tape: TradeTape["Service"], { stage, window }: DiscoverySelectors): ReadonlyArray<Mint> => {
  switch (stage) {
    case "trending":
      return trending(tape, window)
    case "new":
      return newest(tape, window, ({ createdAtMs }) => createdAtMs)
    case "graduated":
      return newest(tape, window, ({ graduatedAtMs }) => graduatedAtMs)
    case "graduating":
      return Array.from(tape.launches.all())
        .filter(({ graduatedAtMs }) => graduatedAtMs === null)
        .map(({ mint }) => mint)
        .toReversed()
  }
}

const HOLDERS = unavailable("count", "not_captured")

const rowOf = (
  sources: MeasureSources,
  mint: Mint,
  { stage, window }: DiscoverySelectors,
  context: MeasureContext
): DiscoveryRow => {
  const { changePct: _changePct, ...measures } = measureToken(sources, mint, window, context)
  const launch = sources.tape.launches.of(mint)
  return {
    token: tokenRef(sources, mint),
    stage,
    launchpad: launch?.launchpad ?? null,
    pool: launch?.pool ?? null,
    createdAtMs: launch?.createdAtMs ?? null,
    graduatedAtMs: launch?.graduatedAtMs ?? null,
    curveProgressPct: progressOf(sources, mint, context),
    ...measures,
    holders: HOLDERS,
    trendBasis: stage === "trending" ? "traders_growth" : null
  }
}

/** Whether a row is let in: null when a filtered value is not known. */
const passesFilters = (
  row: DiscoveryRow,
  { launchpads, minHolders, minLiquidityUsd, stage }: DiscoverySelectors
): boolean | null => {
  if (launchpads !== null && (row.launchpad === null || !launchpads.includes(row.launchpad))) {
    return false
  }
  const checks = new Set([
    stage === "graduating" ? isAtLeast(row.curveProgressPct, GRADUATING) : true,
    minLiquidityUsd === null ? true : isAtLeast(row.liquidityUsd, minLiquidityUsd),
    minHolders === null ? true : isAtLeast(row.holders, minHolders)
  ])
  return checks.has(false) ? false : checks.has(null) ? null : true
}

const byProgress = (a: DiscoveryRow, b: DiscoveryRow): number =>
  Number(b.curveProgressPct.value) - Number(a.curveProgressPct.value) || (a.token.address < b.token.address ? -1 : 1)

/** Looks for tokens, at a few at a time so that nobody has to wait for it. One of which a filtered value is not known is left out and counted. */
export const discoveryView = Effect.fnUntraced(function* (
  sources: MeasureSources,
  selectors: DiscoverySelectors,
  context: MeasureContext,
  coverage: Coverage
): Effect.fn.Return<RankedView<DiscoveryRow>> {
  const rows: Array<DiscoveryRow> = []
  const unloaded: Array<Mint> = []
  const excluded = { unknownRank: 0, unknownFilter: 0 }
  const mints = candidates(sources.tape, selectors)
  const examined = mints.slice(0, MOST_EXAMINED)
  for (const [place, mint] of examined.entries()) {
    if (place % AT_A_TIME === 0) {
      yield* Effect.yieldNow
    }
    const row = rowOf(sources, mint, selectors, context)
    if (row.liquidityUsd.value === null && unloaded.length < MOST_WARMED) {
      unloaded.push(mint)
    }
    const isIncluded = passesFilters(row, selectors)
    if (isIncluded === null) {
      excluded.unknownFilter++
    } else if (isIncluded) {
      rows.push(row)
    }
  }
  const ordered = selectors.stage === "graduating" ? rows.toSorted(byProgress) : rows
  const clipped = ordered.length > MOST_ROWS || mints.length > examined.length
  return {
    rows: ordered.slice(0, MOST_ROWS),
    excluded,
    coverage: coverage.complete && clipped ? incomplete("limit_clipped") : coverage,
    observedAtMs: context.life.observedAtMs,
    unloaded
  }
})

/** Tokens by the stage of their launch, and tokens that more and more wallets trade. */
import { Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { DiscoveryRow, DiscoveryStage } from "../../api/schemas/MarketViews.ts"
import { decimalText, type Rational } from "../../domain/rational.ts"
import { type Coverage, incomplete, known, type Scalar, unavailable } from "../../domain/Scalar.ts"
import type { LaunchRecord } from "../model/Launches.ts"
import { AT_A_TIME, MOST_ROWS, type RankedView } from "./movement.ts"
import {
  isAtLeast,
  type MeasureContext,
  measureReading,
  type MeasureSources,
  readTokens,
  type TokenReading,
  windowStart
} from "./tokenMeasures.ts"
import { tokenRef, tokensToLoad } from "./tokenRef.ts"
import type { Market } from "../tape/Market.ts"
import { secondsOf, type WindowName } from "../model/windows.ts"

/** The selection of tokens. A `min` filter of null is not used. */
export interface DiscoverySelectors {
  readonly stage: DiscoveryStage
  readonly window: WindowName
  readonly launchpads: ReadonlyArray<string> | null
  readonly platforms: ReadonlyArray<string> | null
  readonly minLiquidityUsd: Rational | null
  readonly minHolders: Rational | null
}

/** The order of the rows of each stage, as the wire names it. */
export const orderOf: Readonly<Record<DiscoveryStage, string>> = {
  new: "createdAtMs_desc",
  graduating: "curveProgressPct_desc",
  graduated: "graduatedAtMs_desc",
  trending: "tradersGrowth_desc"
}

const MOST_EXAMINED = 1000
/** A curve counts as graduating from this percentage on. */
const GRADUATING: Rational = { numerator: 60n, denominator: 1n }

/** How far a curve has come, in percent; unknown when its pool is not in memory or does not show the end. */
export const progressOf = (
  { pools }: MeasureSources,
  mint: Mint,
  launch: LaunchRecord | null,
  { life }: MeasureContext
): Scalar => {
  if (launch !== null && launch.graduatedAtMs !== null) {
    return known("percent", "100", life)
  }
  const { denominator, numerator } = pools.graduationOf(mint) ?? { numerator: 0n, denominator: 0n }
  return denominator === 0n
    ? unavailable("percent", "not_captured")
    : known("percent", decimalText({ numerator: 100n * numerator, denominator }), life)
}

/** The two windows, short and long, whose wallets are compared. */
const recentOf: Readonly<Record<WindowName, readonly [WindowName, WindowName]>> = {
  "5m": ["5m", "1h"],
  "1h": ["5m", "1h"],
  "6h": ["1h", "6h"],
  "24h": ["6h", "24h"]
}

/** Mints whose number of wallets grows, fastest first: the rate in the short window less the rate in the long one. */
const trending = ({ state }: Market["Service"], window: WindowName): ReadonlyArray<Mint> => {
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
  tape: Market["Service"],
  window: WindowName,
  timeOf: (launch: LaunchRecord) => number | null
): ReadonlyArray<Mint> => {
  const from = windowStart(tape, window) * 1000
  return Array.from(tape.launches.all())
    .filter((launch) => (timeOf(launch) ?? 0) >= from)
    .toSorted((a, b) => (timeOf(b) ?? 0) - (timeOf(a) ?? 0) || (a.mint < b.mint ? -1 : 1))
    .map(({ mint }) => mint)
}

const candidates = (tape: Market["Service"], { stage, window }: DiscoverySelectors): ReadonlyArray<Mint> => {
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

const NO_HOLDERS = unavailable("count", "not_captured")

const rowOf = (
  sources: MeasureSources,
  reading: TokenReading,
  { stage }: DiscoverySelectors,
  context: MeasureContext
): DiscoveryRow => {
  const { launch, mint } = reading
  const { changePct: _changePct, changeSince: _changeSince, ...measures } = measureReading(sources, reading, context)
  return {
    token: tokenRef(sources, mint),
    stage,
    launchpad: launch?.launchpad ?? null,
    platform: launch?.platform ?? null,
    pool: launch?.pool ?? null,
    createdAtMs: launch?.createdAtMs ?? null,
    graduatedAtMs: launch?.graduatedAtMs ?? null,
    curveProgressPct: progressOf(sources, mint, launch, context),
    ...measures,
    holders: sources.holders?.countOf(mint, context.nowMs) ?? NO_HOLDERS,
    trendBasis: stage === "trending" ? "traders_growth" : null
  }
}

/** True when a row passes the filters; null when a filtered value is unknown. */
const passesFilters = (
  row: DiscoveryRow,
  { launchpads, platforms, minHolders, minLiquidityUsd, stage }: DiscoverySelectors
): boolean | null => {
  if (launchpads !== null && (row.launchpad === null || !launchpads.includes(row.launchpad))) {
    return false
  }
  if (platforms !== null && (row.platform === null || !platforms.includes(row.platform))) {
    return false
  }
  const checks = new Set([
    stage === "graduating" ? isAtLeast(row.curveProgressPct, GRADUATING) : true,
    minLiquidityUsd === null ? true : isAtLeast(row.liquidityUsd, minLiquidityUsd),
    minHolders === null ? true : isAtLeast(row.holders, minHolders)
  ])
  return checks.has(false) ? false : checks.has(null) ? null : true
}

/** Follows the holders of a token for later pages, as long as that drops no other token. */
const followHolders = ({ holders, tokens }: MeasureSources, mint: Mint, { nowMs }: MeasureContext): void => {
  const state = tokens.read(mint)
  if (state?._tag === "Token" && state.facts !== null) {
    holders?.suggest(mint, state.facts.tokenProgram, nowMs)
  }
}

const byProgress = (a: DiscoveryRow, b: DiscoveryRow): number =>
  Number(b.curveProgressPct.value) - Number(a.curveProgressPct.value) || (a.token.address < b.token.address ? -1 : 1)

/**
 * Reads the tokens of a stage at one moment, then measures them, yielding every few tokens. Leaves out and counts
 * tokens with an unknown filtered value.
 */
export const discoveryView = Effect.fnUntraced(function* (
  sources: MeasureSources,
  selectors: DiscoverySelectors,
  context: MeasureContext,
  coverage: Coverage
): Effect.fn.Return<RankedView<DiscoveryRow>> {
  const rows: Array<DiscoveryRow> = []
  const shown: Array<readonly [Mint, string | null]> = []
  const excluded = { unknownRank: 0, unknownFilter: 0 }
  const mints = candidates(sources.tape, selectors)
  const examined = readTokens(sources.tape, mints.slice(0, MOST_EXAMINED), selectors.window, context.nowMs)
  for (const [place, reading] of examined.entries()) {
    if (place % AT_A_TIME === 0) {
      yield* Effect.yieldNow
    }
    const { mint } = reading
    const row = rowOf(sources, reading, selectors, context)
    shown.push([mint, row.liquidityUsd.value])
    if (selectors.minHolders !== null && row.holders.value === null) {
      followHolders(sources, mint, context)
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
    slot: context.slot,
    observedAtMs: context.life.observedAtMs,
    expiresAtMs: context.life.expiresAtMs,
    unloaded: tokensToLoad(sources, shown)
  }
})

/** Tokens in ranges of their statistics, in the order of one of them. */
import { Effect } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { ScreenRow, ScreenStatistic } from "../../api/schemas/TokenScreen.ts"
import { compare, type Rational } from "../../domain/rational.ts"
import { type Coverage, incomplete, type Scalar } from "../../domain/Scalar.ts"
import { authoritiesOf } from "../../tokens/authorities.ts"
import type { TokenBook } from "../../tokens/TokenBook.ts"
import { isMoney } from "../../domain/stables.ts"
import type { LaunchRecord } from "../model/Launches.ts"
import { eachWindow } from "../model/windows.ts"
import { AT_A_TIME, MOST_ROWS, type RankedView } from "./movement.ts"
import { candidatesOf, type PlainRange } from "./screenCandidates.ts"
import { type ScreenReading, type StatisticSources, statisticsOf, windowsOf } from "./screenStatistics.ts"
import { type MeasureContext, numberOf, readTokens } from "./tokenMeasures.ts"
import { tokenRef, tokensToLoad } from "./tokenRef.ts"
import { readWindow } from "./tokenStats.ts"

/** A range of one statistic; null is no bound. */
export interface ScreenRange {
  readonly statistic: ScreenStatistic
  readonly min: Rational | null
  readonly max: Rational | null
  readonly takesUnknown: boolean
}

/** What is screened; null does not filter. */
export interface ScreenSelectors {
  readonly ranges: ReadonlyArray<ScreenRange>
  readonly mints: ReadonlyArray<Mint> | null
  readonly launchpads: ReadonlyArray<string> | null
  readonly platforms: ReadonlyArray<string> | null
  readonly venues: ReadonlyArray<string> | null
  readonly creator: Address | null
  readonly graduated: boolean | null
  readonly mintAuthority: "revoked" | "active" | null
  readonly freezeAuthority: "revoked" | "active" | null
  readonly sort: { readonly statistic: ScreenStatistic; readonly direction: "asc" | "desc" }
  readonly show: ReadonlyArray<ScreenStatistic>
}

/** The sources of a screen. */
export interface ScreenSources extends StatisticSources {
  readonly tokens: Pick<TokenBook["Service"], "commitment" | "read">
}

/** The most tokens that are measured. */
export const MOST_EXAMINED = 1000

/** The number nearest to a bound. */
const plainOf = (bound: Rational | null, none: number): number =>
  bound === null ? none : Number(bound.numerator) / Number(bound.denominator)

const plainRange = ({ max, min, statistic, takesUnknown }: ScreenRange): PlainRange => ({
  statistic,
  min: plainOf(min, Number.NEGATIVE_INFINITY),
  max: plainOf(max, Number.POSITIVE_INFINITY),
  takesUnknown
})

/** True when every check holds; false when one does not; null when one is unknown and none is false. */
const all = (checks: ReadonlyArray<boolean | null>): boolean | null =>
  checks.includes(false) ? false : checks.includes(null) ? null : true

const isOneOf = (label: string | null | undefined, labels: ReadonlyArray<string> | null): boolean | null =>
  labels === null ? true : label === null || label === undefined ? null : labels.includes(label)

/** Whether a launch is wanted. A token whose launch was not seen is unknown to every filter of launches. */
const passesLaunch = (
  launch: LaunchRecord | null,
  { creator, graduated, launchpads, platforms }: ScreenSelectors
): boolean | null =>
  all([
    isOneOf(launch?.launchpad, launchpads),
    isOneOf(launch?.platform, platforms),
    isOneOf(launch?.creator, creator === null ? null : [creator]),
    graduated === null ? true : launch === null ? null : (launch.graduatedAtMs !== null) === graduated
  ])

const agrees = (wanted: "revoked" | "active" | null, held: Address | null): boolean =>
  wanted === null || (held === null) === (wanted === "revoked")

const hasAuthorities = (
  { tokens }: ScreenSources,
  mint: Mint,
  { freezeAuthority, mintAuthority }: ScreenSelectors,
  nowMs: number
): boolean | null => {
  if (mintAuthority === null && freezeAuthority === null) {
    return true
  }
  const state = tokens.read(mint)
  const found = state?._tag === "Token" ? authoritiesOf({ ...state, commitment: tokens.commitment }, nowMs) : null
  if (found === null || !found.authoritiesKnown) {
    return null
  }
  return agrees(mintAuthority, found.mintAuthority) && agrees(freezeAuthority, found.freezeAuthority)
}

/** The venues of a token's pools; null when they are not known. SOL and dollars are in most pools, and are of no venue. */
const venuesOf = ({ pools }: ScreenSources, mint: Mint): ReadonlyArray<string> | null =>
  !pools.isLoaded(mint) || isMoney(mint)
    ? null
    : Array.from(new Set(pools.poolsOf(mint).map(({ dex }) => dex))).toSorted()

/** True when a value is in a range; null when it is unknown and the range does not take that. */
const isInRange = (scalar: Scalar, { max, min, takesUnknown }: ScreenRange): boolean | null => {
  const value = numberOf(scalar)
  return value === null
    ? takesUnknown || null
    : (min === null || compare(value, min) >= 0) && (max === null || compare(value, max) <= 0)
}

/** Every statistic that a row shows, each once. */
const shownBy = ({ ranges, show, sort }: ScreenSelectors): ReadonlyArray<ScreenStatistic> =>
  Array.from(new Set([...ranges.map(({ statistic }) => statistic), sort.statistic, ...show]))

/** Reads the candidates at one slot without a yield. */
const readCandidates = (
  { tape }: ScreenSources,
  mints: ReadonlyArray<Mint>,
  shown: ReadonlyArray<ScreenStatistic>,
  nowMs: number
): ReadonlyArray<ScreenReading> => {
  const wanted = windowsOf(shown)
  return readTokens(tape, mints, "24h", nowMs).map((day) => ({
    mint: day.mint,
    day,
    lastSecond: tape.state.seen(day.mint)?.last ?? null,
    windows: eachWindow((window) => {
      const want = wanted[window]
      return want === null ? null : readWindow(tape, day.mint, window, { nowMs, ...want })
    })
  }))
}

interface Examined {
  readonly row: Omit<ScreenRow, "rank">
  readonly passes: boolean | null
  readonly liquidity: string | null
}

const NEEDS_HOLDERS: ReadonlySet<ScreenStatistic> = new Set(["holders", "top10Pct", "top50Pct", "creatorPct"])

/** Follows the holders of a token whose figures are wanted, if there is room. */
const suggestHolders = ({ holders, tokens }: ScreenSources, mint: Mint, nowMs: number): void => {
  const state = tokens.read(mint)
  if (state?._tag === "Token" && state.facts !== null) {
    holders.suggest(mint, state.facts.tokenProgram, nowMs)
  }
}

const examine = (
  sources: ScreenSources,
  selectors: ScreenSelectors,
  shown: ReadonlyArray<ScreenStatistic>,
  reading: ScreenReading,
  context: MeasureContext
): Examined => {
  const { mint } = reading
  const { launch } = reading.day
  const valueOf = statisticsOf(sources, reading, context)
  const values = Object.fromEntries(shown.map((statistic) => [statistic, valueOf(statistic)]))
  const venues = venuesOf(sources, mint)
  if (shown.some((statistic) => NEEDS_HOLDERS.has(statistic) && values[statistic]?.value === null)) {
    suggestHolders(sources, mint, context.nowMs)
  }
  return {
    passes: all([
      hasAuthorities(sources, mint, selectors, context.nowMs),
      selectors.venues === null ? true : (venues?.some((venue) => selectors.venues?.includes(venue)) ?? null),
      ...selectors.ranges.map((range) => isInRange(valueOf(range.statistic), range))
    ]),
    liquidity: valueOf("liquidityUsd").value,
    row: {
      token: tokenRef(sources, mint),
      launchpad: launch?.launchpad ?? null,
      platform: launch?.platform ?? null,
      creator: launch?.creator ?? null,
      createdAtMs: launch?.createdAtMs ?? null,
      graduatedAtMs: launch?.graduatedAtMs ?? null,
      venues,
      values
    }
  }
}

/** The rows by their own values, unknown ones last, equal ones in the order of the candidates. */
const inOrder = (rows: ReadonlyArray<Omit<ScreenRow, "rank">>, { sort }: ScreenSelectors): ReadonlyArray<ScreenRow> => {
  const sign = sort.direction === "desc" ? -1 : 1
  return rows
    .map((row) => {
      const scalar = row.values[sort.statistic]
      return { row, value: scalar === undefined ? null : numberOf(scalar) }
    })
    .toSorted(
      (a, b) =>
        Number(a.value === null) - Number(b.value === null) ||
        (a.value === null || b.value === null ? 0 : sign * compare(a.value, b.value))
    )
    .slice(0, MOST_ROWS)
    .map(({ row }, place) => ({ rank: place + 1, ...row }))
}

/**
 * Rules tokens out by plain numbers, reads the rest at one slot, then measures them exactly, yielding every few tokens.
 * Leaves out and counts tokens with an unknown filtered value.
 */
export const screenView = Effect.fnUntraced(function* (
  sources: ScreenSources,
  selectors: ScreenSelectors,
  context: MeasureContext,
  coverage: Coverage
): Effect.fn.Return<RankedView<ScreenRow>> {
  const { nowMs } = context
  const shown = shownBy(selectors)
  const named = selectors.mints === null ? null : new Set(selectors.mints)
  const found = candidatesOf(
    sources.tape,
    {
      ranges: selectors.ranges.map(plainRange),
      sort: selectors.sort,
      isWanted: (mint, launch) => (named?.has(mint) === false ? false : passesLaunch(launch, selectors))
    },
    nowMs,
    MOST_EXAMINED
  )
  const readings = readCandidates(sources, found.mints, shown, nowMs)
  const rows: Array<Omit<ScreenRow, "rank">> = []
  const seen: Array<readonly [Mint, string | null]> = []
  // Rows with a known sort value. Unknown ones come last, so they end no search.
  let [examined, unknown, sorted] = [0, found.unknown, 0]
  for (const reading of readings) {
    // Past the last row an order that is known beforehand has nothing to add.
    if (found.isInOrder && sorted > MOST_ROWS) {
      break
    }
    if (examined % AT_A_TIME === 0) {
      yield* Effect.yieldNow
    }
    const { liquidity, passes, row } = examine(sources, selectors, shown, reading, context)
    examined++
    if (passes !== false) {
      seen.push([reading.mint, liquidity])
    }
    if (passes === null) {
      unknown++
    } else if (passes) {
      rows.push(row)
      const value = row.values[selectors.sort.statistic]
      sorted += value === undefined || numberOf(value) === null ? 0 : 1
    }
  }
  const isCut = rows.length > MOST_ROWS || found.isCut
  return {
    rows: inOrder(rows, selectors),
    excluded: { unknownRank: 0, unknownFilter: unknown },
    coverage: coverage.complete && isCut ? incomplete("limit_clipped") : coverage,
    slot: context.slot,
    ...context.life,
    unloaded: tokensToLoad(sources, seen),
    screened: { tokens: found.tokens, examined }
  }
})

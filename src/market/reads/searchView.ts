/** Tokens that match a text, in order, with what is known about each. */
import { Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { TokenRef } from "../../api/schemas/Token.ts"
import type { FoundRow } from "../../api/schemas/TokenSearch.ts"
import { compare, type Rational } from "../../domain/rational.ts"
import { type Coverage, incomplete } from "../../domain/Scalar.ts"
import { authoritiesOf } from "../../tokens/authorities.ts"
import type { TokenBook } from "../../tokens/TokenBook.ts"
import { isMoney } from "../../domain/stables.ts"
import { AT_A_TIME, MOST_ROWS, type RankedView } from "./movement.ts"
import {
  isAtLeast,
  liquidityScalar,
  type MeasureContext,
  type MeasureSources,
  measureReading,
  numberOf,
  readTokens,
  type TokenReading
} from "./tokenMeasures.ts"
import { tokenRef, tokensToLoad } from "./tokenRef.ts"
import { makeLookAlikes } from "./lookAlikes.ts"
import { escapeHidden } from "./matchingText.ts"
import { type FoundToken, rankOf, type SearchIndex } from "./SearchIndex.ts"

/** The text and the filters of a search; null does not filter. */
export interface SearchSelectors {
  readonly text: string
  readonly minLiquidityUsd: Rational | null
  readonly minVolumeUsd: Rational | null
  readonly minAgeSeconds: number | null
  readonly maxAgeSeconds: number | null
  readonly venues: ReadonlyArray<string> | null
  readonly launchpads: ReadonlyArray<string> | null
  /** True: both authorities given up. False: at least one held. */
  readonly authoritiesRevoked: boolean | null
}

/** The sources of a search. */
export interface SearchSources extends MeasureSources {
  readonly tokens: Pick<TokenBook["Service"], "commitment" | "read">
  readonly index: Pick<SearchIndex, "alike" | "find" | "named" | "of" | "size">
}

/** The most matches that are measured: the best, and among equals the most traded. */
const MOST_EXAMINED = 200

const NO_AUTHORITIES = { mintAuthority: null, freezeAuthority: null, authoritiesKnown: false }

const authorities = (
  { tokens }: SearchSources,
  mint: Mint,
  nowMs: number
): typeof NO_AUTHORITIES | Pick<FoundRow, keyof typeof NO_AUTHORITIES> => {
  const state = tokens.read(mint)
  if (state?._tag !== "Token") {
    return NO_AUTHORITIES
  }
  const { authoritiesKnown, freezeAuthority, mintAuthority } = authoritiesOf(
    { ...state, commitment: tokens.commitment },
    nowMs
  )
  return { authoritiesKnown, freezeAuthority, mintAuthority }
}

/** The token by its name in memory, else by its name in the index. */
const refOf = (sources: SearchSources, mint: Mint): TokenRef => {
  const ref = tokenRef(sources, mint)
  const names = sources.index.of(mint)?.names ?? null
  return { ...ref, symbol: ref.symbol ?? names?.symbol ?? null, name: ref.name ?? names?.name ?? null }
}

const venuesOf = ({ pools }: SearchSources, mint: Mint): ReadonlyArray<string> | null =>
  // SOL and dollars are in most pools, and are not tokens of a venue.
  !pools.isLoaded(mint) || isMoney(mint)
    ? null
    : Array.from(new Set(pools.poolsOf(mint).map(({ dex }) => dex))).toSorted()

type Unjudged = Omit<FoundRow, "lookAlike">

const rowOf = (
  sources: SearchSources,
  match: FoundToken["match"],
  reading: TokenReading,
  context: MeasureContext
): Unjudged => {
  const { launch, mint } = reading
  const { changePct: _changePct, changeSince: _changeSince, ...measures } = measureReading(sources, reading, context)
  const token = refOf(sources, mint)
  return {
    token,
    match,
    shownSymbol: token.symbol === null ? null : escapeHidden(token.symbol),
    shownName: token.name === null ? null : escapeHidden(token.name),
    launchpad: launch?.launchpad ?? null,
    venues: venuesOf(sources, mint),
    createdAtMs: launch?.createdAtMs ?? null,
    ...authorities(sources, mint, context.nowMs),
    ...measures
  }
}

const hasAge = (
  { createdAtMs }: Unjudged,
  { maxAgeSeconds, minAgeSeconds }: SearchSelectors,
  nowMs: number
): boolean | null => {
  if (minAgeSeconds === null && maxAgeSeconds === null) {
    return true
  }
  if (createdAtMs === null) {
    return null
  }
  const age = (nowMs - createdAtMs) / 1000
  return age >= (minAgeSeconds ?? 0) && age <= (maxAgeSeconds ?? Number.POSITIVE_INFINITY)
}

const hasAuthorities = (row: Unjudged, revoked: boolean | null): boolean | null =>
  revoked === null
    ? true
    : row.authoritiesKnown
      ? (row.mintAuthority === null && row.freezeAuthority === null) === revoked
      : null

/** True when a row passes the filters; null when a filtered value is unknown. */
const passesFilters = (row: Unjudged, selectors: SearchSelectors, nowMs: number): boolean | null => {
  const { authoritiesRevoked, launchpads, minLiquidityUsd, minVolumeUsd, venues } = selectors
  const checks = new Set([
    launchpads === null || row.launchpad === null ? launchpads === null || null : launchpads.includes(row.launchpad),
    venues === null || row.venues === null
      ? venues === null || null
      : row.venues.some((venue) => venues.includes(venue)),
    minLiquidityUsd === null ? true : isAtLeast(row.liquidityUsd, minLiquidityUsd),
    minVolumeUsd === null ? true : isAtLeast(row.volumeUsd, minVolumeUsd),
    hasAge(row, selectors, nowMs),
    hasAuthorities(row, authoritiesRevoked)
  ])
  return checks.has(false) ? false : checks.has(null) ? null : true
}

const LEAST: Rational = { numerator: -1n, denominator: 1n }

/** The better match first, then more liquidity, then more volume. Unknown values come last. */
const inOrder = (rows: ReadonlyArray<Unjudged>): ReadonlyArray<Unjudged> =>
  rows
    .map((row) => ({
      row,
      rank: rankOf(row.match),
      liquidity: numberOf(row.liquidityUsd) ?? LEAST,
      volume: numberOf(row.volumeUsd) ?? LEAST
    }))
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        compare(b.liquidity, a.liquidity) ||
        compare(b.volume, a.volume) ||
        (a.row.token.address < b.row.token.address ? -1 : 1)
    )
    .map(({ row }) => row)

/** A row, and the mint that has to come before it. */
interface Judged {
  readonly row: FoundRow
  readonly behind: Mint | null
}

/** The rows in their order, with each look-alike after the mint that it imitates. */
const behindOriginals = (judged: ReadonlyArray<Judged>): ReadonlyArray<FoundRow> => {
  const byMint = new Map(judged.map((each) => [each.row.token.address, each]))
  const met = new Set<Mint>()
  const rows: Array<FoundRow> = []
  const add = ({ behind, row }: Judged): void => {
    if (met.has(row.token.address)) {
      return
    }
    met.add(row.token.address)
    const original = behind === null ? undefined : byMint.get(behind)
    if (original !== undefined) {
      add(original)
    }
    rows.push(row)
  }
  judged.forEach(add)
  return rows
}

/** Incomplete when matches were cut off, and while some mints have no known name: such a mint matches no text. */
const coverageOf = ({ named, size }: SearchSources["index"], isCut: boolean): Coverage =>
  isCut ? incomplete("limit_clipped") : named < size ? incomplete("not_captured") : { complete: true, reason: null }

/**
 * Reads the matching tokens at one moment, then measures them, yielding every few tokens. Leaves out and counts tokens
 * with an unknown filtered value.
 */
export const searchView = Effect.fnUntraced(function* (
  sources: SearchSources,
  selectors: SearchSelectors,
  context: MeasureContext
): Effect.fn.Return<RankedView<FoundRow>> {
  const { index } = sources
  const { found, isCut } = index.find(selectors.text, MOST_EXAMINED)
  const rows: Array<Unjudged> = []
  const excluded = { unknownRank: 0, unknownFilter: 0 }
  const mints = found.map(({ token: { mint } }) => mint)
  const readings = readTokens(sources.tape, mints, "24h", context.nowMs)
  for (const [place, reading] of readings.entries()) {
    if (place % AT_A_TIME === 0) {
      yield* Effect.yieldNow
    }
    const match = found[place]?.match
    if (match === undefined) {
      continue
    }
    const row = rowOf(sources, match, reading, context)
    const passes = passesFilters(row, selectors, context.nowMs)
    if (passes === true) {
      rows.push(row)
    } else if (passes === null) {
      excluded.unknownFilter++
    }
  }
  const known = new Map(rows.map(({ liquidityUsd, token }) => [token.address, numberOf(liquidityUsd)]))
  const verdictOf = makeLookAlikes({
    alike: (skeleton) => index.alike(skeleton),
    liquidityOf: (mint) => {
      const liquidity = known.get(mint)
      return liquidity === undefined ? numberOf(liquidityScalar(sources, mint, context)) : liquidity
    },
    refOf: (mint) => refOf(sources, mint)
  })
  const ordered = inOrder(rows).slice(0, MOST_ROWS)
  const judged = behindOriginals(
    ordered.flatMap((row): ReadonlyArray<Judged> => {
      const token = index.of(row.token.address)
      if (token === null) {
        return []
      }
      const { behind, lookAlike } = verdictOf(token)
      return [{ row: { ...row, lookAlike }, behind }]
    })
  )
  return {
    rows: judged,
    excluded,
    coverage: coverageOf(index, isCut || rows.length > MOST_ROWS),
    slot: context.slot,
    ...context.life,
    unloaded: tokensToLoad(
      sources,
      judged.map(({ liquidityUsd, token }) => [token.address, liquidityUsd.value])
    )
  }
})

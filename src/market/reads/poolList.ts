/** Pools in the order of their volume, liquidity or age. */
import { Effect } from "effect"
import type { ListedPool, PoolProvenance, PoolSort } from "../../api/schemas/PoolList.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { compare, type Rational } from "../../domain/rational.ts"
import { type Coverage, type CoverageReason, incomplete, type Scalar, unavailable } from "../../domain/Scalar.ts"
import { launchpads } from "../../programs/launchpads.ts"
import type { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { baseMintOf, depthOf } from "../../tokens/liquidity.ts"
import { otherSide } from "../../tokens/poolPrice.ts"
import { usdScalar } from "../../tokens/scalars.ts"
import type { LiquidityRecord } from "../model/StoredLiquidity.ts"
import { poolsOpenedIn } from "../model/StoredLiquidity.ts"
import type { SwappedPool } from "../memory/PoolVolumes.ts"
import type { Market } from "../tape/Market.ts"
import { volumeScalar } from "./measures.ts"
import { MOST_ROWS, type RankedView } from "./movement.ts"
import { type MeasureContext, numberOf, windowStart } from "./tokenMeasures.ts"
import { tokenRef, tokensToLoad, type TokenSources } from "./tokenRef.ts"

/** What is listed; null does not filter. */
export interface PoolSelectors {
  /** Either mint of the pool. */
  readonly token: Mint | null
  readonly quoteMint: Mint | null
  readonly venues: ReadonlyArray<string> | null
  readonly minLiquidityUsd: Rational | null
  readonly createdSinceMs: number | null
  readonly provenance: PoolProvenance | null
  readonly sort: PoolSort
}

/** The sources of a list of pools. */
export interface PoolSources extends TokenSources {
  readonly tape: Market["Service"]
  readonly pools: Pick<PoolBook["Service"], "poolAt" | "poolsOf">
}

/** The most pools that are measured exactly, and the most new pools that are read from the store. */
const MOST_EXAMINED = 1000
const MOST_OPENED = 10_000
/** Pools that are looked at between two yields, in plain numbers. */
const PLAIN_AT_A_TIME = 512
const DAY_MS = 86_400_000

/** A pool, as far as it is known without its accounts. */
interface KnownPool extends SwappedPool {
  readonly pool: Address
  /** When the instruction that created it ran; null when it was not seen. */
  readonly openedAtMs: number | null
}

/** Venues whose pools are the curves of launchpads. */
const curveVenues: ReadonlySet<string> = new Set(launchpads.map(({ dex }) => dex))

const openedPool = ({ dex, pool, sides, timeMs }: LiquidityRecord): KnownPool | null => {
  const [a, b] = [sides[0]?.mint, sides[1]?.mint]
  if (a === undefined || b === undefined) {
    return null
  }
  const mint = baseMintOf({ mintA: a, mintB: b })
  return { pool, mint, quoteMint: mint === a ? b : a, dex, openedAtMs: timeMs }
}

/** New pools in the store and in blocks that are not stored yet. `isMissing` when the store does not answer. */
const readOpened = Effect.fnUntraced(function* ({ tape }: PoolSources, fromMs: number) {
  const [stored, unstored] = [tape.stored(), tape.unstored()]
  const recent = poolsOpenedIn(unstored, fromMs, MOST_OPENED)
  const found =
    stored === null
      ? null
      : yield* stored.trades.poolsOpened(fromMs, MOST_OPENED).pipe(Effect.orElseSucceed(() => null))
  return {
    events: [...(found?.events ?? []), ...recent],
    isMissing: stored !== null && found === null,
    isCut: found !== null && found.events.length === MOST_OPENED,
    /** Pools that were created before this second may be missing. */
    from: found?.from ?? Number.NEGATIVE_INFINITY
  }
})

/** Every pool that the list may show, by address. */
const gather = (
  { pools, tape }: PoolSources,
  { token }: PoolSelectors,
  opened: ReadonlyArray<LiquidityRecord>
): Map<Address, KnownPool> => {
  const known = new Map<Address, KnownPool>()
  for (const [pool, { dex, mint, quoteMint }] of tape.state.pools.traded(tape.state.now)) {
    known.set(pool, { pool, mint, quoteMint, dex, openedAtMs: null })
  }
  for (const event of opened) {
    const pool = openedPool(event)
    if (pool !== null) {
      known.set(pool.pool, { ...pool, ...known.get(pool.pool), openedAtMs: pool.openedAtMs })
    }
  }
  for (const pool of token === null ? [] : pools.poolsOf(token)) {
    const mint = baseMintOf(pool)
    const { address, dex } = pool
    const openedAtMs = known.get(address)?.openedAtMs ?? null
    known.set(address, { pool: address, mint, quoteMint: otherSide(pool, mint), dex, openedAtMs })
  }
  return known
}

/** The pool with the mints that its accounts state, if it is in memory. */
const withAccounts = ({ pools }: PoolSources, known: KnownPool): KnownPool => {
  const pool = known.quoteMint === null ? pools.poolAt(known.pool) : null
  if (pool === null) {
    return known
  }
  const mint = baseMintOf(pool)
  return { ...known, mint, quoteMint: otherSide(pool, mint) }
}

interface Origin {
  readonly provenance: PoolProvenance | null
  readonly launchpad: string | null
  readonly createdAtMs: number | null
}

const originOf = ({ tape }: PoolSources, { dex, mint, openedAtMs, pool }: KnownPool): Origin => {
  const launch = tape.launches.of(mint)
  const launchpad = launch?.launchpad ?? null
  if (launch?.curve === pool) {
    return { provenance: "curve", launchpad, createdAtMs: launch.createdAtMs }
  }
  if (launch?.pool === pool && launch.graduatedAtMs !== null) {
    return { provenance: "graduated", launchpad, createdAtMs: openedAtMs ?? launch.graduatedAtMs }
  }
  const isCurve = dex !== null && curveVenues.has(dex)
  return { provenance: isCurve ? "curve" : openedAtMs === null ? null : "created", launchpad, createdAtMs: openedAtMs }
}

/** True when a pool passes every filter but the one of its liquidity; null when one is unknown and none is false. */
const isWanted = (
  { mint, quoteMint, dex }: KnownPool,
  { createdAtMs, provenance }: Origin,
  selectors: PoolSelectors
): boolean | null => {
  const { createdSinceMs, quoteMint: quote, token, venues } = selectors
  const checks = new Set([
    token === null || mint === token || quoteMint === token || (quoteMint === null ? null : false),
    quote === null || (quoteMint === null ? null : quoteMint === quote),
    venues === null || (dex === null ? null : venues.includes(dex)),
    createdSinceMs === null || (createdAtMs === null ? null : createdAtMs >= createdSinceMs),
    selectors.provenance === null || (provenance === null ? null : provenance === selectors.provenance)
  ])
  return checks.has(false) ? false : checks.has(null) ? null : true
}

/** The reserves of a pool in dollars. */
const liquidityOf = ({ pools }: PoolSources, address: Address, { nowMs, prices }: MeasureContext): Scalar => {
  const pool = pools.poolAt(address)
  if (pool === null) {
    return unavailable("usd", "not_captured")
  }
  const { lacking, micro } = depthOf([pool], prices)
  return usdScalar(prices, micro, lacking, nowMs)
}

const plainLiquidity = ({ pools }: PoolSources, address: Address, { prices }: MeasureContext): number => {
  const pool = pools.poolAt(address)
  const micro = pool === null ? null : depthOf([pool], prices).micro
  return micro === null ? Number.NaN : Number(micro)
}

/** The value that decides the order, as the nearest number; NaN when it is unknown. */
const plainOf = (
  sources: PoolSources,
  { pool }: KnownPool,
  { createdAtMs }: Origin,
  sort: PoolSort,
  context: MeasureContext
): number => {
  switch (sort) {
    case "volume":
      return sources.tape.state.pools.glance(pool, sources.tape.state.now)
    case "liquidity":
      return plainLiquidity(sources, pool, context)
    case "new":
      return createdAtMs ?? Number.NaN
  }
}

interface Candidate {
  readonly known: KnownPool
  readonly origin: Origin
  readonly value: number
}

/** Volume of a pool since the window began, or since the pool was created. */
const volumeOf = (
  { tape }: PoolSources,
  { known: { pool }, origin: { createdAtMs } }: Candidate,
  { life, nowMs }: MeasureContext
): { readonly volume: Scalar; readonly trades: number } => {
  const { trades, unpriced, volumeUsdNanos } = tape.state.pools.read(pool, tape.state.now)
  const from = windowStart(tape, "24h")
  const begin = createdAtMs === null ? from : Math.max(from, Math.floor(createdAtMs / 1000) + 1)
  const whole = tape.coverageFrom(from, nowMs)
  const read = whole.complete ? whole : tape.coverageFrom(begin, nowMs)
  const covered = begin < tape.state.pools.heldFrom ? incomplete("limit_clipped") : read
  return { volume: volumeScalar({ nanos: volumeUsdNanos, trades, unpriced }, covered, life), trades }
}

const rowOf = (
  sources: PoolSources,
  candidate: Candidate,
  liquidityUsd: Scalar,
  context: MeasureContext
): Omit<ListedPool, "rank"> => {
  const { known, origin } = candidate
  const { trades, volume } = volumeOf(sources, candidate, context)
  return {
    pool: known.pool,
    dex: known.dex,
    token: tokenRef(sources, known.mint),
    quoteMint: known.quoteMint,
    ...origin,
    liquidityUsd,
    volume24hUsd: volume,
    trades24h: trades
  }
}

/** Why pools may be missing from the list; null when none are. */
const lackingIn = (
  opened: { readonly from: number; readonly isMissing: boolean; readonly isCut: boolean },
  sinceMs: number,
  isCut: boolean
): CoverageReason | null => {
  if (opened.isMissing) {
    return "deadline"
  }
  return opened.from * 1000 > sinceMs ? "not_captured" : opened.isCut || isCut ? "limit_clipped" : null
}

const sortValue = (row: Omit<ListedPool, "rank">, sort: PoolSort): Rational | null =>
  sort === "new"
    ? row.createdAtMs === null
      ? null
      : { numerator: BigInt(row.createdAtMs), denominator: 1n }
    : numberOf(sort === "volume" ? row.volume24hUsd : row.liquidityUsd)

/** A row with the exact value that decides its place, or null, and what was seen of it as a plain number. */
interface Ranked {
  readonly row: Omit<ListedPool, "rank">
  readonly value: Rational | null
  readonly seen: number
}

const byValue = (a: Ranked, b: Ranked): number => {
  if (a.value === null || b.value === null) {
    return a.value === b.value ? b.seen - a.seen : a.value === null ? 1 : -1
  }
  return compare(b.value, a.value)
}

/** The rows by their exact values, then rows whose value is not known whole by what was seen. Equal ones by address. */
const inOrder = (rows: ReadonlyArray<Ranked>): ReadonlyArray<ListedPool> =>
  rows
    .toSorted((a, b) => byValue(a, b) || (a.row.pool < b.row.pool ? -1 : 1))
    .slice(0, MOST_ROWS)
    .map(({ row }, place) => ({ rank: place + 1, ...row }))

/**
 * Orders the pools by plain numbers, yielding every few hundred, and measures the first of them exactly in one step.
 * Leaves out and counts pools whose sort value or a filtered value is unknown.
 */
export const poolList = Effect.fnUntraced(function* (
  sources: PoolSources,
  selectors: PoolSelectors,
  contextNow: () => MeasureContext,
  coverage: Coverage
): Effect.fn.Return<RankedView<ListedPool>> {
  const { minLiquidityUsd, sort } = selectors
  const first = contextNow()
  const sinceMs = selectors.createdSinceMs ?? first.nowMs - DAY_MS
  const opened = yield* readOpened(sources, sinceMs)
  const all = gather(sources, selectors, opened.events)
  const candidates: Array<Candidate> = []
  let [unknownRank, unknownFilter, looked] = [0, 0, 0]
  for (const each of all.values()) {
    if (++looked % PLAIN_AT_A_TIME === 0) {
      yield* Effect.yieldNow
    }
    const known = withAccounts(sources, each)
    const origin = originOf(sources, known)
    const wanted = isWanted(known, origin, selectors)
    const value = wanted === true ? plainOf(sources, known, origin, sort, first) : 0
    unknownFilter += wanted === null ? 1 : 0
    unknownRank += Number.isNaN(value) ? 1 : 0
    if (wanted === true && !Number.isNaN(value)) {
      candidates.push({ known, origin, value })
    }
  }
  const ordered = candidates.toSorted((a, b) => b.value - a.value || (a.known.pool < b.known.pool ? -1 : 1))
  const context = contextNow()
  const rows: Array<Ranked> = []
  const shown: Array<readonly [Mint, string | null]> = []
  let examined = 0
  for (const candidate of ordered.slice(0, MOST_EXAMINED)) {
    if (rows.length > MOST_ROWS) {
      break
    }
    examined++
    const liquidityUsd = liquidityOf(sources, candidate.known.pool, context)
    shown.push([candidate.known.mint, liquidityUsd.value])
    const depth = numberOf(liquidityUsd)
    if (minLiquidityUsd !== null && depth === null) {
      unknownFilter++
    } else if (minLiquidityUsd === null || (depth !== null && compare(depth, minLiquidityUsd) >= 0)) {
      const row = rowOf(sources, candidate, liquidityUsd, context)
      rows.push({ row, value: sortValue(row, sort), seen: candidate.value })
    }
  }
  const isCut = rows.length > MOST_ROWS || (ordered.length > examined && rows.length <= MOST_ROWS)
  const lacking = lackingIn(opened, sinceMs, isCut)
  return {
    rows: inOrder(rows),
    excluded: { unknownRank, unknownFilter },
    coverage: coverage.complete && lacking !== null ? incomplete(lacking) : coverage,
    slot: context.slot,
    ...context.life,
    unloaded: tokensToLoad(sources, shown),
    screened: { tokens: all.size, examined }
  }
})

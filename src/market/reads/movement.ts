/** Tokens ranked by their activity in a window. */
import { Effect } from "effect"
import { type Excluded, type MovementRank, type MovementRow } from "../../api/schemas/MarketViews.ts"
import { compare, type Rational } from "../../domain/rational.ts"
import type { Coverage } from "../../domain/Scalar.ts"
import { incomplete } from "../../domain/Scalar.ts"
import type { Mint } from "../../domain/Address.ts"
import {
  isAtLeast,
  type MeasureSources,
  measureReading,
  type MeasureContext,
  numberOf,
  readTokens,
  type TokenMeasures,
  type TokenReading
} from "./tokenMeasures.ts"
import type { TokenRanking } from "../memory/TokenRanking.ts"
import { tokenRef, tokensToLoad } from "./tokenRef.ts"
import type { WindowName } from "../model/windows.ts"

/** The selection of a ranking. Minima are dollars. */
export interface MovementSelectors {
  readonly window: WindowName
  readonly rank: MovementRank
  readonly minLiquidityUsd: Rational
  readonly minVolumeUsd: Rational
}

/** A ranking at one time, cut to the rows that pages may show. */
export interface RankedView<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly excluded: Excluded
  readonly coverage: Coverage
  readonly slot: number
  readonly observedAtMs: number
  /** The time at which its measures become stale. */
  readonly expiresAtMs: number | null
  /** Tokens whose names, supply or pools are not loaded. */
  readonly unloaded: ReadonlyArray<Mint>
  /** How many tokens there were, and how many of them were examined; only for screens. */
  readonly screened?: { readonly tokens: number; readonly examined: number }
}

/** The most rows of a ranking, and the most tokens that are examined for them. */
export const MOST_ROWS = 200
const MOST_EXAMINED = 1000
/** Tokens that are examined between two yields. */
export const AT_A_TIME = 32

const scalarOf: Readonly<Record<MovementRank, Exclude<keyof TokenMeasures, "changeSince" | "priceMethod">>> = {
  gainers: "changePct",
  losers: "changePct",
  volume: "volumeUsd",
  trades: "trades",
  traders: "traders"
}

/** The order of a ranking: `desc` puts larger values first. */
export const directionOf = (rank: MovementRank): "asc" | "desc" => (rank === "losers" ? "asc" : "desc")

const ZERO_OR_LESS = /^(?:-|0$)/u

/** False for a gainer that has not risen and a loser that has not fallen. */
const belongs = (rank: MovementRank, { changePct: { value } }: TokenMeasures): boolean =>
  value === null || (rank === "gainers" ? !ZERO_OR_LESS.test(value) : rank === "losers" ? value.startsWith("-") : true)

/** The row of a token in a ranking, or the name of the count it adds to because a value is unknown, or null. */
const evaluate = (
  sources: MeasureSources,
  reading: TokenReading,
  { minLiquidityUsd, minVolumeUsd, rank }: MovementSelectors,
  context: MeasureContext
): { readonly row: TokenMeasures | keyof Excluded | null; readonly liquidity: string | null } => {
  const row = measureReading(sources, reading, context)
  const liquidity = row.liquidityUsd.value
  if (row[scalarOf[rank]].value === null) {
    return { row: "unknownRank", liquidity }
  }
  const isDeep = isAtLeast(row.liquidityUsd, minLiquidityUsd)
  const hasTraded = isAtLeast(row.volumeUsd, minVolumeUsd)
  const isUnknown =
    (isDeep === null && minLiquidityUsd.numerator > 0n) || (hasTraded === null && minVolumeUsd.numerator > 0n)
  const isIncluded = isDeep !== false && hasTraded !== false && belongs(rank, row)
  return { row: isUnknown ? "unknownFilter" : isIncluded ? row : null, liquidity }
}

const NOTHING: Rational = { numerator: 0n, denominator: 1n }

/** Sorts rows by their own values, equal values by mint. Trades go on after a ranking is taken. */
const inOrder = (rows: ReadonlyArray<MovementRow>, rank: MovementRank): ReadonlyArray<MovementRow> => {
  const sign = directionOf(rank) === "desc" ? -1 : 1
  return rows
    .map((row) => ({ row, value: numberOf(row[scalarOf[rank]]) ?? NOTHING }))
    .toSorted((a, b) => sign * compare(a.value, b.value) || (a.row.token.address < b.row.token.address ? -1 : 1))
    .map(({ row }, place) => ({ ...row, rank: place + 1 }))
}

/** The first tokens of a ranking, as many as are examined. */
const firstOf = (ranking: Pick<TokenRanking, "at">, rank: MovementRank): ReadonlyArray<Mint> => {
  const mints: Array<Mint> = []
  for (let place = 0; place < MOST_EXAMINED; place++) {
    const ranked = ranking.at(rank, place)
    if (ranked === undefined) {
      break
    }
    mints.push(ranked.mint)
  }
  return mints
}

/**
 * Reads the tokens that traded in the window at one moment, then measures and ranks them, yielding every few tokens.
 * Leaves out and counts tokens with an unknown value.
 */
export const movementView = Effect.fnUntraced(function* (
  sources: MeasureSources,
  ranking: Pick<TokenRanking, "at" | "counts">,
  selectors: MovementSelectors,
  context: MeasureContext,
  coverage: Coverage
): Effect.fn.Return<RankedView<MovementRow>> {
  const rows: Array<MovementRow> = []
  const shown: Array<readonly [Mint, string | null]> = []
  const excluded = { unknownRank: ranking.counts(selectors.rank).unknown, unknownFilter: 0 }
  const mints = firstOf(ranking, selectors.rank)
  const isCut = ranking.at(selectors.rank, mints.length) !== undefined
  let place = 0
  for (const reading of readTokens(sources.tape, mints, selectors.window, context.nowMs)) {
    if (rows.length >= MOST_ROWS) {
      break
    }
    if (place % AT_A_TIME === 0) {
      yield* Effect.yieldNow
    }
    const { mint } = reading
    const { liquidity, row } = evaluate(sources, reading, selectors, context)
    if (row !== null && row !== "unknownRank") {
      shown.push([mint, liquidity])
    }
    if (typeof row === "string") {
      excluded[row]++
    } else if (row !== null) {
      rows.push({ rank: rows.length + 1, token: tokenRef(sources, mint), ...row })
    }
    place++
  }
  return {
    rows: inOrder(rows, selectors.rank),
    excluded,
    coverage: coverage.complete && (isCut || place < mints.length) ? incomplete("limit_clipped") : coverage,
    slot: context.slot,
    ...context.life,
    unloaded: tokensToLoad(sources, shown)
  }
})

/** Builds the exit report from a ladder of quotes. Pure. */
import { quotient, shortfallPct, tenTo, uiNumber } from "../domain/decimal.ts"
import type { ExitCheck, ExitSummary, Position, Rung, Verdict } from "../api/schemas/ExitCheck.ts"
import type { SpotQuote } from "../api/schemas/Quote.ts"

/** An exit that loses at most this many percentage points is clean. */
const CLEAN_PCT = 2
/** A position that loses this many percentage points or more is trapped. */
const TRAPPED_PCT = 50
/**
 * A baseline is too coarse to measure against when it is a larger share of the position than this, or has a larger
 * impact.
 */
const COARSE_FRACTION = 0.05
const COARSE_PCT = 1
/** When rungs were priced more than this many slots apart, they do not share one state. */
const MIXED_SLOTS = 10

const units = {
  amount: "atomic of mint",
  outAmount: "atomic of quoteMint",
  fullExitOutAmount: "atomic of quoteMint",
  uiAmount: "whole tokens of mint",
  outUiAmount: "whole tokens of quoteMint",
  realizedPrice: "quoteMint per mint, whole tokens",
  realizedImpactPct: "percent against the smallest rung",
  upstreamImpactPct: "percent as the engine reports it",
  fraction: "0 to 1 of the position"
}

const texts = {
  negative_marginal_proceeds: "a larger share returns less than a smaller one.",
  coarse_baseline: "the smallest rung is too coarse to measure impact against.",
  clamped_rung: "liquidity ends before at least one rung is sold.",
  no_full_rung: "the ladder does not reach the whole position.",
  impact_unmeasured: "the impact of selling the whole position could not be measured.",
  mixed_slots: `rungs were priced more than ${MIXED_SLOTS} slots apart.`
}

/** What may be wrong with a ladder. */
export type WarningCode = keyof typeof texts

const uiOf = (amount: bigint | null, decimals: number | null): number | null =>
  amount === null || decimals === null ? null : uiNumber(amount, decimals)

/** Price in quote tokens per token: (out / 10^quoteDecimals) / (in / 10^decimals). */
const priceOf = (out: bigint | null, amount: bigint, { decimals, quoteDecimals }: Position): number | null =>
  out === null || decimals === null || quoteDecimals === null
    ? null
    : quotient(out * tenTo(decimals), amount * tenTo(quoteDecimals))

/** A clamped quote shows where liquidity ends; its output is not what the position would bring. */
const usable = (quote: SpotQuote | null): bigint | null => (quote === null || quote.clamped ? null : quote.outAmount)

const errorOf = (quote: SpotQuote | null): Rung["error"] => {
  if (quote === null) {
    return "no_route"
  }
  return quote.clamped ? "clamped" : null
}

/** The rungs of the ladder. `quotes` are in the order of the ladder, null where there is no route. */
const rungsOf = (position: Position, quotes: ReadonlyArray<SpotQuote | null>): ReadonlyArray<Rung> => {
  const [baseline] = position.ladder
  const baselineOut = usable(quotes[0] ?? null)
  return position.ladder.map(({ fraction, amount }, i): Rung => {
    const quote = quotes[i] ?? null
    const outAmount = usable(quote)
    const measured = outAmount !== null && baselineOut !== null && baselineOut > 0n && baseline !== undefined
    return {
      fraction,
      amount,
      isBaseline: i === 0,
      uiAmount: uiOf(amount, position.decimals),
      quote,
      error: errorOf(quote),
      outAmount,
      outUiAmount: uiOf(outAmount, position.quoteDecimals),
      realizedPrice: priceOf(outAmount, amount, position),
      realizedImpactPct: measured ? shortfallPct(outAmount * baseline.amount, baselineOut * amount) : null,
      upstreamImpactPct: quote?.priceImpactPct ?? null
    }
  })
}

/** Index of the first rung that returns less than a smaller rung; -1 when there is none. */
const firstDecrease = (rungs: ReadonlyArray<Rung>): number => {
  let most = 0n
  return rungs.findIndex(({ outAmount }) => {
    const isLess = outAmount !== null && outAmount < most
    most = outAmount ?? most
    return isLess
  })
}

const isCoarse = ({ fraction, upstreamImpactPct }: Rung): boolean =>
  fraction > COARSE_FRACTION || (upstreamImpactPct ?? 0) > COARSE_PCT

/** True when the rungs were priced on states too far apart to compare. */
export const areMixed = (slots: ReadonlyArray<number>): boolean =>
  slots.length > 0 && Math.max(...slots) - Math.min(...slots) > MIXED_SLOTS

/** The rung that sells the whole position. */
const fullOf = (rungs: ReadonlyArray<Rung>): Rung | null => rungs.find(({ fraction }) => fraction === 1) ?? null

/** Impact of the full exit, measured against the first rung; null for a ladder of one rung. */
const fullImpactOf = (full: Rung | null): number | null =>
  full === null || full.isBaseline ? null : full.realizedImpactPct

/** The ladder's warnings, in the order of the catalogue. */
const warningsOf = (rungs: ReadonlyArray<Rung>): ReadonlyArray<WarningCode> => {
  const [baseline] = rungs
  const full = fullOf(rungs)
  const slots = rungs.flatMap(({ quote }) => (quote === null ? [] : [quote.stateSlot]))
  const found: ReadonlyArray<WarningCode | null> = [
    firstDecrease(rungs) !== -1 ? "negative_marginal_proceeds" : null,
    baseline !== undefined && isCoarse(baseline) ? "coarse_baseline" : null,
    rungs.some(({ error }) => error === "clamped") ? "clamped_rung" : null,
    full === null ? "no_full_rung" : null,
    full !== null && full.outAmount !== null && fullImpactOf(full) === null ? "impact_unmeasured" : null,
    areMixed(slots) ? "mixed_slots" : null
  ]
  return found.filter((code) => code !== null)
}

/**
 * The first verdict that applies. `no_route`: nothing buys the largest rung. `trapped`: liquidity ends inside that
 * rung, or selling more returns less, or the full exit loses half. `thin`: the full exit loses more than 2 %, or was
 * not measured. Otherwise `clean`.
 */
export const verdictOf = (
  largest: Pick<Rung, "error"> | undefined,
  warnings: ReadonlyArray<WarningCode>,
  fullExitImpactPct: number | null
): Verdict => {
  if (largest === undefined || largest.error === "no_route") {
    return "no_route"
  }
  const isLost = fullExitImpactPct !== null && fullExitImpactPct >= TRAPPED_PCT
  if (largest.error === "clamped" || warnings.includes("negative_marginal_proceeds") || isLost) {
    return "trapped"
  }
  return fullExitImpactPct === null || fullExitImpactPct > CLEAN_PCT ? "thin" : "clean"
}

/**
 * The largest rung that sells within `maxPct`, without interpolation between rungs. Stops at the first rung that
 * returns less than a smaller one. Null for a ladder of one rung, which has nothing to be measured against.
 */
export const largestWithin = (rungs: ReadonlyArray<Rung>, maxPct: number): Rung | null => {
  if (rungs.length < 2) {
    return null
  }
  const end = firstDecrease(rungs)
  return (
    rungs
      .slice(0, end === -1 ? undefined : end)
      .findLast(({ realizedImpactPct }) => realizedImpactPct !== null && realizedImpactPct <= maxPct) ?? null
  )
}

/** The largest rung that sells within 2 %. The whole position is within 2 % exactly when the verdict is `clean`. */
export const largestClean = (rungs: ReadonlyArray<Rung>): Rung | null => largestWithin(rungs, CLEAN_PCT)

const summaryOf = (rungs: ReadonlyArray<Rung>): ExitSummary => {
  const full = fullOf(rungs)
  const warnings = warningsOf(rungs)
  const fullExitImpactPct = fullImpactOf(full)
  const clean = largestClean(rungs)
  return {
    verdict: verdictOf(rungs.at(-1), warnings, fullExitImpactPct),
    venues: Array.from(new Set(rungs.flatMap(({ quote }) => quote?.venues ?? []))),
    warnings: warnings.map((code) => `${code}: ${texts[code]}`),
    fullExitImpactPct,
    fullExitPrice: full?.realizedPrice ?? null,
    fullExitOutAmount: full?.outAmount ?? null,
    fullExitOutUiAmount: full?.outUiAmount ?? null,
    maxCleanFraction: clean?.fraction ?? null,
    maxCleanUiAmount: clean?.uiAmount ?? null
  }
}

/** Builds the report on a position. `quotes` are in the order of its ladder, null where there is no route. */
export const exitCheck = (position: Position, quotes: ReadonlyArray<SpotQuote | null>): ExitCheck => {
  const { mint, quoteMint, amount, decimals, quoteDecimals, slippageBps, ladder } = position
  const rungs = rungsOf(position, quotes)
  return {
    mint,
    quoteMint,
    amount,
    uiAmount: uiOf(amount, decimals),
    decimals,
    quoteDecimals,
    slippageBps,
    ladder: ladder.map(({ fraction }) => fraction),
    summary: summaryOf(rungs),
    rungs,
    units
  }
}

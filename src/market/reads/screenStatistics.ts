/** The statistics by which tokens are screened, each as an exact scalar. */
import { decimalText, divide, type Rational } from "../../domain/rational.ts"
import { asOf, type Coverage, known, partial, type Scalar, unavailable } from "../../domain/Scalar.ts"
import type { Mint } from "../../domain/Address.ts"
import type { MarketWindow } from "../../api/schemas/MarketViews.ts"
import type { ScreenStatistic, TokenStatistic, WindowStatistic } from "../../api/schemas/TokenScreen.ts"
import type { TokenWindowStats } from "../../api/schemas/TokenStats.ts"
import type { HolderReads } from "../../tokens/HolderReader.ts"
import { progressOf } from "./discovery.ts"
import { shareScalar } from "./holderFigures.ts"
import { measured } from "./measures.ts"
import {
  type MeasureContext,
  measureReading,
  type MeasureSources,
  numberOf,
  type TokenMeasures,
  type TokenReading
} from "./tokenMeasures.ts"
import { type WindowReading, windowStats } from "./tokenStats.ts"
import { eachWindow } from "../model/windows.ts"

/** Owners behind the two concentrations. */
const TOP = 10
const WIDE_TOP = 50

/** The sources of the statistics. */
export interface StatisticSources extends MeasureSources {
  readonly holders: Pick<HolderReads, "countOf" | "knownOf" | "suggest">
}

/** Everything about a token that blocks change, read at one slot. */
export interface ScreenReading {
  readonly mint: Mint
  /** The last 24 hours, for the price. */
  readonly day: TokenReading
  readonly windows: Readonly<Record<MarketWindow, WindowReading | null>>
  /** Second of the newest trade; null when none was seen. */
  readonly lastSecond: number | null
}

/** A statistic as its name and its window; the window is null for a statistic of the token. */
export const partsOf = (
  statistic: ScreenStatistic
):
  | { readonly name: WindowStatistic; readonly window: MarketWindow }
  | { readonly name: TokenStatistic; readonly window: null } => {
  const [name, window] = statistic.split(".")
  return window === undefined
    ? { name: name as TokenStatistic, window: null }
    : { name: name as WindowStatistic, window: window as MarketWindow }
}

/** One scalar in percent of another. It is known as well as the worse of the two. */
const percentOf = (part: Scalar, whole: Scalar): Scalar => {
  const [numerator, denominator] = [numberOf(part), numberOf(whole)]
  const lacking = [part, whole].find(({ coverage }) => !coverage.complete)?.coverage.reason ?? null
  if (numerator === null || denominator === null || denominator.numerator <= 0n) {
    return unavailable("percent", lacking ?? "basis_unknown")
  }
  const share = divide(numerator, denominator)
  const text = decimalText({ numerator: 100n * share.numerator, denominator: share.denominator })
  const life = {
    observedAtMs: Math.min(part.observedAtMs ?? 0, whole.observedAtMs ?? 0),
    expiresAtMs: earlier(part.expiresAtMs, whole.expiresAtMs)
  }
  return lacking === null ? known("percent", text, life) : partial("percent", text, life, lacking)
}

const earlier = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b)

const buyShare = ({ covered, held }: WindowReading, context: MeasureContext): Scalar => {
  const share: Rational = { numerator: 100n * BigInt(held.buys), denominator: BigInt(held.trades) }
  return measured("percent", held.trades === 0 ? null : decimalText(share), covered, context.life)
}

/** Time since a moment, in milliseconds; unknown without the moment. */
const since = (timeMs: number | null, { life, nowMs }: MeasureContext): Scalar =>
  timeMs === null ? unavailable("ms", "not_captured") : known("ms", String(Math.max(0, nowMs - timeMs)), life)

type Holdings = ReturnType<HolderReads["knownOf"]>

const held = (holdings: Holdings, part: (holdings: NonNullable<Holdings>) => bigint, coverage?: Coverage): Scalar =>
  holdings === null ? unavailable("percent", "not_captured") : shareScalar(holdings, part(holdings), coverage)

const poolCount = ({ pools }: StatisticSources, mint: Mint, { life }: MeasureContext): Scalar => {
  const lacking = pools.lacking(mint)
  const text = String(pools.poolsOf(mint).length)
  return !pools.isLoaded(mint)
    ? unavailable("count", "not_captured")
    : lacking === null
      ? known("count", text, life)
      : partial("count", text, life, lacking)
}

/** The statistics of one token. What several statistics need is measured once. */
export const statisticsOf = (
  sources: StatisticSources,
  reading: ScreenReading,
  context: MeasureContext
): ((statistic: ScreenStatistic) => Scalar) => {
  const { day, lastSecond, mint, windows } = reading
  const { launch } = day
  let measures: TokenMeasures | undefined
  let holdings: Holdings | undefined
  const stats = new Map<MarketWindow, Omit<TokenWindowStats, "largestTrade">>()

  const measure = () => (measures ??= measureReading(sources, day, context))
  const holders = () => (holdings ??= sources.holders.knownOf(mint, context.nowMs))

  const ofWindow = (name: WindowStatistic, window: MarketWindow): Scalar => {
    const read = windows[window]
    if (read === null) {
      return unavailable("count", "not_captured")
    }
    if (name === "buySharePct") {
      return buyShare(read, context)
    }
    const found = stats.get(window) ?? windowStats(read, context.life)
    stats.set(window, found)
    return found[name]
  }

  const ofToken = (name: TokenStatistic): Scalar => {
    switch (name) {
      case "priceUsd":
      case "marketCapUsd":
      case "liquidityUsd":
        return measure()[name]
      case "liquidityToMarketCapPct":
        return percentOf(measure().liquidityUsd, measure().marketCapUsd)
      case "turnoverPct":
        return percentOf(measure().volumeUsd, measure().marketCapUsd)
      case "pools":
        return poolCount(sources, mint, context)
      case "ageMs":
        return since(launch?.createdAtMs ?? null, context)
      case "sinceGraduationMs":
        return since(launch?.graduatedAtMs ?? null, context)
      case "idleMs":
        return since(lastSecond === null ? null : lastSecond * 1000, context)
      case "curveProgressPct":
        return progressOf(sources, mint, launch, context)
      case "holders":
        return sources.holders.countOf(mint, context.nowMs)
      case "top10Pct":
        return held(holders(), ({ largest }) => largest(TOP), holders()?.poolCoverage)
      case "top50Pct":
        return held(holders(), ({ largest }) => largest(WIDE_TOP), holders()?.poolCoverage)
      case "creatorPct": {
        const creator = launch?.creator ?? null
        return creator === null
          ? unavailable("percent", "not_captured")
          : held(holders(), ({ amountOf }) => amountOf(creator))
      }
    }
  }

  return (statistic) => {
    const { name, window } = partsOf(statistic)
    return asOf(window === null ? ofToken(name) : ofWindow(name, window), context.nowMs)
  }
}

/** The windows of statistics, and whether what was bought is needed in one of them. */
export const windowsOf = (statistics: ReadonlyArray<ScreenStatistic>) =>
  eachWindow((window) => {
    const names = statistics.map(partsOf).filter((each) => each.window === window)
    const withSides = names.some(({ name }) => name === "buyVolumeUsd" || name === "sellVolumeUsd")
    return names.length === 0 ? null : { withSides }
  })

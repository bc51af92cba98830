/** The measures of one token in one window. */
import type { Mint } from "../../domain/Address.ts"
import { tenTo } from "../../domain/decimal.ts"
import { compare, decimalText, multiply, type Rational } from "../../domain/rational.ts"
import { type Coverage, type Lifetime, type Scalar, unavailable } from "../../domain/Scalar.ts"
import type { ChangeSince, PriceMethod } from "../../api/schemas/MarketViews.ts"
import type { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { depthOf } from "../../tokens/liquidity.ts"
import type { HolderReads } from "../../tokens/HolderReader.ts"
import type { Prices } from "../../tokens/PriceBook.ts"
import { marketCapScalar, priceScalar, usdScalar } from "../../tokens/scalars.ts"
import { lifetimeAt, measured, priceChange, priceRational, volumeScalar } from "./measures.ts"
import type { Supply, TokenSources } from "./tokenRef.ts"
import { supplyOf } from "./tokenRef.ts"
import type { LaunchRecord } from "../model/Launches.ts"
import type { TokenWindow } from "../memory/TokenWindows.ts"
import { lackingNow } from "../tape/freshness.ts"
import type { Market } from "../tape/Market.ts"
import { windowFrom, type WindowName, windowIndex } from "../model/windows.ts"

/** The sources of the measures. */
export interface MeasureSources extends TokenSources {
  readonly tape: Market["Service"]
  /** The holders of tokens; unknown unless given. */
  readonly holders?: Pick<HolderReads, "countOf" | "knownOf" | "suggest"> | undefined
  readonly pools: Pick<PoolBook["Service"], "graduationOf" | "isLoaded" | "lacking" | "poolsOf">
}

/** The time, slot, prices and lifetime that all measures of one view share. */
export interface MeasureContext {
  readonly nowMs: number
  /** The newest slot of the blocks that are measured. */
  readonly slot: number
  readonly prices: Prices
  readonly life: Lifetime
}

/** The measures of its token that a row shows. */
export interface TokenMeasures {
  readonly priceUsd: Scalar
  readonly priceMethod: PriceMethod
  readonly changePct: Scalar
  readonly changeSince: ChangeSince
  readonly volumeUsd: Scalar
  readonly liquidityUsd: Scalar
  readonly marketCapUsd: Scalar
  readonly trades: Scalar
  readonly traders: Scalar
}

/** The window of a token without trades. */
export const NOTHING: TokenWindow = {
  trades: 0,
  buys: 0,
  sells: 0,
  volumeUsdNanos: 0n,
  unpriced: 0,
  traders: 0,
  startPrice: null,
  lastPrice: null,
  firstPrice: null
}

/** The first second of a window that ends now. It is the first second of a bucket. */
export const windowStart = ({ state }: Market["Service"], window: WindowName): number =>
  windowFrom(windowIndex[window], state.now)

/** True when the creation of a token was seen in a window, so that it has no price from before. */
export const isYoungIn = (tape: Market["Service"], mint: Mint, window: WindowName): boolean => {
  const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
  return createdAtMs !== null && createdAtMs >= windowStart(tape, window) * 1000
}

/** The two prices of a change, and where it begins: a token that is younger than the window has changed since its launch. */
export const changeIn = ({
  held: { firstPrice, lastPrice, startPrice },
  isYoung
}: Pick<TokenReading, "held" | "isYoung">): Pick<TokenWindow, "lastPrice" | "startPrice"> & {
  readonly since: ChangeSince
} =>
  isYoung && startPrice === null
    ? { startPrice: firstPrice, lastPrice, since: "launch" }
    : { startPrice, lastPrice, since: "window" }

/** The coverage of a token in a window. When the launch was seen, only the time since the launch counts. */
export const coverageOf = (tape: Market["Service"], mint: Mint, window: WindowName, nowMs: number): Coverage => {
  const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
  const covered = tape.coverageFrom(windowStart(tape, window), nowMs)
  // Blocks before the launch contain no trade of the token.
  return covered.complete || createdAtMs === null
    ? covered
    : tape.coverageFrom(Math.max(windowStart(tape, window), Math.floor(createdAtMs / 1000) + 1), nowMs)
}

const marketCap = (price: Rational, supply: Supply | null, covered: Coverage, life: Lifetime): Scalar =>
  supply === null
    ? unavailable("usd", "supply_unknown")
    : measured(
        "usd",
        decimalText(multiply(price, { numerator: supply.units, denominator: tenTo(supply.decimals) })),
        covered,
        life
      )

/** The liquidity of a token in its pools; unknown while they are not loaded. */
export const liquidityScalar = ({ pools }: MeasureSources, mint: Mint, { nowMs, prices }: MeasureContext): Scalar => {
  if (!pools.isLoaded(mint)) {
    return unavailable("usd", "not_captured")
  }
  const depth = depthOf(pools.poolsOf(mint), prices, pools.lacking(mint))
  return usdScalar(prices, depth.micro, depth.lacking, nowMs)
}

/**
 * The lifetime of measures of the newest blocks. While the blocks are old, it is the lifetime of measures that are made
 * now.
 */
export const lifeNow = (tape: Market["Service"], nowMs: number): Lifetime => {
  const life = lifetimeAt(Math.min(tape.state.now * 1000, tape.heardAtMs() ?? 0))
  switch (lackingNow(tape, nowMs)) {
    case "backfill_running":
      return { ...life, expiresAtMs: lifetimeAt(tape.aliveAtMs() ?? 0).expiresAtMs }
    case "source_gap":
      return { ...life, expiresAtMs: lifetimeAt(nowMs).expiresAtMs }
    default:
      return life
  }
}

/**
 * The coverage of a price. It holds while blocks arrive, however old the last trade is; there is none once blocks have
 * stopped.
 */
const heardOf = (tape: Market["Service"], nowMs: number): Coverage => tape.coverageFrom(tape.state.now + 1, nowMs)

/** Everything in the measures of a token that blocks change. */
export interface TokenReading {
  readonly mint: Mint
  /** The coverage of the window, and of the price. */
  readonly covered: Coverage
  readonly heard: Coverage
  readonly held: TokenWindow
  /** True when its creation was seen in the window. */
  readonly isYoung: boolean
  readonly decimals: number | null
  readonly launch: LaunchRecord | null
}

const readToken = (
  tape: Market["Service"],
  mint: Mint,
  window: WindowName,
  { heard, nowMs }: { readonly nowMs: number; readonly heard: Coverage }
): TokenReading => ({
  mint,
  covered: coverageOf(tape, mint, window, nowMs),
  heard,
  held: tape.state.window(mint, window) ?? NOTHING,
  isYoung: isYoungIn(tape, mint, window),
  decimals: tape.decimalsOf(mint),
  launch: tape.launches.of(mint)
})

/** Reads tokens at one slot without a yield. Their measures may be made later. */
export const readTokens = (
  tape: Market["Service"],
  mints: ReadonlyArray<Mint>,
  window: WindowName,
  nowMs: number
): ReadonlyArray<TokenReading> => {
  const heard = heardOf(tape, nowMs)
  return mints.map((mint) => readToken(tape, mint, window, { nowMs, heard }))
}

/** The measures of a token in a window now. */
export const measureToken = (
  sources: MeasureSources,
  mint: Mint,
  window: WindowName,
  context: MeasureContext
): TokenMeasures => {
  const { tape } = sources
  const { nowMs } = context
  return measureReading(sources, readToken(tape, mint, window, { nowMs, heard: heardOf(tape, nowMs) }), context)
}

/**
 * The measures of a token. Its price is the price of its last trade, or of its pools before the first trade. Sums count
 * observed trades.
 */
export const measureReading = (
  sources: MeasureSources,
  { covered, decimals, heard, held, isYoung, mint }: TokenReading,
  context: MeasureContext
): TokenMeasures => {
  const { life, nowMs, prices } = context
  const last = priceRational(held.lastPrice)
  const sum = { nanos: held.volumeUsdNanos, trades: held.trades, unpriced: held.unpriced }
  const pooled = prices.of(mint)
  const supply = supplyOf(sources, mint)
  const change = changeIn({ held, isYoung })
  return {
    priceUsd:
      last === null
        ? priceScalar(prices, pooled, supply?.decimals ?? decimals, "usd", nowMs)
        : measured("usd", decimalText(last), heard, life),
    priceMethod: last === null ? "pool_median" : "last_trade",
    changePct: priceChange(change, covered, life),
    changeSince: change.since,
    volumeUsd: volumeScalar(sum, covered, life),
    liquidityUsd: liquidityScalar(sources, mint, context),
    marketCapUsd:
      last === null
        ? marketCapScalar(prices, pooled, supply?.units ?? null, nowMs)
        : marketCap(last, supply, heard, life),
    trades: measured("count", String(held.trades), covered, life),
    traders: measured("count", String(held.traders), covered, life)
  }
}

/** The value of a scalar as a fraction; null when it is unknown. */
export const numberOf = ({ value }: Scalar): Rational | null => {
  if (value === null) {
    return null
  }
  const [whole = "", fraction = ""] = value.split(".")
  return { numerator: BigInt(whole + fraction), denominator: tenTo(fraction.length) }
}

/** True when a value is at least `least`; null when the value is unknown. */
export const isAtLeast = (scalar: Scalar, least: Rational): boolean | null => {
  const number = numberOf(scalar)
  return number === null ? null : compare(number, least) >= 0
}

/** What is known of one token in one window, number by number. */
import type { Mint } from "../../domain/Address.ts"
import { tenTo } from "../../domain/decimal.ts"
import { compare, decimalText, multiply, type Rational } from "../../domain/rational.ts"
import { type Coverage, type Lifetime, type Scalar, unavailable } from "../../domain/Scalar.ts"
import type { PoolBook } from "../../pools/PoolBook.ts"
import { depthOf } from "../../tokens/liquidity.ts"
import type { Prices } from "../../tokens/PriceBook.ts"
import { marketCapScalar, priceScalar, usdScalar } from "../../tokens/scalars.ts"
import { changeOf, measured, priceRational, volumeScalar } from "./measures.ts"
import type { Supply, TokenSources } from "./tokenRef.ts"
import { supplyOf } from "./tokenRef.ts"
import type { TokenWindow } from "../windows/TokenWindows.ts"
import type { TradeTape } from "../tape/TradeTape.ts"
import { type WindowName, windowIndex, windowSeconds } from "../windows/windows.ts"

/** Where the numbers come from. */
export interface MeasureSources extends TokenSources {
  readonly tape: TradeTape["Service"]
  readonly pools: Pick<PoolBook["Service"], "isLoaded" | "poolsOf">
}

/** One moment of the market: everything is measured as of it. */
export interface MeasureContext {
  readonly nowMs: number
  readonly prices: Prices
  readonly life: Lifetime
}

/** What a row says of its token. */
export interface TokenMeasures {
  readonly priceUsd: Scalar
  readonly changePct: Scalar
  readonly volumeUsd: Scalar
  readonly liquidityUsd: Scalar
  readonly marketCapUsd: Scalar
  readonly trades: Scalar
  readonly traders: Scalar
}

const NOTHING: TokenWindow = {
  trades: 0,
  buys: 0,
  sells: 0,
  volumeUsdNanos: 0n,
  unpriced: 0,
  traders: 0,
  startPrice: null,
  lastPrice: null
}

/** The first second of a window that ends now. */
export const windowStart = ({ state }: TradeTape["Service"], window: WindowName): number =>
  state.now - (windowSeconds[windowIndex[window]] ?? 0) + 1

/** Whether everything of a token in a window was seen: of one that was seen to launch, everything since. */
export const coverageOf = (tape: TradeTape["Service"], mint: Mint, window: WindowName, nowMs: number): Coverage => {
  const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
  const covered = tape.coverageFrom(windowStart(tape, window), nowMs)
  // Blocks of before its own first one have nothing of it, and that one was read.
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

/** What the pools of a token could pay out; unknown where nobody has loaded them. */
export const liquidityScalar = ({ pools }: MeasureSources, mint: Mint, { nowMs, prices }: MeasureContext): Scalar => {
  if (!pools.isLoaded(mint)) {
    return unavailable("usd", "not_captured")
  }
  const depth = depthOf(pools.poolsOf(mint), prices)
  return usdScalar(prices, depth.micro, depth.lacking, nowMs)
}

/** A price holds while blocks are heard, however long ago the last trade was. */
const heardOf = (tape: TradeTape["Service"], nowMs: number): Coverage => tape.coverageFrom(tape.state.now + 1, nowMs)

/** Measures a token. Its price is that of its last trade, or of its pools before the first; what its trades sum up to is what was seen of them. */
export const measureToken = (
  sources: MeasureSources,
  mint: Mint,
  window: WindowName,
  context: MeasureContext
): TokenMeasures => {
  const { tape } = sources
  const { life, nowMs, prices } = context
  const covered = coverageOf(tape, mint, window, nowMs)
  const heard = heardOf(tape, nowMs)
  const held = tape.state.window(mint, window) ?? NOTHING
  const [start, last] = [priceRational(held.startPrice), priceRational(held.lastPrice)]
  const change = start === null || last === null ? null : changeOf(start, last)
  const sum = { nanos: held.volumeUsdNanos, trades: held.trades, unpriced: held.unpriced }
  const pooled = prices.of(mint)
  const supply = supplyOf(sources, mint)
  return {
    priceUsd:
      last === null
        ? priceScalar(prices, pooled, supply?.decimals ?? tape.decimalsOf(mint), "usd", nowMs)
        : measured("usd", decimalText(last), heard, life),
    changePct: measured("percent", change === null ? null : decimalText(change), covered, life),
    volumeUsd: volumeScalar(sum, covered, life, "observed_swaps_only"),
    liquidityUsd: liquidityScalar(sources, mint, context),
    marketCapUsd:
      last === null
        ? marketCapScalar(prices, pooled, supply?.units ?? null, nowMs)
        : marketCap(last, supply, heard, life),
    trades: measured("count", String(held.trades), covered, life, "observed_swaps_only"),
    traders: measured("count", String(held.traders), covered, life, "observed_swaps_only")
  }
}

/** The number that a scalar tells; null when it is not known. */
export const numberOf = ({ value }: Scalar): Rational | null => {
  if (value === null) {
    return null
  }
  const [whole = "", fraction = ""] = value.split(".")
  return { numerator: BigInt(whole + fraction), denominator: tenTo(fraction.length) }
}

/** Whether a number is known and at least so much; null when it is not known. */
export const isAtLeast = (scalar: Scalar, least: Rational): boolean | null => {
  const number = numberOf(scalar)
  return number === null ? null : compare(number, least) >= 0
}

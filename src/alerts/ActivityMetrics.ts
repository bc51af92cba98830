import type { Mint } from "../domain/Address.ts"
import { tenTo } from "../domain/decimal.ts"
import { type Rational, whole } from "../domain/rational.ts"
import { isMoney } from "../domain/stables.ts"
import type { ActivityMetric } from "../api/schemas/Alert.ts"
import { coverageOf } from "../market/reads/tokenMeasures.ts"
import { MARKET_STALE_MS } from "../market/tape/freshness.ts"
import type { Market } from "../market/tape/Market.ts"
import { windowNames, windowSeconds } from "../market/model/windows.ts"
import type { PoolBook } from "../quotes/pools/PoolBook.ts"
import type { HolderReads } from "../tokens/HolderReader.ts"
import { depthOf } from "../tokens/liquidity.ts"
import type { AuthorityChanges } from "./AuthorityChanges.ts"
import { type High, LiquidityHighs } from "./LiquidityHighs.ts"
import type { MedianPrices } from "./MedianPrices.ts"
import { type Measure, type Reading, UNAVAILABLE } from "./Reading.ts"

/** How many of the largest owners the concentration counts. */
const TOP = 10

export interface ActivitySources {
  readonly tape: Market["Service"]
  readonly pools: Pick<PoolBook["Service"], "isLoaded" | "lacking" | "poolsOf">
  readonly holders: Pick<HolderReads, "knownOf">
  readonly medians: MedianPrices
  readonly authorities: Pick<AuthorityChanges, "of">
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number
  /**
   * The longest pause between two evaluations of all metrics, in milliseconds. After a longer pause no window counts as
   * whole.
   */
  readonly longestPauseMs: number
}

/** The name of the window with this length; null when there is none. */
export const windowOf = (seconds: number | null) => windowNames[windowSeconds.indexOf(seconds ?? 0)] ?? null

/**
 * Metrics of tokens other than their price. They are read at intervals, not with every swap. A metric has no value
 * unless all of its parts are known, so a sum with a gap never fires an alert.
 */
export class ActivityMetrics {
  readonly #sources: ActivitySources
  readonly #highs: LiquidityHighs

  constructor(sources: ActivitySources) {
    this.#sources = sources
    this.#highs = new LiquidityHighs(sources.longestPauseMs)
  }

  /** Current value of the metric, at the place of the newest trade of the token. */
  now(
    mint: Mint,
    metric: Exclude<ActivityMetric, "unknown_seconds">,
    { windowSeconds: seconds }: Measure,
    place: number,
    nowMs: number
  ): Reading {
    const { authorities, monotonicMs } = this.#sources
    switch (metric) {
      case "volume_usd":
        return this.#ofBlocks(this.#volume(mint, seconds, nowMs), place, nowMs)
      case "curve_progress_pct":
        return this.#ofBlocks(this.#progress(mint), place, nowMs)
      case "liquidity_usd":
        return this.#liquidity(mint, place, nowMs)
      case "liquidity_drop_pct":
        return this.#drop(this.#liquidity(mint, place, nowMs), this.#highs.of(mint, seconds ?? 0, monotonicMs()))
      case "authority_changes": {
        const changes = authorities.of(mint, seconds ?? 0, monotonicMs())
        return this.#ofBlocks(changes === null ? null : whole(BigInt(changes)), place, nowMs)
      }
      case "top10_pct":
        return this.#concentration(mint, place, nowMs)
      case "silent_seconds":
        return this.#silence(mint, place, nowMs)
    }
  }

  /** Records the liquidity of tokens whose drops are watched, and forgets all other tokens. */
  follow(drops: ReadonlySet<Mint>, nowMs: number): void {
    this.#highs.keep(drops)
    for (const mint of drops) {
      const reading = this.#liquidity(mint, 0, nowMs)
      if (reading.state === "ok") {
        this.#highs.note(mint, reading.seen.value.numerator, this.#sources.monotonicMs())
      }
    }
  }

  /**
   * How far the liquidity is below its highest value, in percent of the highest value. No value when none was seen or
   * the highest is 0.
   */
  #drop(now: Reading, high: High | null): Reading {
    if (now.state !== "ok") {
      return now
    }
    const { numerator } = now.seen.value
    if (high === null || high.micro === 0n) {
      return UNAVAILABLE
    }
    const { isWhole, micro } = high
    const lost = micro > numerator ? micro - numerator : 0n
    const value = { numerator: 100n * lost, denominator: micro }
    return { state: "ok", seen: { ...now.seen, value, isAtLeast: !isWhole } }
  }

  /** A value as of the newest block; stale once blocks have stopped. */
  #ofBlocks(value: Rational | null, place: number, nowMs: number): Reading {
    const { tape } = this.#sources
    const heardAtMs = tape.heardAtMs()
    if (heardAtMs === null || value === null) {
      return UNAVAILABLE
    }
    const observedAtMs = tape.state.now * 1000
    return nowMs - heardAtMs > MARKET_STALE_MS
      ? { state: "stale", observedAtMs }
      : { state: "ok", seen: { value, place, observedAtMs } }
  }

  /** Dollars of both sides in the window; null unless every trade in it was seen and has a value. */
  #volume(mint: Mint, seconds: number | null, nowMs: number): Rational | null {
    const { tape } = this.#sources
    const window = windowOf(seconds)
    if (window === null || !coverageOf(tape, mint, window, nowMs).complete) {
      return null
    }
    const sums = tape.state.window(mint, window)
    if (sums === null) {
      return whole(0n)
    }
    return sums.unpriced > 0 ? null : { numerator: sums.volumeUsdNanos, denominator: tenTo(9) }
  }

  /** Progress to the end of the curve in percent, 100 after the graduation; null when unknown. */
  #progress(mint: Mint): Rational | null {
    const { pools, tape } = this.#sources
    if ((tape.launches.of(mint)?.graduatedAtMs ?? null) !== null) {
      return whole(100n)
    }
    if (isMoney(mint)) {
      return null
    }
    const rate = pools.poolsOf(mint).find(({ graduation }) => graduation !== undefined)?.graduation
    return rate === undefined || rate.denominator === 0n
      ? null
      : { numerator: 100n * rate.numerator, denominator: rate.denominator }
  }

  /** Dollars in the pools of the token; no value while one of the pools has none. */
  #liquidity(mint: Mint, place: number, nowMs: number): Reading {
    const { medians, pools } = this.#sources
    const prices = medians.at(nowMs)
    if (!pools.isLoaded(mint) || prices.lifetime === null) {
      return UNAVAILABLE
    }
    const { observedAtMs } = prices.lifetime
    if (prices.isStale) {
      return { state: "stale", observedAtMs }
    }
    const { lacking, micro } = depthOf(pools.poolsOf(mint), prices, pools.lacking(mint))
    return micro === null || lacking !== null
      ? UNAVAILABLE
      : { state: "ok", seen: { value: { numerator: micro, denominator: tenTo(6) }, place, observedAtMs } }
  }

  /** Share of the ten largest owners, in percent; no value while holders or pools are not completely known. */
  #concentration(mint: Mint, place: number, nowMs: number): Reading {
    const known = this.#sources.holders.knownOf(mint, nowMs)
    if (known === null || known.total === 0n || !known.poolCoverage.complete) {
      return UNAVAILABLE
    }
    const { observedAtMs } = known.life
    return known.lacking !== null
      ? { state: "stale", observedAtMs }
      : {
          state: "ok",
          seen: { value: { numerator: 100n * known.largest(TOP), denominator: known.total }, place, observedAtMs }
        }
  }

  /**
   * Seconds since the last trade that was seen, by the clock of this service. They also grow while blocks are missing.
   * No value before the first trade, or while stored trades are read back.
   */
  #silence(mint: Mint, place: number, nowMs: number): Reading {
    const { tape } = this.#sources
    const seen = tape.isRestoring() ? null : tape.state.seen(mint)
    if (seen === null) {
      return UNAVAILABLE
    }
    const seconds = Math.max(0, Math.floor(nowMs / 1000) - seen.last)
    return { state: "ok", seen: { value: whole(BigInt(seconds)), place, observedAtMs: nowMs } }
  }
}

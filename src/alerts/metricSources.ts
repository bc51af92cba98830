/** The current values of metrics, and the reads that keep them current. */
import { Clock, Duration, Effect } from "effect"
import { isOfPools } from "../api/schemas/Alert.ts"
import type { Mint } from "../domain/Address.ts"
import { monotonicMs } from "../domain/loopTime.ts"
import type { CoverageReason } from "../domain/Scalar.ts"
import { isMoney } from "../domain/stables.ts"
import { Market } from "../market/tape/Market.ts"
import { PoolBook } from "../quotes/pools/PoolBook.ts"
import { Requester } from "../quotes/pools/Requester.ts"
import { HolderReader } from "../tokens/HolderReader.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { ActivityMetrics } from "./ActivityMetrics.ts"
import { AuthorityChanges } from "./AuthorityChanges.ts"
import { MedianPrices } from "./MedianPrices.ts"
import { Metrics } from "./Metrics.ts"
import { decidingMeasure, type Measure } from "./Reading.ts"

/** After a pause of more than `longestPause` between two evaluations of all alerts, windows of values begin anew. */
export const makeMetricSources = Effect.fnUntraced(function* (longestPause: Duration.Duration) {
  const tape = yield* Market
  const tokens = yield* TokenBook
  const prices = yield* PriceBook
  const pools = yield* PoolBook
  const holders = yield* HolderReader
  const clock = yield* Clock.Clock
  const elapsedMs = () => monotonicMs(clock)
  const medians = new MedianPrices(prices)
  const authorities = new AuthorityChanges()
  const longestPauseMs = Duration.toMillis(longestPause)
  const activity = new ActivityMetrics({
    tape,
    pools,
    holders,
    medians,
    authorities,
    monotonicMs: elapsedMs,
    longestPauseMs
  })
  const metrics = new Metrics(tape, tokens, medians, activity)

  /** Keeps the holders of a token followed. Returns why they are not known; null when they are known. */
  const warmHolders = Effect.fnUntraced(function* (mint: Mint, nowMs: number) {
    yield* tokens.warm(mint)
    const state = tokens.read(mint)
    return state?._tag === "Token" && state.facts !== null
      ? holders.suggest(mint, state.facts.tokenProgram, nowMs)
      : null
  })

  /**
   * Requests what the metric is made of, on behalf of the alerts. The alerts have a bounded number of pending mints
   * like a key, and take turns with the keys. Returns why the holders that the metric needs are not known; null
   * otherwise.
   */
  const warm = Effect.fnUntraced(function* (
    mint: Mint,
    watched: Measure,
    nowMs: number
  ): Effect.fn.Return<CoverageReason | null> {
    const measure = decidingMeasure(watched)
    // Alerts created before this check existed may still have such a metric. Skip them, or the source would stay `partial`.
    const lacking = measure.metric === "top10_pct" && !isMoney(mint) ? yield* warmHolders(mint, nowMs) : null
    if (isOfPools(measure.metric) && !pools.isLoaded(mint)) {
      yield* Effect.provideService(pools.warm(mint), Requester, "alerts")
    }
    const isByMedian = metrics.isByMedian(mint, measure)
    if (isByMedian || measure.metric === "market_cap_usd" || measure.metric === "authority_changes") {
      yield* tokens.warm(mint)
    }
    if (isByMedian && !medians.isLoaded(mint, nowMs)) {
      yield* Effect.provideService(prices.warm(mint), Requester, "alerts")
    }
    return lacking
  })

  return { authorities, elapsedMs, metrics, tape, tokens, warm }
})

import type { Types } from "effect"
import { isActivity, isOfWallet } from "../api/schemas/Alert.ts"
import { type Mint, SOL } from "../domain/Address.ts"
import { tenTo } from "../domain/decimal.ts"
import { divide, multiply, type Rational, whole } from "../domain/rational.ts"
import { isMoney } from "../domain/stables.ts"
import { NANOS_PER_USD } from "../domain/units.ts"
import { changeOf, priceRational } from "../market/reads/measures.ts"
import { orderKey } from "../market/model/TradeRecord.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { supplyOf, tokenRef } from "../market/reads/tokenRef.ts"
import { coverageOf } from "../market/reads/tokenMeasures.ts"
import { lackingNow, MARKET_STALE_MS } from "../market/tape/freshness.ts"
import type { Market } from "../market/tape/Market.ts"
import type { PricedBatch } from "../market/model/TradeBatch.ts"
import type { TokenBook } from "../tokens/TokenBook.ts"
import { type ActivityMetrics, windowOf } from "./ActivityMetrics.ts"
import type { Observation } from "./evaluate.ts"
import type { MedianPrices } from "./MedianPrices.ts"
import { decidingMeasure, type Measure, type Reading, UNAVAILABLE } from "./Reading.ts"
import { UnknownSpans } from "./UnknownSpans.ts"

/** Blocks older than this many milliseconds are too old to price a token. */
const OLD_MS = 60_000

/** How many tokens are remembered beyond the tokens of the tape. */
const SPARE = 1024

const SOL_SCALE = tenTo(9)

type PriceParts = Pick<TapeTrade, "amount" | "lamports" | "priceUsd" | "solUsdNanos">

/**
 * SOL for one whole token as in the chart in SOL: exactly as the pool traded, or for a trade against another mint its price
 * in dollars over the block's price of SOL. Null when neither is known.
 */
const priceInSol = (
  { amount, lamports, priceUsd, solUsdNanos }: PriceParts,
  decimals: number | null
): Rational | null => {
  if (lamports !== null) {
    return lamports <= 0n || amount <= 0n || decimals === null
      ? null
      : { numerator: lamports * tenTo(decimals), denominator: amount * SOL_SCALE }
  }
  const price = priceRational(priceUsd)
  return price === null || solUsdNanos === null || solUsdNanos <= 0n
    ? null
    : divide(price, { numerator: solUsdNanos, denominator: NANOS_PER_USD })
}

/** True when `priceInSol` gives a price. Builds no fraction for a swap against SOL: a busy chain has thousands a second. */
const isPricedInSol = (trade: PriceParts, decimals: number | null): boolean =>
  trade.lamports === null
    ? priceInSol(trade, decimals) !== null
    : trade.lamports > 0n && trade.amount > 0n && decimals !== null

/** Place and time of a swap. Later swaps overwrite it, so they create no garbage. */
interface LastSwap {
  place: number
  timeMs: number
}

/** The last swap of a token with a price in SOL, and what its price is made of. */
interface LastSolSwap extends LastSwap, Types.Mutable<PriceParts> {
  decimals: number | null
}

/** The price that the last swap of a token set. */
interface LastPrice {
  readonly value: Rational
  readonly place: number
  /** Time of the swap in milliseconds since the Unix epoch; null when only its place is known. */
  readonly timeMs: number | null
}

/**
 * Metrics of tokens from the trades of the tape. The price is the price of the last pool swap, as in charts and
 * discovery. Every swap of a block counts, so an alert has seen what a candle touched. A change compares the price with
 * the price in force when the window began. A market cap is the whole supply at the price. A token that no swap prices,
 * such as USDC, has the median price over its pools. Every metric with the source `median` takes this price too.
 */
export class Metrics {
  readonly #tape: Market["Service"]
  readonly #tokens: Pick<TokenBook["Service"], "read">
  readonly #medians: MedianPrices
  readonly #activity: ActivityMetrics
  /** The last swap of each token with a price in SOL: the tape keeps dollars only. */
  readonly #inSol = new Map<Mint, LastSolSwap>()
  /** Place and time of the last swap with a price in dollars: the tape keeps the place only. */
  readonly #inUsdAt = new Map<Mint, LastSwap>()
  readonly #unknown = new UnknownSpans()

  constructor(
    tape: Market["Service"],
    tokens: Pick<TokenBook["Service"], "read">,
    medians: MedianPrices,
    activity: ActivityMetrics
  ) {
    this.#activity = activity
    this.#tape = tape
    this.#tokens = tokens
    this.#medians = medians
  }

  /** True when a block of that time is recent enough to price tokens. */
  isFresh(blockTimeMs: number, nowMs: number): boolean {
    return nowMs - blockTimeMs <= OLD_MS
  }

  /** Drops what belongs to the previous chain: the slots of another chain follow. */
  startAnew(): void {
    this.#inSol.clear()
    this.#inUsdAt.clear()
    this.#unknown.startAnew()
    this.#activity.follow(new Set(), 0)
  }

  /** Records the prices in SOL of a block, and the times of its prices. */
  note({ trades }: PricedBatch): void {
    for (const trade of trades) {
      if (trade.role !== "wallet") {
        this.#noteSwap(trade)
      }
    }
    for (const held of [this.#inSol, this.#inUsdAt]) {
      if (held.size > 2 * this.#tape.state.tokens + SPARE) {
        Array.from(held.keys())
          .filter((mint) => !this.#tape.state.has(mint))
          .forEach((mint) => held.delete(mint))
      }
    }
  }

  #noteSwap(trade: TapeTrade): void {
    const { mint, priceUsd, timeMs } = trade
    const place = orderKey(trade.slot, trade.index)
    this.#noteSolSwap(trade, place)
    if (priceUsd !== null) {
      const known = this.#inUsdAt.get(mint)
      if (known === undefined) {
        this.#inUsdAt.set(mint, { place, timeMs })
      } else if (place > known.place) {
        known.place = place
        known.timeMs = timeMs
      }
    }
  }

  #noteSolSwap(trade: TapeTrade, place: number): void {
    const { amount, lamports, mint, priceUsd, solUsdNanos, timeMs } = trade
    const decimals = this.#decimalsOf(trade)
    if (mint === SOL || !isPricedInSol(trade, decimals)) {
      return
    }
    const known = this.#inSol.get(mint)
    if (known === undefined) {
      this.#inSol.set(mint, { amount, lamports, priceUsd, solUsdNanos, decimals, place, timeMs })
    } else if (place > known.place) {
      known.amount = amount
      known.lamports = lamports
      known.priceUsd = priceUsd
      known.solUsdNanos = solUsdNanos
      known.decimals = decimals
      known.place = place
      known.timeMs = timeMs
    }
  }

  /** Records which values are unknown, for `unknown_seconds` and for owners. */
  noteUnknown(watched: Iterable<{ readonly mint: Mint; readonly measure: Measure }>, nowMs: number): void {
    this.#unknown.note(
      Array.from(
        watched,
        ({ measure, mint }) => [mint, measure, this.now(mint, decidingMeasure(measure), nowMs)] as const
      ),
      nowMs
    )
  }

  /** Since when the value has been unknown; null while it is known, and when this process does not look at it. */
  unknownSince(mint: Mint, measure: Measure): number | null {
    return this.#unknown.sinceMs(mint, measure) ?? null
  }

  /** True when anything of the mint was seen: a trade, its account, or a pool that prices it. */
  hasSeen(mint: Mint, nowMs: number): boolean {
    return (
      isMoney(mint) ||
      this.#tape.state.has(mint) ||
      this.#tokens.read(mint)?._tag === "Token" ||
      this.#medians.isLoaded(mint, nowMs)
    )
  }

  /** Whole seconds for which the price has been unknown; no value in a process that does not look at it. */
  #unknownSeconds(mint: Mint, measure: Measure, nowMs: number): Reading {
    const sinceMs = this.#unknown.sinceMs(mint, measure)
    if (sinceMs === undefined) {
      return UNAVAILABLE
    }
    const seconds = sinceMs === null ? 0 : Math.max(0, Math.floor((nowMs - sinceMs) / 1000))
    return { state: "ok", seen: { value: whole(BigInt(seconds)), place: this.placeOf(mint), observedAtMs: nowMs } }
  }

  /** Records the liquidity of tokens whose drops are watched, for later comparisons. */
  follow(drops: ReadonlySet<Mint>, nowMs: number): void {
    this.#activity.follow(drops, nowMs)
  }

  /** Current value of the metric. */
  now(mint: Mint | null, measure: Measure, nowMs: number): Reading {
    if (mint === null || isOfWallet(measure.metric)) {
      return this.#blocks(nowMs)
    }
    if (measure.metric === "unknown_seconds") {
      return this.#unknownSeconds(mint, measure, nowMs)
    }
    if (isActivity(measure.metric)) {
      return this.#activity.now(mint, measure.metric, measure, this.placeOf(mint), nowMs)
    }
    return this.isByMedian(mint, measure) ? this.#byMedian(mint, measure, nowMs) : this.#bySwap(mint, measure, nowMs)
  }

  /** State of the blocks. Any block may have trades of a wallet. */
  #blocks(nowMs: number): Reading {
    const lacking = lackingNow(this.#tape, nowMs)
    const observedAtMs = this.#tape.state.now * 1000
    return lacking === "not_captured" ? UNAVAILABLE : { state: lacking === null ? "watching" : "stale", observedAtMs }
  }

  /**
   * True when the median over pools gives the metric: the alert asks for it, or no swap prices the token. Changes need
   * swaps.
   */
  isByMedian(mint: Mint, { metric, source }: Measure): boolean {
    return (
      metric !== "change_pct" &&
      !isActivity(metric) &&
      !isOfWallet(metric) &&
      (source === "median" || this.#lastOf(mint, metric) === undefined)
    )
  }

  #byMedian(mint: Mint, measure: Measure, nowMs: number): Reading {
    const { decimals } = tokenRef({ tokens: this.#tokens, tape: this.#tape }, mint)
    const price = this.#medians.read(mint, measure.metric === "price_sol" ? "sol" : "usd", decimals, nowMs)
    if (price.state !== "ok") {
      return price
    }
    const value = this.#valueAt(mint, measure, price.value, nowMs)
    // Never before a swap that has been seen: the pools may be read at a later commitment than blocks.
    const place = Math.max(price.place, this.placeOf(mint))
    return value === null ? UNAVAILABLE : { state: "ok", seen: { value, place, observedAtMs: price.observedAtMs } }
  }

  #bySwap(mint: Mint, measure: Measure, nowMs: number): Reading {
    const heardAtMs = this.#tape.heardAtMs()
    const last = this.#lastOf(mint, measure.metric)
    const value = last === undefined ? null : this.#valueAt(mint, measure, last.value, nowMs)
    if (heardAtMs === null || last === undefined) {
      return UNAVAILABLE
    }
    const observedAtMs = this.#tape.state.now * 1000
    if (nowMs - heardAtMs > MARKET_STALE_MS || !this.isFresh(observedAtMs, nowMs)) {
      return { state: "stale", observedAtMs }
    }
    if (value === null) {
      return UNAVAILABLE
    }
    // A change depends on when it is looked at, too.
    const isOfSwap = measure.metric !== "change_pct" && last.timeMs !== null
    const seen = { value, place: last.place, observedAtMs }
    return { state: "ok", seen: isOfSwap ? { ...seen, swapAtMs: last.timeMs } : seen }
  }

  /** Values of the metric at each swap of one token, in the order given; none when a median is watched. */
  during(swaps: ReadonlyArray<TapeTrade>, measure: Measure, nowMs: number): ReadonlyArray<Observation> {
    if (measure.source === "median" || isActivity(measure.metric) || isOfWallet(measure.metric)) {
      return []
    }
    return swaps.flatMap((trade) => {
      const price = measure.metric === "price_sol" ? this.#solPrice(trade) : priceRational(trade.priceUsd)
      const value = price === null ? null : this.#valueAt(trade.mint, measure, price, nowMs)
      return value === null ? [] : [{ value, place: orderKey(trade.slot, trade.index), observedAtMs: trade.timeMs }]
    })
  }

  /**
   * The place of the newest trade of a token; without a token, the place of the next block. New alerts watch later
   * trades.
   */
  placeOf(mint: Mint | null): number {
    return mint === null ? orderKey(this.#tape.newestSlot() + 1, 0) : this.#lastPlace(mint)
  }

  #lastPlace(mint: Mint): number {
    return Math.max(this.#tape.state.lastPrice(mint)?.key ?? 0, this.#inSol.get(mint)?.place ?? 0)
  }

  #solPrice(trade: TapeTrade): Rational | null {
    return trade.mint === SOL ? null : priceInSol(trade, this.#decimalsOf(trade))
  }

  #decimalsOf({ decimals, mint }: TapeTrade): number | null {
    return decimals ?? this.#tape.decimalsOf(mint)
  }

  #lastOf(mint: Mint, metric: Measure["metric"]) {
    return metric === "price_sol" ? this.#lastSol(mint) : this.#lastUsd(mint)
  }

  #lastSol(mint: Mint): LastPrice | undefined {
    const last = this.#inSol.get(mint)
    if (last === undefined) {
      return undefined
    }
    const value = priceInSol(last, last.decimals)
    return value === null ? undefined : { value, place: last.place, timeMs: last.timeMs }
  }

  #lastUsd(mint: Mint): LastPrice | undefined {
    const last = this.#tape.state.lastPrice(mint)
    const value = priceRational(last?.price ?? null)
    if (last === null || value === null) {
      return undefined
    }
    const at = this.#inUsdAt.get(mint)
    return { value, place: last.key, timeMs: at?.place === last.key ? at.timeMs : null }
  }

  #valueAt(mint: Mint, { metric, windowSeconds: seconds }: Measure, price: Rational, nowMs: number) {
    switch (metric) {
      case "price_usd":
      case "price_sol":
        return price
      case "market_cap_usd": {
        const supply = supplyOf({ tokens: this.#tokens, tape: this.#tape }, mint)
        return supply === null
          ? null
          : divide(multiply(price, { numerator: supply.units, denominator: 1n }), {
              numerator: tenTo(supply.decimals),
              denominator: 1n
            })
      }
      case "change_pct":
        return this.#changeAt(mint, seconds, price, nowMs)
      default:
        return null
    }
  }

  #changeAt(mint: Mint, seconds: number | null, price: Rational, nowMs: number): Rational | null {
    const window = windowOf(seconds)
    const start = window === null ? null : priceRational(this.#tape.state.window(mint, window)?.startPrice ?? null)
    return window === null || start === null || !coverageOf(this.#tape, mint, window, nowMs).complete
      ? null
      : changeOf(start, price)
  }
}

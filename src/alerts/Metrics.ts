import { isActivity, isOfWallet } from "../domain/wallets/Alert.ts"
import { type Mint, SOL } from "../domain/Address.ts"
import { tenTo } from "../domain/decimal.ts"
import { divide, multiply, type Rational } from "../domain/rational.ts"
import { changeOf, priceRational } from "../market/views/measures.ts"
import { orderKey } from "../market/tape/TradeRecord.ts"
import type { TapeTrade } from "../market/tape/TapeTrade.ts"
import { supplyOf, tokenRef } from "../market/views/tokenRef.ts"
import { coverageOf } from "../market/views/tokenMeasures.ts"
import { lackingNow, STALE_AFTER_MS, type TradeTape } from "../market/tape/TradeTape.ts"
import type { PricedBatch } from "../market/tape/TradeBatch.ts"
import type { TokenBook } from "../tokens/TokenBook.ts"
import { type ActivityMetrics, windowOf } from "./ActivityMetrics.ts"
import type { Observation } from "./evaluate.ts"
import type { MedianPrices } from "./MedianPrices.ts"
import { type Measure, type Reading, UNAVAILABLE } from "./Reading.ts"

/** A block of more than this many milliseconds ago is too old to price a token. */
const OLD_MS = 60_000

/** Tokens remembered beyond those of the tape. */
const SPARE = 1024

const SOL_SCALE = tenTo(9)

/** SOL for one whole token, exactly as the pool traded; null where it did not trade for SOL. */
const priceInSol = ({ amount, lamports }: TapeTrade, decimals: number | null): Rational | null =>
  lamports === null || lamports <= 0n || amount <= 0n || decimals === null
    ? null
    : { numerator: lamports * tenTo(decimals), denominator: amount * SOL_SCALE }

/**
 * Metrics of tokens by the trades of the tape. The price is that of the last pool swap, the one that charts and discovery
 * show: so every swap of a block counts, and what a candle touched an alert has seen. A change compares it with the price
 * in force when the window began; a market cap is the whole supply at it. Of a token that no swap prices, as of USDC, the
 * price is the median over its pools, which is also that of every metric with the source `median`.
 */
export class Metrics {
  private readonly tape: TradeTape["Service"]
  private readonly tokens: Pick<TokenBook["Service"], "read">
  private readonly medians: MedianPrices
  private readonly activity: ActivityMetrics
  /** The last price in SOL of every token: the tape keeps dollars only. */
  private readonly inSol = new Map<Mint, { readonly value: Rational; readonly place: number }>()

  constructor(
    tape: TradeTape["Service"],
    tokens: Pick<TokenBook["Service"], "read">,
    medians: MedianPrices,
    activity: ActivityMetrics
  ) {
    this.activity = activity
    this.tape = tape
    this.tokens = tokens
    this.medians = medians
  }

  /** True when a block of that time is recent enough to price tokens. */
  isFresh(blockTimeMs: number, nowMs: number): boolean {
    return nowMs - blockTimeMs <= OLD_MS
  }

  /** The slots of another chain follow: nothing of the one before holds. */
  startAnew(): void {
    this.inSol.clear()
    this.activity.follow(new Set(), 0)
  }

  /** Takes note of a block. */
  note({ trades }: PricedBatch): void {
    for (const trade of trades) {
      const value = trade.role === "wallet" ? null : this.solPrice(trade)
      const place = orderKey(trade.slot, trade.index)
      if (value !== null && place > (this.inSol.get(trade.mint)?.place ?? -1)) {
        this.inSol.set(trade.mint, { value, place })
      }
    }
    if (this.inSol.size > 2 * this.tape.state.tokens + SPARE) {
      Array.from(this.inSol.keys())
        .filter((mint) => !this.tape.state.has(mint))
        .forEach((mint) => this.inSol.delete(mint))
    }
  }

  /** Takes note of the liquidity of tokens whose drops are watched, with which metrics compare later. */
  follow(drops: ReadonlySet<Mint>, nowMs: number): void {
    this.activity.follow(drops, nowMs)
  }

  /** Current value of the metric. */
  now(mint: Mint | null, measure: Measure, nowMs: number): Reading {
    if (mint === null || isOfWallet(measure.metric)) {
      return this.blocks(nowMs)
    }
    if (isActivity(measure.metric)) {
      return this.activity.now(mint, measure.metric, measure, this.placeOf(mint), nowMs)
    }
    return this.isByMedian(mint, measure) ? this.byMedian(mint, measure, nowMs) : this.bySwap(mint, measure, nowMs)
  }

  /** State of the blocks, of which each may have trades of a wallet. */
  private blocks(nowMs: number): Reading {
    const lacking = lackingNow(this.tape, nowMs)
    const observedAtMs = this.tape.state.now * 1000
    return lacking === "not_captured" ? UNAVAILABLE : { state: lacking === null ? "watching" : "stale", observedAtMs }
  }

  /** True when the median over pools gives the metric: asked for, or because no swap does. Changes need the swaps. */
  isByMedian(mint: Mint, { metric, source }: Measure): boolean {
    return (
      metric !== "change_pct" &&
      !isActivity(metric) &&
      !isOfWallet(metric) &&
      (source === "median" || this.lastOf(mint, metric) === undefined)
    )
  }

  private byMedian(mint: Mint, measure: Measure, nowMs: number): Reading {
    const { decimals } = tokenRef({ tokens: this.tokens, tape: this.tape }, mint)
    const price = this.medians.read(mint, measure.metric === "price_sol" ? "sol" : "usd", decimals, nowMs)
    if (price.state !== "ok") {
      return price
    }
    const value = this.valueAt(mint, measure, price.value, nowMs)
    // Never before a swap that has been seen: the pools may be read at a later commitment than blocks.
    const place = Math.max(price.place, this.placeOf(mint))
    return value === null ? UNAVAILABLE : { state: "ok", seen: { value, place, observedAtMs: price.observedAtMs } }
  }

  private bySwap(mint: Mint, measure: Measure, nowMs: number): Reading {
    const heardAtMs = this.tape.heardAtMs()
    const last = this.lastOf(mint, measure.metric)
    const value = last === undefined ? null : this.valueAt(mint, measure, last.value, nowMs)
    if (heardAtMs === null || last === undefined) {
      return UNAVAILABLE
    }
    const observedAtMs = this.tape.state.now * 1000
    if (nowMs - heardAtMs > STALE_AFTER_MS || !this.isFresh(observedAtMs, nowMs)) {
      return { state: "stale", observedAtMs }
    }
    return value === null ? UNAVAILABLE : { state: "ok", seen: { value, place: last.place, observedAtMs } }
  }

  /** Values of the metric at each of the swaps of one token, in the order given; none where a median is watched. */
  during(swaps: ReadonlyArray<TapeTrade>, measure: Measure, nowMs: number): ReadonlyArray<Observation> {
    if (measure.source === "median" || isActivity(measure.metric) || isOfWallet(measure.metric)) {
      return []
    }
    return swaps.flatMap((trade) => {
      const price = measure.metric === "price_sol" ? this.solPrice(trade) : priceRational(trade.priceUsd)
      const value = price === null ? null : this.valueAt(trade.mint, measure, price, nowMs)
      return value === null ? [] : [{ value, place: orderKey(trade.slot, trade.index), observedAtMs: trade.timeMs }]
    })
  }

  /** The place of the newest trade of a token, or without one that of the next block: new alerts watch trades after it. */
  placeOf(mint: Mint | null): number {
    return mint === null ? orderKey(this.tape.newestSlot() + 1, 0) : this.lastPlace(mint)
  }

  private lastPlace(mint: Mint): number {
    return Math.max(this.tape.state.lastPrice(mint)?.key ?? 0, this.inSol.get(mint)?.place ?? 0)
  }

  private solPrice(trade: TapeTrade): Rational | null {
    return trade.mint === SOL ? null : priceInSol(trade, trade.decimals ?? this.tape.decimalsOf(trade.mint))
  }

  private lastOf(mint: Mint, metric: Measure["metric"]) {
    return metric === "price_sol" ? this.inSol.get(mint) : this.lastUsd(mint)
  }

  private lastUsd(mint: Mint): { readonly value: Rational; readonly place: number } | undefined {
    const last = this.tape.state.lastPrice(mint)
    const value = priceRational(last?.price ?? null)
    return last === null || value === null ? undefined : { value, place: last.key }
  }

  private valueAt(mint: Mint, { metric, windowSeconds: seconds }: Measure, price: Rational, nowMs: number) {
    switch (metric) {
      case "price_usd":
      case "price_sol":
        return price
      case "market_cap_usd": {
        const supply = supplyOf({ tokens: this.tokens, tape: this.tape }, mint)
        return supply === null
          ? null
          : divide(multiply(price, { numerator: supply.units, denominator: 1n }), {
              numerator: tenTo(supply.decimals),
              denominator: 1n
            })
      }
      case "change_pct":
        return this.changeAt(mint, seconds, price, nowMs)
      default:
        return null
    }
  }

  private changeAt(mint: Mint, seconds: number | null, price: Rational, nowMs: number): Rational | null {
    const window = windowOf(seconds)
    const start = window === null ? null : priceRational(this.tape.state.window(mint, window)?.startPrice ?? null)
    return window === null || start === null || !coverageOf(this.tape, mint, window, nowMs).complete
      ? null
      : changeOf(start, price)
  }
}

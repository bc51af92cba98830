import { type Mint } from "../domain/Address.ts"
import { tenTo } from "../domain/decimal.ts"
import { divide, multiply, type Rational, whole } from "../domain/rational.ts"
import { orderKey } from "../market/model/TradeRecord.ts"
import type { PriceBook, Prices } from "../tokens/PriceBook.ts"

/** Digits of the money in which `PriceBook` counts: lamports, and millionths of a dollar. */
const SOL_DIGITS = 9
const USD_DIGITS = 6

/** The median price of one whole token. */
export type MedianPrice =
  | { readonly state: "ok"; readonly value: Rational; readonly place: number; readonly observedAtMs: number }
  | { readonly state: "stale"; readonly observedAtMs: number }
  | { readonly state: "unavailable" }

const UNAVAILABLE: MedianPrice = { state: "unavailable" }

/** Median prices over pools as observations of alerts. */
export class MedianPrices {
  readonly #book: Pick<PriceBook["Service"], "at">
  #prices: { readonly atMs: number; readonly set: Prices } | null = null

  constructor(book: Pick<PriceBook["Service"], "at">) {
    this.#book = book
  }

  /** The price in dollars or SOL; unavailable without loaded pools or decimals. Its place is the newest slot of the pools. */
  read(mint: Mint, money: "sol" | "usd", decimals: number | null, nowMs: number): MedianPrice {
    const { clock, isStale, lifetime, of } = this.at(nowMs)
    const price = of(mint)?.[money] ?? null
    if (lifetime === null || price === null || decimals === null) {
      return UNAVAILABLE
    }
    const { observedAtMs } = lifetime
    if (isStale) {
      return { state: "stale", observedAtMs }
    }
    const digits = money === "sol" ? SOL_DIGITS : USD_DIGITS
    const value = divide(multiply(price, whole(tenTo(decimals))), whole(tenTo(digits)))
    return { state: "ok", value, place: orderKey(clock.slot, 0), observedAtMs }
  }

  /** True when the pools of the mint are loaded, so that loading them would change nothing. */
  isLoaded(mint: Mint, nowMs: number): boolean {
    return this.at(nowMs).of(mint) !== null
  }

  /** The prices at one moment. Each mint is priced once. */
  at(nowMs: number): Prices {
    if (this.#prices?.atMs !== nowMs) {
      this.#prices = { atMs: nowMs, set: this.#book.at(nowMs) }
    }
    return this.#prices.set
  }
}

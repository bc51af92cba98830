/** Prices and values as contract scalars, and the overall status of an answer made of them. */
import { tenTo } from "../domain/decimal.ts"
import { decimalText, multiply, type Rational, whole } from "../domain/rational.ts"
import {
  asOf,
  COMPLETE,
  type CoverageReason,
  incomplete,
  known,
  partial,
  type Scalar,
  type ScalarUnit,
  stale,
  unavailable
} from "../domain/Scalar.ts"
import type { Knowledge } from "../api/schemas/Token.ts"
import type { Prices, UnitPrice } from "./PriceBook.ts"

/** Decimals of the units of account: micro-dollars and lamports. */
const SCALES = { usd: 6, sol: 9 } as const

type Money = keyof typeof SCALES

/** Value of the units, in whole dollars or SOL. */
const worth = (price: Rational, units: bigint, unit: Money): Rational => {
  const { denominator, numerator } = multiply(price, whole(units))
  return { numerator, denominator: denominator * tenTo(SCALES[unit]) }
}

/** The value as of `nowMs`: unavailable without a value, stale when the prices are stale. */
const scalar = (
  { isStale, lifetime }: Prices,
  unit: ScalarUnit,
  value: Rational | null,
  nowMs: number,
  missing: CoverageReason
): Scalar => {
  if (value === null || lifetime === null) {
    return unavailable(unit, missing)
  }
  return isStale ? stale(unit, lifetime) : asOf(known(unit, decimalText(value), lifetime), nowMs)
}

/** The price of one whole token. */
export const priceScalar = (
  prices: Prices,
  price: UnitPrice | null,
  decimals: number | null,
  unit: Money,
  nowMs: number
): Scalar => {
  const each = price?.[unit] ?? null
  const value = each === null || decimals === null ? null : worth(each, tenTo(decimals), unit)
  return scalar(prices, unit, value, nowMs, "not_captured")
}

/** Supply times price. */
export const marketCapScalar = (
  prices: Prices,
  price: UnitPrice | null,
  supply: bigint | null,
  nowMs: number
): Scalar => {
  if (supply === null) {
    return unavailable("usd", "supply_unknown")
  }
  const each = price?.usd ?? null
  return scalar(prices, "usd", each === null ? null : worth(each, supply, "usd"), nowMs, "mark_unknown")
}

/** A sum in millionths of a dollar; partial when `lacking` is given. */
export const usdScalar = (
  prices: Prices,
  micro: bigint | null,
  lacking: CoverageReason | null,
  nowMs: number
): Scalar => {
  const value = micro === null ? null : { numerator: micro, denominator: tenTo(SCALES.usd) }
  const full = scalar(prices, "usd", value, nowMs, lacking ?? "not_captured")
  return lacking === null || full.status !== "known" || prices.lifetime === null
    ? full
    : partial("usd", full.value, prices.lifetime, lacking)
}

/** Overall status: stale if one incomplete scalar is stale, known if all are complete, partial if any value exists. */
export const knowledgeOf = (scalars: ReadonlyArray<Scalar>, observedAtMs: number | null): Knowledge => {
  const newest = scalars.reduce<number | null>(
    (latest, scalar) => (scalar.observedAtMs === null ? latest : Math.max(latest ?? 0, scalar.observedAtMs)),
    observedAtMs
  )
  const lacking = scalars.find(({ coverage }) => !coverage.complete)?.coverage.reason ?? null
  if (lacking === null) {
    return { observedAtMs: newest, status: "known", coverage: COMPLETE }
  }
  if (scalars.some(({ status }) => status === "stale")) {
    return { observedAtMs: newest, status: "stale", coverage: incomplete("source_stale") }
  }
  const something = observedAtMs !== null || scalars.some(({ value }) => value !== null)
  return { observedAtMs: newest, status: something ? "partial" : "unavailable", coverage: incomplete(lacking) }
}

/** The counts and sums of the market as scalars of the API. No float decides a digit. */
import { fromAtomic, numberText, toAtomic, tenTo } from "../../domain/decimal.ts"
import { decimalText, type Rational } from "../../domain/rational.ts"
import {
  type Coverage,
  type CoverageReason,
  incomplete,
  covered as coveredScalar,
  type Lifetime,
  partial,
  type Scalar,
  type ScalarUnit,
  unavailable
} from "../../domain/Scalar.ts"
import { isShown } from "./coverageRule.ts"
import type { TokenWindow } from "../memory/TokenWindows.ts"

/** A measure is valid for as long as its page can be read. */
export const MEASURE_MS = 60_000

/** The lifetime of a measure that is made now. */
export const lifetimeAt = (observedAtMs: number): Lifetime => ({
  observedAtMs,
  expiresAtMs: observedAtMs + MEASURE_MS
})

/** The most fraction digits of the shortest text of a double. */
const MOST_DIGITS = 400

/** A price that is kept as a double, as the exact fraction of the shortest text that reads back as that double. */
export const priceRational = (price: number | null): Rational | null => {
  const text = price === null || price <= 0 ? null : numberText(price)
  if (text === null) {
    return null
  }
  const digits = Math.min(MOST_DIGITS, text.includes(".") ? text.length - text.indexOf(".") - 1 : 0)
  const numerator = toAtomic(text, digits)
  return typeof numerator === "bigint" ? { numerator, denominator: tenTo(digits) } : null
}

/** Percent points from one value to another; null when the first is not positive. */
export const changeOf = (before: Rational, after: Rational): Rational | null =>
  before.numerator <= 0n
    ? null
    : {
        numerator: 100n * (after.numerator * before.denominator - before.numerator * after.denominator),
        denominator: before.numerator * after.denominator
      }

/** The change in percent from the start of a window to its last price; unavailable when either is unknown. */
export const priceChange = (
  window: Pick<TokenWindow, "lastPrice" | "startPrice"> | null,
  covered: Coverage,
  life: Lifetime
): Scalar => {
  const [start, last] = [priceRational(window?.startPrice ?? null), priceRational(window?.lastPrice ?? null)]
  const change = start === null || last === null ? null : changeOf(start, last)
  return measured("percent", change === null ? null : decimalText(change), covered, life)
}

/** Nano-dollars as dollars. */
export const dollarsText = (nanos: bigint): string => fromAtomic(nanos, 9)

/**
 * A measured value. It is partial when anything is missing in the value or its window, and unavailable when too little
 * of the window was seen.
 */
export const measured = (
  unit: ScalarUnit,
  value: string | null,
  covered: Coverage,
  life: Lifetime,
  lacking: CoverageReason | null = null
): Scalar => {
  if (!isShown(covered)) {
    return unavailable(unit, covered.reason ?? "source_gap")
  }
  if (value === null) {
    return unavailable(unit, lacking ?? covered.reason ?? "basis_unknown")
  }
  return covered.complete && lacking !== null
    ? partial(unit, value, life, lacking)
    : coveredScalar(unit, value, life, covered)
}

/** The change in percent between two counts or sums; unavailable when either window is not covered or the first is zero. */
export const changed = (
  before: bigint,
  after: bigint,
  covered: Coverage,
  life: Lifetime,
  lacking: CoverageReason | null = null
): Scalar => {
  const change = changeOf({ numerator: before, denominator: 1n }, { numerator: after, denominator: 1n })
  return measured("percent", change === null ? null : decimalText(change), covered, life, lacking)
}

/** A volume, and how many of its trades have no known value. */
export interface VolumeSum {
  readonly nanos: bigint
  readonly trades: number
  readonly unpriced: number
}

/** True when no trade had a known value, so that the volume is unknown. */
const isUnknown = ({ trades, unpriced }: VolumeSum): boolean => unpriced > 0 && unpriced === trades

/** The change in percent between two volumes. When some trades have no known value, it compares the known parts. */
export const volumeChange = (before: VolumeSum, after: VolumeSum, covered: Coverage, life: Lifetime): Scalar => {
  const lacking = before.unpriced + after.unpriced > 0 ? "mark_unknown" : null
  return isUnknown(before) || isUnknown(after)
    ? measured("percent", null, covered, life, lacking)
    : changed(before.nanos, after.nanos, covered, life, lacking)
}

/** A volume. When some trades have no known value it is the known part; when none has, it is empty. */
export const volumeScalar = (sum: VolumeSum, covered: Coverage, life: Lifetime): Scalar =>
  measured(
    "usd",
    isUnknown(sum) ? null : dollarsText(sum.nanos),
    covered,
    life,
    sum.unpriced > 0 ? "mark_unknown" : null
  )

/** The coverage of data that no source reports. */
export const NOT_CAPTURED: Coverage = incomplete("not_captured")

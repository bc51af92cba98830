/** Exact fractions of integers, and their decimal text. No floats are involved. */
import { fromAtomic, tenTo } from "./decimal.ts"

/** The denominator is positive. */
export interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** How many significant digits an endless fraction gets. Digits before the point are never rounded away. */
export const SIGNIFICANT_DIGITS = 15
/** Decimal text on the wire has at most this many fraction digits. */
const MOST_FRACTION_DIGITS = 30

export const whole = (value: bigint): Rational => ({ numerator: value, denominator: 1n })

/** The value of plain decimal text without a sign, such as `0.25`. */
export const fractionOf = (text: string): Rational => {
  const [digits = "", fraction = ""] = text.split(".")
  return { numerator: BigInt(digits + fraction), denominator: tenTo(fraction.length) }
}

/** The product, not reduced. */
export const multiply = (a: Rational, b: Rational): Rational => ({
  numerator: a.numerator * b.numerator,
  denominator: a.denominator * b.denominator
})

/** The quotient, not reduced. The divisor is positive. */
export const divide = (a: Rational, b: Rational): Rational => ({
  numerator: a.numerator * b.denominator,
  denominator: a.denominator * b.numerator
})

/** Negative when `a` is smaller, positive when `a` is larger, zero when they are equal. */
export const compare = (a: Rational, b: Rational): number => {
  const left = a.numerator * b.denominator
  const right = b.numerator * a.denominator
  return left < right ? -1 : left > right ? 1 : 0
}

/** The fraction in lowest terms. */
export const reduce = ({ denominator, numerator }: Rational): Rational => {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator]
  while (b > 0n) {
    const rest = a % b
    a = b
    b = rest
  }
  return { numerator: numerator / a, denominator: denominator / a }
}

/**
 * The fraction times ten to the power `scale`, rounded to the nearest whole number, half away from zero. The fraction
 * is not negative.
 */
const scaled = ({ denominator, numerator }: Rational, scale: number): bigint =>
  (2n * numerator * tenTo(scale) + denominator) / (2n * denominator)

/**
 * The fraction as decimal text with `SIGNIFICANT_DIGITS`, rounded half away from zero. Null when the fraction is not
 * zero but too small for `MOST_FRACTION_DIGITS`.
 */
export const decimalText = (value: Rational): string | null => {
  const negative = value.numerator < 0n
  const size = { numerator: negative ? -value.numerator : value.numerator, denominator: value.denominator }
  if (size.numerator === 0n) {
    return "0"
  }
  // Number of digits before the point, or minus the number of zeros after it. It may be one too high; the quotient
  // shows that.
  const guess = size.numerator.toString().length - size.denominator.toString().length + 1
  const overshoots = scaled(size, Math.max(0, SIGNIFICANT_DIGITS - guess)) < tenTo(SIGNIFICANT_DIGITS - 1)
  const wanted = SIGNIFICANT_DIGITS - guess + (overshoots ? 1 : 0)
  const scale = Math.min(MOST_FRACTION_DIGITS, Math.max(0, wanted))
  const digits = scaled(size, scale)
  return digits === 0n ? null : `${negative ? "-" : ""}${fromAtomic(digits, scale)}`
}

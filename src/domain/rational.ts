/** Exact fractions of integers, and the decimal text they leave as. No float takes part. */
import { fromAtomic, tenTo } from "./decimal.ts"

/** A fraction. The denominator is positive. */
export interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Significant digits of a fraction that has no end; digits before the point are never rounded away. */
export const SIGNIFICANT_DIGITS = 15
/** The most fraction digits that decimal text on the wire may have. */
const MOST_FRACTION_DIGITS = 30

/** The whole number. */
export const whole = (value: bigint): Rational => ({ numerator: value, denominator: 1n })

/** Their product, not reduced. */
export const multiply = (a: Rational, b: Rational): Rational => ({
  numerator: a.numerator * b.numerator,
  denominator: a.denominator * b.denominator
})

/** Their quotient, not reduced. The divisor is positive. */
export const divide = (a: Rational, b: Rational): Rational => ({
  numerator: a.numerator * b.denominator,
  denominator: a.denominator * b.numerator
})

/** Negative when `a` is the smaller, positive when it is the larger, zero when they are equal. */
export const compare = (a: Rational, b: Rational): number => {
  const left = a.numerator * b.denominator
  const right = b.numerator * a.denominator
  return left < right ? -1 : left > right ? 1 : 0
}

/** The fraction without a common divisor. */
export const reduce = ({ denominator, numerator }: Rational): Rational => {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator]
  while (b > 0n) {
    const rest = a % b
    a = b
    b = rest
  }
  return { numerator: numerator / a, denominator: denominator / a }
}

/** The whole number nearest to the fraction times ten to `scale`, half away from zero; the fraction is not negative. */
const scaled = ({ denominator, numerator }: Rational, scale: number): bigint =>
  (2n * numerator * tenTo(scale) + denominator) / (2n * denominator)

/**
 * The fraction as decimal text to `SIGNIFICANT_DIGITS`, rounded half away from zero. Null when it is not zero and yet too
 * small for the digits that the text may have.
 */
export const decimalText = (value: Rational): string | null => {
  const negative = value.numerator < 0n
  const size = { numerator: negative ? -value.numerator : value.numerator, denominator: value.denominator }
  if (size.numerator === 0n) {
    return "0"
  }
  // Digits before the point, or zeros after it: at most one too many, which the quotient shows.
  const guess = size.numerator.toString().length - size.denominator.toString().length + 1
  const overshoots = scaled(size, Math.max(0, SIGNIFICANT_DIGITS - guess)) < tenTo(SIGNIFICANT_DIGITS - 1)
  const wanted = SIGNIFICANT_DIGITS - guess + (overshoots ? 1 : 0)
  const scale = Math.min(MOST_FRACTION_DIGITS, Math.max(0, wanted))
  const digits = scaled(size, scale)
  return digits === 0n ? null : `${negative ? "-" : ""}${fromAtomic(digits, scale)}`
}

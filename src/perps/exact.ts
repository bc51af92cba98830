/** Exact decimals of venues: whole numbers of 10^-30, and quotients of them. Rounded once, on the way to JSON. */
import { fromAtomic, plainDecimal, tenTo } from "../domain/decimal.ts"

/** Fraction digits of such a number, as many as an exact decimal of the API may have. */
export const SCALE = 30

/** One, in units of 10^-30. */
export const ONE = tenTo(SCALE)

/** A quotient; the denominator is positive. */
export interface Ratio {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Decimal text without an exponent. Its length is bounded, so that arithmetic stays cheap. */
export const DECIMAL = /^(-?)([0-9]{1,40})(?:\.([0-9]{1,30}))?$/u

/** Decimal text in units of 10^-30; null when it is not a decimal, or too long. */
export const parseFixed = (text: string): bigint | null => {
  const parts = DECIMAL.exec(text)
  if (parts === null) {
    return null
  }
  const [, sign, whole = "", fraction = ""] = parts
  const magnitude = BigInt(whole + fraction.padEnd(SCALE, "0"))
  return sign === "-" ? -magnitude : magnitude
}

/** Like `parseFixed`, for text that may have an exponent, such as `1E-7`. */
export const parseScientific = (text: string): bigint | null => {
  const magnitude = plainDecimal(text.toLowerCase().replace(/^-/u, ""))
  const value = magnitude === null ? null : parseFixed(magnitude)
  return value !== null && text.startsWith("-") ? -value : value
}

/** A JSON number in units of 10^-30, exact to the digits it was written with; null when they do not fit. */
export const fixedOfNumber = (value: number): bigint | null => {
  const text = plainDecimal(String(Math.abs(value)))
  const magnitude = text === null ? null : parseFixed(text)
  return magnitude === null || value >= 0 ? magnitude : -magnitude
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

/** The shortest decimal text of a whole number of 10^-digits. */
export const fixedText = (value: bigint, digits: number = SCALE): string =>
  `${value < 0n ? "-" : ""}${fromAtomic(absolute(value), digits)}`

/** The nearest JSON number of a whole number of 10^-digits. */
export const fixedNumber = (value: bigint, digits: number = SCALE): number => Number(fixedText(value, digits))

/** A quotient as a whole number of 10^-digits, rounded half away from zero. */
export const roundAt = ({ denominator, numerator }: Ratio, digits: number): bigint => {
  const doubled = 2n * absolute(numerator) * tenTo(digits)
  const rounded = (doubled + denominator) / (2n * denominator)
  return numerator < 0n ? -rounded : rounded
}

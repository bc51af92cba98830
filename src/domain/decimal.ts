/** Exact arithmetic on decimal text, atomic units and the numbers that JSON shows. No result depends on a float. */

const DECIMAL = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/u
/** A positive number as JSON and `String(number)` write it. */
const JSON_NUMBER = /^([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/u
/** More digits than a double holds, so that only the last step rounds. */
const SIGNIFICANT = 25

/** Why decimal text is not an amount: it is malformed, or finer than the token's smallest unit. */
export type DecimalFault = "format" | "too_fine"

// Precomputed, because computing a power takes longer than most things that are done with it.
const powers = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent))

/** Ten to the power of a non-negative integer. */
export const tenTo = (exponent: number): bigint => powers[exponent] ?? 10n ** BigInt(exponent)

/**
 * Reads whole tokens as atomic units. The text has no sign, exponent or leading zeros, and at most `decimals`
 * fraction digits.
 */
export const toAtomic = (text: string, decimals: number): bigint | DecimalFault => {
  const parts = DECIMAL.exec(text)
  if (parts === null) {
    return "format"
  }
  const [, whole = "", fraction = ""] = parts
  return fraction.length > decimals ? "too_fine" : BigInt(whole + fraction.padEnd(decimals, "0"))
}

/** Writes an atomic amount as whole tokens: exact decimal text without trailing zeros. */
export const fromAtomic = (amount: bigint, decimals: number): string => {
  const digits = amount.toString().padStart(decimals + 1, "0")
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/u, "")
  const whole = digits.slice(0, digits.length - decimals)
  return decimals === 0 || fraction === "" ? whole : `${whole}.${fraction}`
}

/** An atomic amount as whole tokens, rounded to the nearest JSON number. */
export const uiNumber = (amount: bigint, decimals: number): number => Number(fromAtomic(amount, decimals))

/** Writes a positive JSON number without exponent and trailing zeros. Null for any other text. */
export const plainDecimal = (text: string): string | null => {
  const parts = JSON_NUMBER.exec(text)
  if (parts === null) {
    return null
  }
  const [, whole = "", fraction = "", exponent = "0"] = parts
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return scale >= 0 ? fromAtomic(digits, scale) : (digits * tenTo(-scale)).toString()
}

/** The shortest decimal text that reads back as the same positive number, without an exponent. */
export const numberText = (value: number): string | null => plainDecimal(String(value))

/** The share `fraction` of an amount, rounded down. The fraction is decimal text with any number of digits. */
export const shareOf = (amount: bigint, fraction: string): bigint | null => {
  const digits = fraction.length - fraction.indexOf(".") - 1
  const scale = fraction.includes(".") ? digits : 0
  const parts = toAtomic(fraction, scale)
  return typeof parts === "string" ? null : (amount * parts) / tenTo(scale)
}

/** `dividend / divisor` as the nearest JSON number. The dividend is non-negative and the divisor positive. */
export const quotient = (dividend: bigint, divisor: bigint): number => {
  if (dividend === 0n) {
    return 0
  }
  const shift = SIGNIFICANT - (dividend.toString().length - divisor.toString().length)
  const scaled = shift >= 0 ? (dividend * tenTo(shift)) / divisor : dividend / (divisor * tenTo(-shift))
  return Number(`${scaled}e${-shift}`)
}

/**
 * How far `numerator / denominator` is below one, in percentage points, rounded to six decimals, half away from zero.
 */
export const shortfallPct = (numerator: bigint, denominator: bigint): number => {
  const missing = (denominator - numerator) * 200_000_000n
  const half = missing < 0n ? -denominator : denominator
  return Number((missing + half) / (2n * denominator)) / 1_000_000
}

/** Exact decimal texts for the eye. Digits are cut and grouped as text; nothing becomes a float. */

/** Atomic units as decimal text. */
export const decimalText = (units: string, decimals: number): string => {
  const sign = units.startsWith("-") ? "-" : ""
  const digits = units.slice(sign.length).padStart(decimals + 1, "0")
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/u, "")
  return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`
}

const grouped = (whole: string): string => whole.replaceAll(/\B(?=(?:\d{3})+$)/gu, " ")

const SIGNIFICANT = 6

/**
 * Decimal text with groups of three digits and about six significant ones, cut and not rounded. The exact text belongs beside
 * it, in a title.
 */
export const tidyDecimal = (text: string): string => {
  const sign = text.startsWith("-") ? "-" : ""
  const [whole = "0", fraction = ""] = text.slice(sign.length).split(".")
  const zeros = /^0*/u.exec(fraction)?.[0].length ?? 0
  const kept = whole === "0" ? zeros + SIGNIFICANT : Math.max(0, SIGNIFICANT - whole.length)
  const shown = fraction.slice(0, Math.max(kept, whole === "0" ? 0 : 2)).replace(/0+$/u, "")
  return `${sign}${grouped(whole)}${shown === "" ? "" : `.${shown}`}`
}

const SCALES = ["", " K", " M", " B", " T"] as const
const SHORT = 4

/** Decimal text in about four digits, cut and not rounded, with K, M, B or T: for tables. The exact text belongs in a title. */
export const shortDecimal = (text: string): string => {
  const sign = text.startsWith("-") ? "-" : ""
  const [whole = "0", fraction = ""] = text.slice(sign.length).split(".")
  const scale = whole.length <= SHORT ? 0 : Math.min(SCALES.length - 1, Math.floor((whole.length - 1) / 3))
  const point = whole.length - 3 * scale
  const zeros = whole === "0" ? (/^0*/u.exec(fraction)?.[0].length ?? 0) : -point
  const rest = `${whole.slice(point)}${fraction}`.slice(0, Math.max(0, zeros + SHORT)).replace(/0+$/u, "")
  return `${sign}${grouped(whole.slice(0, point))}${rest === "" ? "" : `.${rest}`}${SCALES[scale]}`
}

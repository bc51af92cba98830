/** Exact decimal texts, made readable. Digits are cut and grouped as text; nothing becomes a float. */

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
 * Decimal text in groups of three digits, cut (not rounded) to about six significant digits. Show the exact text beside
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

/** Decimal text with its unit, such as `-$1.5` or `2 SOL`. Other units than these add nothing. */
export const withUnit = (text: string, unit: string): string => {
  switch (unit) {
    case "usd":
      return text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`
    case "sol":
      return `${text} SOL`
    case "percent":
      return `${text} %`
    case "bps":
      return `${text} bps`
    case "seconds":
      return `${text} s`
    default:
      return text
  }
}

/** Whether a decimal text is a gain or a loss. Null for zero. */
export const directionOf = (text: string): "up" | "down" | null =>
  /^-?[0.]*$/u.test(text) ? null : text.startsWith("-") ? "down" : "up"

const SCALES = ["", " K", " M", " B", " T"] as const
const SHORT = 4

/**
 * Decimal text cut (not rounded) to about four digits, with K, M, B or T. For tables; show the exact text in a title.
 */
export const shortDecimal = (text: string): string => {
  const sign = text.startsWith("-") ? "-" : ""
  const [whole = "0", fraction = ""] = text.slice(sign.length).split(".")
  const scale = whole.length <= SHORT ? 0 : Math.min(SCALES.length - 1, Math.floor((whole.length - 1) / 3))
  const point = whole.length - 3 * scale
  const zeros = whole === "0" ? (/^0*/u.exec(fraction)?.[0].length ?? 0) : -point
  const rest = `${whole.slice(point)}${fraction}`.slice(0, Math.max(0, zeros + SHORT)).replace(/0+$/u, "")
  return `${sign}${grouped(whole.slice(0, point))}${rest === "" ? "" : `.${rest}`}${SCALES[scale]}`
}

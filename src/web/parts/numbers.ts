/** Exact decimal texts, made readable in the locale of the reader. Digits are cut as text; nothing becomes a float. */

/** One number as the API gives it. */
export interface ScalarJson {
  readonly value: string | null
  readonly unit: string
  readonly status: "known" | "partial" | "stale" | "unavailable"
  readonly observedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly coverage: { readonly complete: boolean; readonly reason: string | null }
}

/** Milliseconds after which the price of a swap is no longer the price of now. */
const SWAP_COUNTS_MS = 600_000

/**
 * The price of a swap that a socket reported, as the chart and alerts have it. After a while without a swap, or while
 * the market catches up and reports swaps of long ago, it is the price that was read. Where no price could be read, an
 * old swap is a stale price.
 */
export const currentPrice = (
  price: ScalarJson,
  swap: { readonly value: string; readonly atMs: number | null },
  nowMs: number
): ScalarJson => {
  const readAtMs = price.value === null ? null : price.observedAtMs
  if (readAtMs !== null && (swap.atMs === null || swap.atMs + SWAP_COUNTS_MS < readAtMs)) {
    return price
  }
  const ofSwap = swap.atMs !== null && nowMs - swap.atMs < SWAP_COUNTS_MS ? "known" : "stale"
  const status = price.status === "unavailable" || price.status === "stale" ? ofSwap : price.status
  return { ...price, status, value: swap.value, observedAtMs: swap.atMs }
}

/** Atomic units as decimal text. */
export const decimalText = (units: string, decimals: number): string => {
  const sign = units.startsWith("-") ? "-" : ""
  const digits = units.slice(sign.length).padStart(decimals + 1, "0")
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/u, "")
  return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`
}

/** Separators of thousands and of decimals. */
interface Separators {
  readonly group: (whole: string) => string
  readonly point: string
}

/** How a locale writes numbers, always with the digits 0 to 9. By default the locale of the reader. */
export const separatorsOf = (locale?: string): Separators => {
  const format = new Intl.NumberFormat(locale, { numberingSystem: "latn" })
  const point = format.formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? "."
  return { group: (whole) => format.format(BigInt(whole)), point }
}

const ofReader = separatorsOf()

const SUBSCRIPTS = Array.from("₀₁₂₃₄₅₆₇₈₉")
/** Zeros after the point from which their number is written in place of them. */
const MANY_ZEROS = 4

/** A fraction whose many zeros at the beginning are counted: `00001234` becomes `0₄1234`. */
const folded = (fraction: string): string => {
  const zeros = /^0*/u.exec(fraction)?.[0].length ?? 0
  return zeros < MANY_ZEROS || zeros === fraction.length
    ? fraction
    : `0${Array.from(String(zeros), (digit) => SUBSCRIPTS[Number(digit)] ?? digit).join("")}${fraction.slice(zeros)}`
}

/** Sign, digits before the point and digits after it. */
const partsOf = (text: string): readonly [sign: string, whole: string, fraction: string] => {
  const sign = text.startsWith("-") ? "-" : ""
  const [whole = "0", fraction = ""] = text.slice(sign.length).split(".")
  return [sign, whole, fraction]
}

const joined = (sign: string, whole: string, fraction: string, { group, point }: Separators): string =>
  `${sign}${group(whole)}${fraction === "" ? "" : `${point}${folded(fraction)}`}`

const SIGNIFICANT = 6
const SIGNIFICANT_OF_TINY = 4
/** Digits after the point of short and aligned numbers, so that numbers below one another align. */
const PLACES = 2

/** Digits after the point that are shown of a number below 1 and above 0. */
const keptBelowOne = (fraction: string, significant: number): number => {
  const zeros = /^0*/u.exec(fraction)?.[0].length ?? 0
  return zeros + (zeros < MANY_ZEROS ? significant : Math.min(significant, SIGNIFICANT_OF_TINY))
}

/**
 * Decimal text with thousands, cut (not rounded) to about six significant digits. Many zeros after the point are
 * counted: `0.0₅1234`. Show the exact text beside it, in a title.
 */
export const tidyDecimal = (text: string, separators: Separators = ofReader): string => {
  const [sign, whole, fraction] = partsOf(text)
  const kept = whole === "0" ? keptBelowOne(fraction, SIGNIFICANT) : Math.max(2, SIGNIFICANT - whole.length)
  return joined(sign, whole, fraction.slice(0, kept).replace(/0+$/u, ""), separators)
}

/**
 * Decimal text for a column: from 1 on cut (not rounded) to two digits after the point, so that the points are below one
 * another. Below 1 as `tidyDecimal`.
 */
export const alignedDecimal = (text: string, separators: Separators = ofReader): string => {
  const [sign, whole, fraction] = partsOf(text)
  return whole === "0" && directionOf(text) !== null
    ? tidyDecimal(text, separators)
    : joined(sign, whole, fraction.slice(0, PLACES).padEnd(PLACES, "0"), separators)
}

/** Decimal text with six significant digits, also where they are zeros: for prices below one another. */
export const pricedDecimal = (text: string, separators: Separators = ofReader): string => {
  const [sign, whole, fraction] = partsOf(text)
  const kept = whole === "0" ? keptBelowOne(fraction, SIGNIFICANT) : Math.max(2, SIGNIFICANT - whole.length)
  return directionOf(text) === null
    ? tidyDecimal(text, separators)
    : joined(sign, whole, fraction.slice(0, kept).padEnd(kept, "0"), separators)
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

/** Orders decimal texts from the least to the greatest, exactly. */
export const compareDecimals = (one: string, other: string): number => {
  const [[sign, whole, fraction], [otherSign, otherWhole, otherFraction]] = [partsOf(one), partsOf(other)]
  if (sign !== otherSign) {
    return sign === "-" ? -1 : 1
  }
  const places = Math.max(fraction.length, otherFraction.length)
  const difference =
    BigInt(whole + fraction.padEnd(places, "0")) - BigInt(otherWhole + otherFraction.padEnd(places, "0"))
  const order = difference === 0n ? 0 : difference < 0n ? -1 : 1
  return sign === "-" ? -order : order
}

/** The exact sum of decimal texts. */
export const sumOf = (texts: ReadonlyArray<string>): string => {
  const places = Math.max(0, ...texts.map((text) => partsOf(text)[2].length))
  const units = texts.map((text) => {
    const [sign, whole, fraction] = partsOf(text)
    return BigInt(`${sign}${whole}${fraction.padEnd(places, "0")}`)
  })
  return decimalText(String(units.reduce((sum, each) => sum + each, 0n)), places)
}

/**
 * A positive decimal text changed by whole percent, cut to about four significant digits, such as a level that somebody
 * picks. Exact until it is cut.
 */
export const shiftedBy = (text: string, percent: number): string => {
  const [, , fraction] = partsOf(text)
  const units = BigInt(text.replace(".", "")) * BigInt(100 + percent)
  const [, whole, rest] = partsOf(decimalText(String(units), fraction.length + 2))
  const kept = whole === "0" ? (/^0*/u.exec(rest)?.[0].length ?? 0) + 4 : Math.max(2, 5 - whole.length)
  const shown = rest.slice(0, kept).replace(/0+$/u, "")
  return shown === "" ? whole : `${whole}.${shown}`
}

/** Change from one positive decimal text to another in percent, cut to two digits after the point; null from zero. */
export const changePctOf = (from: string, to: string): string | null => {
  const places = Math.max(partsOf(from)[2].length, partsOf(to)[2].length)
  const unitsOf = (text: string): bigint => {
    const [, whole, fraction] = partsOf(text)
    return BigInt(whole + fraction.padEnd(places, "0"))
  }
  const before = unitsOf(from)
  return before === 0n ? null : decimalText(String(((unitsOf(to) - before) * 10_000n) / before), 2)
}

const SCALES = ["", "K", "M", "B", "T"] as const

/**
 * Decimal text cut (not rounded) to two digits after the point, with K, M, B or T from a thousand on. A whole number
 * below a thousand stays whole when `isCount`. A number below 0.01 keeps two significant digits. For tables; show the
 * exact text in a title.
 */
export const shortDecimal = (text: string, isCount = false, separators: Separators = ofReader): string => {
  const [sign, whole, fraction] = partsOf(text)
  const scale = Math.min(SCALES.length - 1, Math.floor((whole.length - 1) / 3))
  const head = scale === 0 ? whole : whole.slice(0, -3 * scale)
  if (scale === 0 && (directionOf(text) === null || (isCount && fraction === ""))) {
    return joined(sign, whole, "", separators)
  }
  const isTiny = whole === "0" && fraction.startsWith("0".repeat(PLACES))
  const rest = isTiny
    ? fraction.slice(0, keptBelowOne(fraction, PLACES)).replace(/0+$/u, "")
    : `${whole.slice(head.length)}${fraction}`.slice(0, PLACES).padEnd(PLACES, "0")
  return `${joined(sign, head, rest, separators)}${SCALES[scale]}`
}

/** A change in percent, cut to two digits after the point however small it is. */
const shortChange = (text: string): string => {
  const [sign, whole, fraction] = partsOf(text)
  const isTiny = whole === "0" && directionOf(text) !== null && fraction.startsWith("0".repeat(PLACES))
  return isTiny ? joined(sign, "0", "0".repeat(PLACES), ofReader) : shortDecimal(text)
}

/** How a number is written. */
export interface Writing {
  /** Cuts it, see `shortDecimal`. */
  readonly short?: boolean
  /** Puts a plus before a gain. */
  readonly signed?: boolean
  /** Two digits after the point, see `alignedDecimal`. */
  readonly aligned?: boolean
  /** Six significant digits, see `pricedDecimal`. */
  readonly priced?: boolean
}

/** Decimal text as pages show it: with its unit, and with its sign where it is a change. */
export const written = (
  text: string,
  unit: string,
  { aligned = false, priced = false, short = false, signed = false }: Writing = {}
): string => {
  const isCount = unit === "count" || unit === "plain"
  const plus = signed && directionOf(text) === "up" ? "+" : ""
  const cut = aligned ? alignedDecimal : priced ? pricedDecimal : tidyDecimal
  const digits =
    short && signed && unit === "percent" ? shortChange(text) : short ? shortDecimal(text, isCount) : cut(text)
  return `${plus}${withUnit(digits, unit)}`
}

/** Amounts that the API gives as plain text or numbers: exact decimals, and measures for display. */
import { shortDecimal, tidyDecimal } from "./numbers.ts"

const SIGNIFICANT = 6
const SIGNIFICANT_OF_RATIOS = 3

/** A number for display as decimal text without exponent. */
export const textOf = (value: number, digits: number = SIGNIFICANT): string =>
  new Intl.NumberFormat("en", { useGrouping: false, maximumSignificantDigits: digits }).format(value)

const shapes = {
  usd: (text: string) => (text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`),
  sol: (text: string) => `${text} SOL`,
  percent: (text: string) => `${text} %`,
  bps: (text: string) => `${text} bps`,
  plain: (text: string) => text
} as const

/** Units of `Amount`. */
export type AmountUnit = keyof typeof shapes

/**
 * An amount; null is a dash with the reason. `signed` colours gains and losses, which their sign shows as well;
 * `short` cuts it to about four digits.
 */
export const Amount = ({
  of: amount,
  short = false,
  signed = false,
  unit,
  why = "not known"
}: {
  readonly of: string | number | null
  readonly unit: AmountUnit
  readonly short?: boolean
  readonly signed?: boolean
  readonly why?: string
}) => {
  if (amount === null) {
    return (
      <data class="figure unavailable" value="" title={why}>
        –<span class="hidden">, {why}</span>
      </data>
    )
  }
  const digits = unit === "percent" || unit === "bps" ? SIGNIFICANT_OF_RATIOS : SIGNIFICANT
  const text = typeof amount === "number" ? textOf(amount, digits) : amount
  const isZero = /^-?[0.]*$/u.test(text)
  const tone = !signed || isZero ? "" : text.startsWith("-") ? " down" : " up"
  const shown = shapes[unit]((short ? shortDecimal : tidyDecimal)(text))
  return (
    <data class={`figure${tone}`} value={text} title={`${amount} ${unit}`}>
      {signed && !isZero && !text.startsWith("-") ? `+${shown}` : shown}
    </data>
  )
}

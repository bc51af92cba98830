/** Amounts that the API gives as decimal text or as JSON numbers. */
import { Unknown } from "./Figure.tsx"
import { directionOf, type Writing, written } from "./numbers.ts"

const SIGNIFICANT = 6
const SIGNIFICANT_OF_RATIOS = 3

/**
 * Decimal text of a number, without exponent, rounded to `digits` significant digits. A whole number keeps all of its
 * digits.
 */
export const textOf = (value: number, digits: number = SIGNIFICANT): string =>
  new Intl.NumberFormat("en", {
    useGrouping: false,
    ...(Number.isInteger(value) ? {} : { maximumSignificantDigits: digits })
  }).format(value)

/** An amount with its unit. Null is a dash, with the reason in the title. `signed` also colours gains and losses. */
export const Amount = ({
  aligned = false,
  of: amount,
  priced = false,
  short = false,
  signed = false,
  unit,
  why = "unknown"
}: Writing & {
  readonly of: string | number | null
  readonly unit: "usd" | "sol" | "percent" | "bps" | "plain"
  readonly why?: string
}) => {
  if (amount === null) {
    return (
      <data class="figure unavailable" value="" title={why}>
        <Unknown why="unknown" />
        <span class="hidden">, {why}</span>
      </data>
    )
  }
  const digits = unit === "percent" || unit === "bps" ? SIGNIFICANT_OF_RATIOS : SIGNIFICANT
  const text = typeof amount === "number" ? textOf(amount, digits) : amount
  const direction = signed ? directionOf(text) : null
  return (
    <data class={`figure ${direction ?? ""}`} value={text} title={`${amount} ${unit}`}>
      {written(text, unit, { aligned, priced, short, signed })}
    </data>
  )
}

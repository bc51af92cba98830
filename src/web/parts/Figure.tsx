/** Numbers of the API with how well they are known: beside them for the eye, in words for a screen reader. */
import { decimalText, shortDecimal, tidyDecimal } from "./numbers.ts"
import { ageWords, reasonWords } from "./words.ts"

/** One number as the API gives it. */
export interface ScalarJson {
  readonly value: string | null
  readonly unit: string
  readonly status: "known" | "partial" | "stale" | "unavailable"
  readonly observedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly coverage: { readonly complete: boolean; readonly reason: string | null }
}

const unitText = (unit: string, text: string): string => {
  switch (unit) {
    case "usd":
      return text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`
    case "sol":
      return `${text} SOL`
    case "percent":
      return `${text} %`
    default:
      return text
  }
}

/** The quality of a number in words. */
export const knowledgeOf = ({ coverage, observedAtMs, status }: ScalarJson): string => {
  const age = observedAtMs === null ? "" : `, observed ${ageWords(Date.now() - observedAtMs)} ago`
  return coverage.reason === null ? `${status}${age}` : `${status}: ${reasonWords(coverage.reason)}${age}`
}

/** A scalar. A number that is not known is a dash, never a zero. `short` cuts it to about four digits. */
export const Figure = ({
  of: scalar,
  short = false,
  signed = false
}: {
  readonly of: ScalarJson
  readonly signed?: boolean
  readonly short?: boolean
}) => {
  const words = knowledgeOf(scalar)
  const { status, unit, value } = scalar
  const tone = !signed || value === null || value === "0" ? "" : value.startsWith("-") ? " down" : " up"
  return (
    <data
      class={`figure ${status}${tone}`}
      value={value ?? ""}
      title={value === null ? words : `${value} ${unit}, ${words}`}
    >
      {value === null ? "–" : unitText(unit, (short ? shortDecimal : tidyDecimal)(value))}
      {status !== "known" && <span class="mark" aria-hidden="true" />}
      <span class="hidden">, {words}</span>
    </data>
  )
}

/** Atomic units as whole tokens; the exact units are in the title. */
export const Units = ({
  amount,
  decimals,
  symbol = ""
}: {
  readonly amount: string | null
  readonly decimals: number | null
  readonly symbol?: string
}) =>
  amount === null ? (
    <data value="">–</data>
  ) : (
    <data value={amount} title={`${amount} atomic units`}>
      {decimals === null ? `${amount} units` : tidyDecimal(decimalText(amount, decimals))}
      {symbol !== "" && (
        <>
          {" "}
          <bdi>{symbol}</bdi>
        </>
      )}
    </data>
  )

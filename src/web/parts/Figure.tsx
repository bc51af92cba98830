/** Numbers of the API with how well they are known: a mark for the eye, words for a screen reader. */
import { decimalText, directionOf, shortDecimal, tidyDecimal, withUnit } from "./numbers.ts"
import { useFlash } from "./useFlash.ts"
import { ageWords, because } from "./words.ts"

/** One number as the API gives it. */
export interface ScalarJson {
  readonly value: string | null
  readonly unit: string
  readonly status: "known" | "partial" | "stale" | "unavailable"
  readonly observedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly coverage: { readonly complete: boolean; readonly reason: string | null }
}

/** How well a number is known, in words. */
export const knowledgeOf = ({ coverage, observedAtMs, status }: ScalarJson): string => {
  const age = observedAtMs === null ? "" : `, observed ${ageWords(Date.now() - observedAtMs)} ago`
  return `${status}${because(coverage)}${age}`
}

/** A number. An unknown one is a dash, never a zero. `short` cuts it to about four digits. */
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
  const direction = signed && value !== null ? directionOf(value) : null
  return (
    <data
      ref={useFlash(value)}
      class={`figure ${status} ${direction ?? ""}`}
      value={value ?? ""}
      title={value === null ? words : `${value} ${unit}, ${words}`}
    >
      {value === null ? "–" : withUnit((short ? shortDecimal : tidyDecimal)(value), unit)}
      {status !== "known" && <span class="mark" aria-hidden="true" />}
      <span class="hidden">, {words}</span>
    </data>
  )
}

/** An amount in whole tokens. The exact atomic units are in the title. */
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

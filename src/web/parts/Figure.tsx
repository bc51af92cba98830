/** Numbers of the API with how well they are known: a mark for the eye, words for a screen reader. */
import {
  alignedDecimal,
  decimalText,
  directionOf,
  type ScalarJson,
  tidyDecimal,
  type Writing,
  written
} from "./numbers.ts"
import { useFlash } from "./useFlash.ts"
import { ageWords, because, briefly } from "./words.ts"

/** How well something is known, in a word or two. */
export const states = {
  known: "complete",
  partial: "incomplete",
  stale: "out of date",
  unavailable: "unknown"
} as const

/** How well a number is known, in words. */
export const knowledgeOf = ({ coverage, observedAtMs, status }: ScalarJson): string => {
  const age = observedAtMs === null ? "" : `, measured ${ageWords(Date.now() - observedAtMs)} ago`
  return `${states[status]}${because(coverage)}${age}`
}

/** In place of a number: a dash in tables, and in lists of facts, where there is room, the reason in a word or two. */
export const Unknown = ({ why }: { readonly why: string }) => (
  <>
    <span class="dash">–</span>
    <span class="why" aria-hidden="true">
      {why}
    </span>
  </>
)

/** A number. An unknown one is a dash, never a zero. `signed` is for changes. */
export const Figure = ({
  of: scalar,
  short = false,
  signed = false
}: Writing & {
  readonly of: ScalarJson
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
      {value === null ? <Unknown why={briefly(scalar.coverage)} /> : written(value, unit, { short, signed })}
      {status !== "known" && <span class="mark" aria-hidden="true" />}
      <span class="hidden">, {words}</span>
    </data>
  )
}

/** An amount in whole tokens. The exact atomic units are in the title. */
export const Units = ({
  aligned = false,
  amount,
  decimals,
  symbol = ""
}: {
  readonly amount: string | null
  readonly decimals: number | null
  readonly symbol?: string
  /** Two digits after the point, for columns. */
  readonly aligned?: boolean
}) =>
  amount === null ? (
    <data value="">–</data>
  ) : (
    <data value={amount} title={`${amount} atomic units`}>
      {decimals === null ? `${amount} units` : (aligned ? alignedDecimal : tidyDecimal)(decimalText(amount, decimals))}
      {symbol !== "" && (
        <>
          {" "}
          <bdi>{symbol}</bdi>
        </>
      )}
    </data>
  )

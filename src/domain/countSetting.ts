/** Settings that hold a non-negative number or time. */
import { Config, Duration, Schema, SchemaTransformation } from "effect"

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu

/** A number in decimal digits. Anything else, such as `0x10` or a blank, is not a number. */
export const NumberText = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Number,
    SchemaTransformation.transform({
      decode: (text) => (DECIMAL.test(text.trim()) ? Number(text) : Number.NaN),
      encode: String
    })
  )
)

const atLeast = (minimum: number, noun: string) =>
  Schema.makeFilter((value: number) => value >= minimum || `must be ${noun}, at least ${minimum}`)

const Whole = Schema.makeFilter((value: number) => Number.isSafeInteger(value) || "must be a whole number")
const Finite = Schema.makeFilter((value: number) => Number.isFinite(value) || "must be a number")

interface Range {
  readonly minimum: number
  readonly maximum: number
}

/** A whole number from `minimum` to `maximum`. */
export const wholeNumber = ({ maximum, minimum }: Range) =>
  NumberText.check(
    Schema.makeFilter(
      (value: number) =>
        (Number.isSafeInteger(value) && value >= minimum && value <= maximum) ||
        `must be a whole number from ${minimum} to ${maximum}`
    )
  )

/** The whole number in the setting `name`, from `minimum` to `maximum`. */
export const rangeSetting = (name: string, byDefault: number, range: Range): Config.Config<number> =>
  Config.schema(wholeNumber(range), name).pipe(Config.withDefault(byDefault))

/** The whole number in the setting `name`, at least `minimum`. */
export const countSetting = (name: string, byDefault: number, minimum = 0): Config.Config<number> =>
  Config.schema(NumberText.check(Whole).check(atLeast(minimum, "a whole number")), name).pipe(
    Config.withDefault(byDefault)
  )

/** The number in the setting `name`, at least zero. */
export const amountSetting = (name: string, byDefault: number): Config.Config<number> =>
  Config.schema(NumberText.check(Finite).check(atLeast(0, "a number")), name).pipe(Config.withDefault(byDefault))

const Share = NumberText.check(
  Schema.makeFilter((value: number) => (value >= 0 && value <= 1) || "must be a share from 0 to 1")
)

/** The share in the setting `name`, from 0 to 1. */
export const shareSetting = (name: string, byDefault: number): Config.Config<number> =>
  Config.schema(Share, name).pipe(Config.withDefault(byDefault))

// A date further back would have a year with fewer than four digits.
const LONGEST = Duration.days(36_500)
const Time = Schema.DurationFromString.check(
  Schema.makeFilter(
    (value) =>
      Duration.between(value, { minimum: Duration.zero, maximum: LONGEST }) ||
      "must be a time from 0 seconds to 36500 days"
  )
)

/** The time in the setting `name`: from zero to 100 years. */
export const durationSetting = (name: string): Config.Config<Duration.Duration> => Config.schema(Time, name)

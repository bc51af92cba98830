/** Settings that hold a non-negative number or time. */
import { Config, Duration, Schema } from "effect"

const atLeast = (minimum: number, noun: string) =>
  Schema.makeFilter((value: number) => value >= minimum || `must be ${noun}, at least ${minimum}`)

const Whole = Schema.makeFilter((value: number) => Number.isSafeInteger(value) || "must be a whole number")
const Finite = Schema.makeFilter((value: number) => Number.isFinite(value) || "must be a number")

/** The whole number in the setting `name`, from `minimum` to `maximum`. */
export const rangeSetting = (
  name: string,
  byDefault: number,
  range: { readonly minimum: number; readonly maximum: number }
): Config.Config<number> => {
  const { maximum, minimum } = range
  const inRange = Schema.makeFilter(
    (value: number) =>
      (Number.isSafeInteger(value) && value >= minimum && value <= maximum) ||
      `must be a whole number from ${minimum} to ${maximum}`
  )
  return Config.schema(Schema.NumberFromString.check(inRange), name).pipe(Config.withDefault(byDefault))
}

/** The whole number in the setting `name`, at least `minimum`. */
export const countSetting = (name: string, byDefault: number, minimum = 0): Config.Config<number> =>
  Config.schema(Schema.NumberFromString.check(Whole).check(atLeast(minimum, "a whole number")), name).pipe(
    Config.withDefault(byDefault)
  )

/** The number in the setting `name`, at least zero. */
export const amountSetting = (name: string, byDefault: number): Config.Config<number> =>
  Config.schema(Schema.NumberFromString.check(Finite).check(atLeast(0, "a number")), name).pipe(
    Config.withDefault(byDefault)
  )

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

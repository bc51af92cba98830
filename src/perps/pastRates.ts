/** Reads the past funding rates that venues list. */
import { Option, Schema } from "effect"
import { ONE } from "./exact.ts"
import type { PastRate, PastRates } from "./Venue.ts"

export const HOUR_MS = 3_600_000
/** How much before its span a read of hourly rates begins. */
export const MARGIN_MS = 2 * HOUR_MS

/** A time that a venue states, in milliseconds since the Unix epoch. */
const isTime = Schema.is(Schema.Int.check(Schema.isGreaterThan(0)))

/** When a market was listed, if the venue states it in a known form. */
export const listedFrom = (stated: unknown): { readonly listedFromMs?: number } =>
  isTime(stated) ? { listedFromMs: stated } : {}

/** A rate of one hour. Without a denominator it is in units of 10^-30. */
export const hourlyRate = (atMs: number, numerator: bigint, denominator: bigint = ONE): PastRate => ({
  atMs,
  rate: { numerator, denominator },
  rateHours: 1,
  index: null
})

/** Reads each record of a list by the schema. A record in an unknown form is left out, and the rates have a gap. */
export const pastRatesOf = <Item>(
  records: ReadonlyArray<unknown>,
  schema: Schema.ConstraintCodec<Item, unknown>,
  rateOf: (item: Item) => PastRate
): PastRates => {
  const read = Schema.decodeUnknownOption(schema)
  const rates = records.flatMap((record) => Option.toArray(Option.map(read(record), rateOf)))
  return { rates, isWhole: rates.length === records.length }
}

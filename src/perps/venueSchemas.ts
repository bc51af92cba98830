/** Decodes the numbers and books of venues. */
import { Effect, Schema, SchemaTransformation } from "effect"
import type { Book, Level } from "./bookWalk.ts"
import { isCrossed } from "./bookWalk.ts"
import { DECIMAL, fixedOfNumber, fixedText, ONE, parseFixed, parseScientific } from "./exact.ts"
import { VenueUnreadable } from "./Venue.ts"

/** Decimal text, in units of 10^-30. */
export const DecimalText = Schema.String.check(Schema.isPattern(DECIMAL)).pipe(
  Schema.decodeTo(
    Schema.BigInt,
    // The pattern has been checked, so there is always a value.
    SchemaTransformation.transform({
      decode: (text: string) => parseFixed(text) ?? 0n,
      encode: (value) => fixedText(value)
    })
  )
)

/** Decimal text above zero, in units of 10^-30. */
export const PositiveText = DecimalText.check(Schema.isGreaterThanBigInt(0n))

/** A JSON number in units of 10^-30, exact to the digits it was written with. */
export const DecimalNumber = Schema.Finite.check(Schema.makeFilter((value) => fixedOfNumber(value) !== null)).pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transform({
      decode: (value: number) => fixedOfNumber(value) ?? 0n,
      encode: (value) => Number(fixedText(value))
    })
  )
)

/** A rate as decimal text in units of 10^-30. Some venues write it with an exponent. */
export const RateText = Schema.String.check(
  Schema.isMaxLength(72),
  Schema.makeFilter((text) => parseScientific(text) !== null)
).pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transform({
      decode: (text: string) => parseScientific(text) ?? 0n,
      encode: (value) => fixedText(value)
    })
  )
)

/** Levels as pairs of price and size. */
export const LevelPairs = Schema.Array(Schema.Tuple([DecimalText, DecimalText]))

export const levelOfPair = ([price, size]: (typeof LevelPairs.Type)[number]): Level => ({ price, size })

/** Converts a share of one, in units of 10^-30, to a fee in millionths of a basis point. */
export const feeOfShare = (share: bigint): bigint => (share * 10_000n * 1_000_000n) / ONE

/** A whole number of a venue's units, as digits. */
export const WholeText = Schema.String.check(Schema.isPattern(/^-?[0-9]{1,40}$/u)).pipe(
  Schema.decodeTo(Schema.BigInt, SchemaTransformation.bigintFromString)
)

const malformed = (detail: string) => Effect.fail(new VenueUnreadable({ why: "malformed", detail }))

const descending = (a: Level, b: Level) => (a.price === b.price ? 0 : a.price > b.price ? -1 : 1)

const isHeld = ({ size }: Level) => size > 0n

/** A book from its levels in any order. Empty levels are dropped; a crossed or invalid book is malformed. */
export const bookOf = <A>(
  venueBids: ReadonlyArray<A>,
  venueAsks: ReadonlyArray<A>,
  levelOf: (level: A) => Level
): Effect.Effect<Book, VenueUnreadable> => {
  const bids = venueBids.map(levelOf)
  const asks = venueAsks.map(levelOf)
  if ([...bids, ...asks].some(({ price, size }) => price <= 0n || size < 0n)) {
    return malformed("a level without a price, or of less than nothing")
  }
  const book = {
    bids: bids.filter(isHeld).toSorted(descending),
    asks: asks.filter(isHeld).toSorted((a, b) => descending(b, a))
  }
  return isCrossed(book) ? malformed("a crossed book") : Effect.succeed(book)
}

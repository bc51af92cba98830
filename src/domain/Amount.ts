import { Schema, SchemaTransformation } from "effect"

/** The largest amount a Solana token account can hold. */
export const MAX_U64 = 2n ** 64n - 1n

/** A count of a mint's smallest unit. It is text on the wire, because JSON numbers lose precision past 2^53. */
export const Atomic = Schema.BigIntFromString.check(Schema.isGreaterThanOrEqualToBigInt(0n)).pipe(
  Schema.annotateEncoded({
    identifier: "Atomic",
    description: "A whole number of a mint's smallest unit, as decimal digits."
  })
)
export type Atomic = typeof Atomic.Type

/**
 * An `Atomic` property with its description. `field` does not work here, because the documents show the encoded text
 * and not the bigint.
 */
export const atomic = (description: string) => Schema.flip(Schema.flip(Atomic).annotateKey({ description }))

const AMOUNTS = `a whole number from 1 to ${MAX_U64}, in plain decimal digits`

/** Units of a mint as plain decimal digits: at least 1, and no more than a token account can hold. */
export const AmountText = Schema.String.check(
  Schema.isMaxLength(128, { expected: AMOUNTS }),
  Schema.isPattern(/^(?:0|[1-9][0-9]*)$/u, { expected: AMOUNTS })
)
  .annotate({ identifier: "AmountText", description: "Units of a mint as decimal digits, 1 to 18446744073709551615." })
  .pipe(
    Schema.decodeTo(
      Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: MAX_U64 }, { expected: AMOUNTS })),
      SchemaTransformation.bigintFromString
    )
  )

/** How far a caller allows a price to move, in hundredths of a percent: 1 to 1000. */
export const SlippageBps = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: 1000 }, { expected: "a whole number from 1 to 1000" })
).annotate({
  identifier: "SlippageBps",
  description: "Allowed slippage in basis points, 1 to 1000."
})

/** A mint's decimals as a caller sends them: 0 to 18. */
export const Decimals = Schema.Int.check(
  Schema.isBetween({ minimum: 0, maximum: 18 }, { expected: "a whole number from 0 to 18" })
).annotate({
  identifier: "Decimals",
  description: "Decimals of a mint, 0 to 18."
})

import { Schema } from "effect"
import { Address, type Mint } from "../Address.ts"
import { Scalar } from "../Scalar.ts"

/** A mint, and the time at which its price is wanted. */
export interface PriceMoment {
  readonly mint: Mint
  /** Unix second, part of the time that is looked at. */
  readonly at: number
}

/** The price of one whole token at one second. */
export class PriceAt extends Schema.Opaque<PriceAt>()(
  Schema.Struct({
    mint: Address,
    at: Schema.Int.annotate({ description: "The Unix second asked for." }),
    priceUsd: Scalar.annotate({
      description:
        "Price of the last trade up to the end of the second, at the SOL price of its block; 1 for USDC. Partial where blocks or trades between the two are not known, unavailable without a trade."
    }),
    priceSol: Scalar.annotate({ description: "The price in SOL of the same bar." }),
    method: Schema.Literal("last_trade"),
    barMs: Schema.NullOr(Schema.Int).annotate({ description: "Start of the bar with the trade; null without one." }),
    resolutionMs: Schema.NullOr(Schema.Int).annotate({
      description: "Width of the bar: a second, or a minute, an hour or a day where trades are no longer kept."
    }),
    ageMs: Schema.NullOr(Schema.Int).annotate({
      description: "From the end of the bar to the end of the second: the least age of the trade."
    })
  }).annotate({ identifier: "PriceAt", description: "The price of one whole token at one second." })
) {}

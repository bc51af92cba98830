import { Schema } from "effect"
import type { Mint } from "../../domain/Address.ts"
import { Scalar } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"
import { mint } from "./fields.ts"

/** A mint, and the time at which its price is wanted. */
export interface PriceMoment {
  readonly mint: Mint
  /** The Unix second whose price is wanted, included. */
  readonly at: number
}

export class PriceAt extends Schema.Opaque<PriceAt>()(
  Schema.Struct({
    mint,
    at: field(Schema.Int, "The requested Unix second."),
    priceUsd: field(
      Scalar,
      "Price of the last trade up to the end of the second, at the SOL price of its block; 1 for USDC. Partial where blocks or trades in between are unknown, unavailable without a trade."
    ),
    priceSol: field(Scalar, "The price in SOL of the same bar."),
    method: field(Schema.Literal("last_trade"), "How the price was found."),
    barMs: field(Schema.NullOr(Schema.Int), "Start of the bar that contains the trade; null without a trade."),
    resolutionMs: field(
      Schema.NullOr(Schema.Int),
      "Width of the bar: a second, or a minute, an hour or a day where trades are no longer kept."
    ),
    ageMs: field(
      Schema.NullOr(Schema.Int),
      "Time from the end of the bar to the end of the second, which is the least age of the trade."
    )
  }).annotate({ identifier: "PriceAt", description: "The price of one whole token at one second." })
) {}

import { Schema } from "effect"
import { field } from "../../domain/field.ts"
import { SpotQuote } from "./Quote.ts"

const QuoteFailure = Schema.Struct({
  code: field(Schema.String, "Stable code of the error, as in the errors of a single quote."),
  message: field(Schema.String, "Explanation for people; it may change at any time."),
  retryable: field(Schema.Boolean, "True when the same trade may be priced later.")
}).annotate({ identifier: "QuoteFailure", description: "Why a trade has no price." })

const side = {
  quote: field(Schema.NullOr(SpotQuote), "The priced trade; null without a price."),
  error: field(Schema.NullOr(QuoteFailure), "Why there is no price; null with one.")
}

export const QuoteSide = Schema.Struct(side).annotate({
  identifier: "QuoteSide",
  description: "A quote, or the reason why there is none."
})
export type QuoteSide = typeof QuoteSide.Type

export class SpotQuotes extends Schema.Opaque<SpotQuotes>()(
  Schema.Struct({
    quotes: field(
      Schema.Array(
        Schema.Struct({
          ...side,
          reverse: field(
            Schema.NullOr(QuoteSide),
            "The quote that sells outAmount back for inputMint at the same state, as if the first trade had not happened. Null unless twoSided was sent and the trade has a price."
          )
        }).annotate({ identifier: "SpotQuotesEntry", description: "The quotes of one trade." })
      ),
      "The answers, in the order of the trades."
    ),
    priced: field(Schema.Int, "Number of quotes that have a price, both sides counted.")
  }).annotate({ identifier: "SpotQuotes", description: "Several trades priced at one state." })
) {}

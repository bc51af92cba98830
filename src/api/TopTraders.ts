import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { Status } from "../domain/Scalar.ts"
import { CursorExpired, DataUnavailable, InvalidCursor, UnsupportedChain } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { LimitParameter, NextCursor } from "./pages.ts"
import { optional, tokenParams } from "./parameters.ts"
import { TopTrader, TraderCoverage, TraderWindow } from "./schemas/TopTraders.ts"
import { field } from "../domain/field.ts"
import { answerSlot, metaOf, tradeBasis } from "./schemas/fields.ts"

/** Default values of optional parameters. */
export const defaults = { window: "24h", limit: 20 } as const

export const TopTradersQuery = Schema.Struct({
  window: optional(TraderWindow, `1h, 24h, or all that is kept; ${defaults.window} by default.`),
  limit: Schema.optionalKey(LimitParameter(100, defaults.limit)),
  cursor: field(
    Schema.optionalKey(Schema.String),
    "The nextCursor of the previous page, with the same selectors: 1 to 512 characters, valid for 30 seconds."
  )
})

export class TopTradersAnswer extends Schema.Opaque<TopTradersAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(TopTrader), "The answer itself."),
    pagination: field(
      Schema.Struct({
        total: field(Schema.Int, "Number of wallets in the ranking."),
        hasMore: field(Schema.Boolean, "True when there is another page."),
        nextCursor: NextCursor
      }),
      "Place of the page in the list."
    ),
    meta: field(
      Schema.Struct({
        ...metaOf("public-research-v1"),
        slot: answerSlot,
        tradeBasis: tradeBasis("net_trades"),
        observedAtMs: field(
          Schema.NullOr(Schema.Int),
          "Time of the newest observation that was used, in milliseconds since the Unix epoch; null when there was none."
        ),
        address: field(Address, "Mint of the token: base58 of 32 bytes on Solana."),
        window: field(TraderWindow, "The span of time that ends now."),
        ranking: field(Schema.Literal("observed_volume_desc"), "The order of the rows."),
        source: field(Schema.Literal("native_execution_view"), "Where the values come from."),
        status: Status,
        coverage: TraderCoverage
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "TopTradersAnswer", description: "A page of the wallets that trade a token most." })
) {}

/** Wallets that trade a token, from observed trades. */
export class TopTradersGroup extends HttpApiGroup.make("topTraders")
  .add(
    HttpApiEndpoint.get("rank", "/api/v1/tokens/:chain/:address/top-traders", {
      params: tokenParams,
      query: TopTradersQuery,
      success: TopTradersAnswer,
      error: [UnsupportedChain, InvalidCursor, CursorExpired, DataUnavailable]
    }).annotate(OpenApi.Summary, "Wallets that trade a token most, by observed volume in USD")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Wallets that trade a token, from observed trades.") {}

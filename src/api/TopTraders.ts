import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { Status } from "../domain/Scalar.ts"
import { TopTrader, TraderCoverage, TraderWindow } from "../domain/market/TopTraders.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { LimitParameter, NextCursor } from "./cursor.ts"
import { described, tokenParams } from "./parameters.ts"
import { CursorExpired, DataUnavailable, InvalidCursor, UnsupportedChain } from "./problems.ts"

/** Default values of optional parameters. */
export const defaults = { window: "24h", limit: 20 } as const

/** Query of a page of the ranking. */
export const TopTradersQuery = Schema.Struct({
  window: Schema.optionalKey(described(TraderWindow, `1h, 24h or all that is held; ${defaults.window} unless given.`)),
  limit: Schema.optionalKey(LimitParameter(100, defaults.limit)),
  cursor: Schema.optionalKey(
    Schema.String.annotate({
      description: "The nextCursor of the page before, with the same selectors: 1 to 512 characters, for 30 seconds."
    })
  )
})

/** A page of the wallets that trade a token most. */
export class TopTradersAnswer extends Schema.Opaque<TopTradersAnswer>()(
  Schema.Struct({
    data: Schema.Array(TopTrader),
    pagination: Schema.Struct({ total: Schema.Int, hasMore: Schema.Boolean, nextCursor: NextCursor }),
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-research-v1"),
      chain: Schema.Literal("solana"),
      observedAtMs: Schema.NullOr(Schema.Int),
      address: Address,
      window: TraderWindow,
      ranking: Schema.Literal("observed_volume_desc"),
      source: Schema.Literal("native_execution_view"),
      status: Status,
      coverage: TraderCoverage
    })
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

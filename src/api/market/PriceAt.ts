import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../../domain/Address.ts"
import { PriceAt } from "../../domain/market/PriceAt.ts"
import { Coverage, Status } from "../../domain/Scalar.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { JsonBody } from "../middleware/JsonBody.ts"
import { described, IntegerParameter, NoQuery, tokenParams, UniqueList } from "../parameters.ts"
import { ChartWarming, DataUnavailable, RateLimited, TokenNotFound, UnsupportedChain } from "../problems.ts"

/** The last second of the year 9999, the latest accepted time. */
const LAST_SECOND = 253_402_300_799

/** Query of the price of a token at a second. */
export const PriceAtQuery = Schema.Struct({
  at: described(IntegerParameter(0, LAST_SECOND), "Unix second of the price, not later than now.")
})

const PricePoint = Schema.Struct({
  mint: Address,
  at: Schema.Int.check(
    Schema.isBetween({ minimum: 0, maximum: LAST_SECOND }, { expected: `a whole number from 0 to ${LAST_SECOND}` })
  ).annotate({ description: "Unix second of the price, not later than now." })
})

/** Body of a request of prices at several seconds. */
export const PriceHistoryBody = Schema.Struct({
  points: UniqueList(PricePoint, 100, "points")
}).annotate({ identifier: "PriceHistoryRequest", description: "Mints and times of prices." })

const meta = Schema.Struct({
  requestId: Schema.String,
  methodVersion: Schema.Literal("public-price-at-v1"),
  chain: Schema.Literal("solana"),
  observedAtMs: Schema.NullOr(Schema.Int).annotate({ description: "Time of the newest block." }),
  status: Status,
  coverage: Coverage
})

/** The price of one token at one second. */
export class PriceAtAnswer extends Schema.Opaque<PriceAtAnswer>()(
  Schema.Struct({ data: PriceAt, meta }).annotate({
    identifier: "PriceAtAnswer",
    description: "The price of one token at one second."
  })
) {}

/** Prices at several seconds, in the order of the request. */
export class PriceHistoryAnswer extends Schema.Opaque<PriceHistoryAnswer>()(
  Schema.Struct({ data: Schema.Array(PriceAt), meta, nextCursor: Schema.Null }).annotate({
    identifier: "PriceHistoryAnswer",
    description: "Prices at several seconds, in the order of the request."
  })
) {}

/** Prices in the past. */
export class PriceHistoryGroup extends HttpApiGroup.make("priceHistory")
  .add(
    HttpApiEndpoint.get("at", "/api/v1/tokens/:chain/:address/price", {
      params: tokenParams,
      query: PriceAtQuery,
      success: PriceAtAnswer,
      error: [UnsupportedChain, TokenNotFound, ChartWarming, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "The price of one token at one second")
      .annotate(
        OpenApi.Description,
        "That of the last trade up to the end of the second, with its age. Nothing is interpolated."
      ),
    HttpApiEndpoint.post("atMany", "/api/v1/prices/history", {
      query: NoQuery,
      payload: PriceHistoryBody,
      success: PriceHistoryAnswer,
      error: [RateLimited, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(
        OpenApi.Summary,
        "Prices of 1 to 100 pairs of a mint and a second; shares the wallet-batch admission of its caller"
      )
      .annotate(OpenApi.Description, "A row for each pair, without a price where none is known, and the reason.")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Prices in the past, from trades and candles.") {}

import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ChartWarming, DataUnavailable, RateLimited, TokenNotFound, UnsupportedChain } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { BodyLimit, JsonBody } from "./middleware/JsonBody.ts"
import { LAST_SECOND, NoQuery, tokenParams, UnixSecond } from "./parameters.ts"
import { PriceAt } from "./schemas/PriceAt.ts"
import { field } from "../domain/field.ts"
import { answerSlot, knowledgeOf, metaOf, mint, nextCursor } from "./schemas/fields.ts"
import { UniqueList } from "./schemas/lists.ts"

/** Query of the price of a token at a second. */
export const PriceAtQuery = Schema.Struct({
  at: field(UnixSecond, "Unix second of the price. It must not be in the future.")
})

const PricePoint = Schema.Struct({
  mint,
  at: field(
    Schema.Int.check(
      Schema.isBetween({ minimum: 0, maximum: LAST_SECOND }, { expected: `a whole number from 0 to ${LAST_SECOND}` })
    ),
    "Unix second of the price. It must not be in the future."
  )
})

/** Body of a request of prices at several seconds. */
export const PriceHistoryBody = Schema.Struct({
  points: field(UniqueList(PricePoint, 100, "points"), "Different pairs of a mint and a time.")
}).annotate({ identifier: "PriceHistoryRequest", description: "Mints and times of prices." })

const meta = Schema.Struct({
  ...metaOf("public-price-at-v1"),
  slot: answerSlot,
  ...knowledgeOf("Time of the newest block.")
})

export class PriceAtAnswer extends Schema.Opaque<PriceAtAnswer>()(
  Schema.Struct({ data: PriceAt, meta: field(meta, "How the answer was made, and how well it is known.") }).annotate({
    identifier: "PriceAtAnswer",
    description: "The price of one token at one second."
  })
) {}

export class PriceHistoryAnswer extends Schema.Opaque<PriceHistoryAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(PriceAt), "The answer itself."),
    meta: field(meta, "How the answer was made, and how well it is known."),
    nextCursor
  }).annotate({
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
        "The price of the last trade up to the end of the second, with its age. Nothing is interpolated."
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
        "Prices of 1 to 100 pairs of a mint and a second; counts as a wallet-batch read of its caller"
      )
      .annotate(
        OpenApi.Description,
        "One row for each pair. Where no price is known, the row says why. The body may have 16 KiB."
      )
      .annotate(BodyLimit, 16 * 1024)
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Prices in the past, from trades and candles.") {}

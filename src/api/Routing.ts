import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { AmountText, Decimals, SlippageBps } from "../domain/Amount.ts"
import { SpotQuote } from "../domain/quotes/Quote.ts"
import { TransactionReport } from "../domain/TransactionReport.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { Budget } from "./middleware/Metering.ts"
import { NoQuery, UniqueList } from "./parameters.ts"
import {
  InvalidSignature,
  RateLimited,
  RouteNotFound,
  RouteTypeNotServed,
  StatusNotFound,
  UpstreamInvalid,
  UpstreamRateLimited,
  UpstreamTimeout,
  UpstreamUnavailable
} from "./problems.ts"
import { twoMints, VenueLabel } from "./Spot.ts"

/** Body of a route request. */
export const RouteBody = Schema.Struct({
  chain: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^solana$/u, { expected: "solana" }))),
  inputMint: Address,
  outputMint: Address,
  amount: AmountText,
  slippageBps: Schema.optionalKey(SlippageBps),
  outputDecimals: Schema.optionalKey(Decimals),
  venues: Schema.optionalKey(UniqueList(VenueLabel, 20, "items")),
  pools: Schema.optionalKey(UniqueList(Address, 20, "items")),
  maxHops: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }, { expected: "a whole number from 1 to 4" }))
  ),
  directOnly: Schema.optionalKey(Schema.Boolean)
})
  .check(Schema.makeFilter(twoMints, { toJsonSchema: () => ({}) }))
  .annotate({ identifier: "RouteRequest", description: "One trade to route." })

/** The public status of one transaction. */
export class TransactionStatusAnswer extends Schema.Opaque<TransactionStatusAnswer>()(
  Schema.Struct({
    data: TransactionReport,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-status-v1"),
      executionAuthority: Schema.Literal("none")
    })
  }).annotate({ identifier: "TransactionStatus", description: "The public status of one transaction." })
) {}

/** The router: reads only. Nothing here builds, signs or submits a transaction. */
export class RoutingGroup extends HttpApiGroup.make("routing")
  .add(
    HttpApiEndpoint.post("route", "/api/v1/route", {
      query: NoQuery,
      payload: RouteBody,
      success: SpotQuote,
      error: [RouteNotFound, RouteTypeNotServed, RateLimited, UpstreamUnavailable]
    })
      .middleware(JsonBody)
      .annotate(Budget, "quote")
      .annotate(OpenApi.Summary, "Route one trade"),
    HttpApiEndpoint.get("status", "/api/v1/status/:id", {
      params: {
        id: Schema.String.annotate({ description: "A transaction signature: base58 of 64 bytes." })
      },
      query: NoQuery,
      success: TransactionStatusAnswer,
      error: [
        InvalidSignature,
        StatusNotFound,
        UpstreamTimeout,
        UpstreamUnavailable,
        UpstreamRateLimited,
        UpstreamInvalid
      ]
    }).annotate(OpenApi.Summary, "The public status of one transaction")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "The router: reads only. Nothing here builds, signs or submits a transaction.") {}

import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  DataUnavailable,
  InvalidSignature,
  RateLimited,
  RouteNotFound,
  RouteTypeNotServed,
  StatusNotFound,
  UpstreamInvalid,
  UpstreamRateLimited,
  UpstreamTimeout,
  UpstreamUnavailable
} from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { Budget } from "./middleware/Metering.ts"
import { NoQuery } from "./parameters.ts"
import { SpotQuote } from "./schemas/Quote.ts"
import { RouteSimulation } from "./schemas/RouteSimulation.ts"
import { TransactionReport } from "./schemas/TransactionReport.ts"
import { atSlotField, tradeFields, twoMints } from "./Spot.ts"
import { field } from "../domain/field.ts"
import { executionAuthority, methodVersion, requestId } from "./schemas/fields.ts"

export const RouteBody = Schema.Struct({
  chain: field(
    Schema.optionalKey(Schema.String.check(Schema.isPattern(/^solana$/u, { expected: "solana" }))),
    "Always solana."
  ),
  simulate: field(
    Schema.optionalKey(Schema.Boolean),
    "`true`: also executes the hops as one transaction, with their programs on the accounts in memory, and answers what they took and paid. Costs 5 units."
  ),
  ...tradeFields,
  atSlot: atSlotField
})
  .check(Schema.makeFilter(twoMints, { toJsonSchema: () => ({}) }))
  .annotate({ identifier: "RouteRequest", description: "One trade to route." })

export class RouteAnswer extends Schema.Opaque<RouteAnswer>()(
  Schema.Struct({
    ...SpotQuote.fields,
    simulation: field(Schema.optionalKey(RouteSimulation), "What the programs of the route did; with simulate only.")
  }).annotate({ identifier: "RouteAnswer", description: "A routed trade." })
) {}

export class TransactionStatusAnswer extends Schema.Opaque<TransactionStatusAnswer>()(
  Schema.Struct({
    data: TransactionReport,
    meta: field(
      Schema.Struct({
        requestId,
        methodVersion: methodVersion("public-status-v1"),
        executionAuthority
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "TransactionStatus", description: "The public status of one transaction." })
) {}

/** The router. Reads only: nothing here builds, signs or submits a transaction. */
export class RoutingGroup extends HttpApiGroup.make("routing")
  .add(
    HttpApiEndpoint.post("route", "/api/v1/route", {
      query: NoQuery,
      payload: RouteBody,
      success: RouteAnswer,
      error: [RouteNotFound, RouteTypeNotServed, RateLimited, DataUnavailable, UpstreamUnavailable]
    })
      .middleware(JsonBody)
      .annotate(Budget, "quote")
      .annotate(OpenApi.Summary, "Route one trade"),
    HttpApiEndpoint.get("status", "/api/v1/status/:id", {
      params: {
        id: field(Schema.String, "A transaction signature: base58 of 64 bytes.")
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
  .annotate(OpenApi.Description, "The router. Reads only: nothing here builds, signs or submits a transaction.") {}

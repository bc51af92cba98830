import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { WalletRows } from "../domain/wallets/WalletSummary.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { NoQuery, UniqueList } from "./parameters.ts"
import { DataUnavailable, RateLimited } from "./problems.ts"

/** Which wallets are asked about. */
export const WalletsBody = Schema.Struct({
  wallets: UniqueList(Address, 100, "addresses")
}).annotate({ identifier: "WalletSummaryRequest", description: "Which wallets are asked about." })

/** What is known of several wallets, in the order they were asked for. */
export class WalletSummaryAnswer extends Schema.Opaque<WalletSummaryAnswer>()(
  Schema.Struct({
    data: WalletRows,
    source: Schema.String.annotate({ description: "local: from what this service holds itself." })
  }).annotate({ identifier: "WalletSummaryAnswer", description: "What is known of several wallets." })
) {}

/** Who wallets are and what they made, by what is held of them. */
export class WalletsGroup extends HttpApiGroup.make("wallets")
  .add(
    HttpApiEndpoint.post("summary", "/api/v1/wallets/summary", {
      query: NoQuery,
      payload: WalletsBody,
      success: WalletSummaryAnswer,
      error: [RateLimited, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(
        OpenApi.Summary,
        "Identity and observed profit of 1 to 100 wallets; shares the wallet-batch admission of its caller"
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Who wallets are and what they made, by what is held of them. Nothing is loaded.") {}

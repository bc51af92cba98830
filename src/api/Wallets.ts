import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { WalletRows } from "../domain/wallets/WalletSummary.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { NoQuery, UniqueList } from "./parameters.ts"
import { DataUnavailable, RateLimited } from "./problems.ts"

/** Request body of the summary. */
export const WalletsBody = Schema.Struct({
  wallets: UniqueList(Address, 100, "addresses")
}).annotate({ identifier: "WalletSummaryRequest", description: "Wallets of a summary." })

/** Identity and profit of several wallets, in the order of the request. */
export class WalletSummaryAnswer extends Schema.Opaque<WalletSummaryAnswer>()(
  Schema.Struct({
    data: WalletRows,
    source: Schema.String.annotate({ description: "local: from data of this service." })
  }).annotate({ identifier: "WalletSummaryAnswer", description: "Identity and profit of several wallets." })
) {}

/** Identity and observed profit of wallets, from data in memory. */
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
  .annotate(OpenApi.Description, "Identity and observed profit of wallets, from data in memory. Nothing is loaded.") {}

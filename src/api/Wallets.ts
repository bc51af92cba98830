import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable, RateLimited } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { BooleanParameter, IntegerParameter, NoQuery, UniqueList } from "./parameters.ts"
import { WalletPnlHistory, WalletPositions } from "./schemas/WalletPositions.ts"
import { WalletRows } from "./schemas/WalletSummary.ts"
import { field } from "../domain/field.ts"

export const WalletsBody = Schema.Struct({
  wallets: field(UniqueList(Address, 100, "addresses"), "The wallets."),
  backfill: field(
    Schema.optionalKey(Schema.Boolean),
    "Starts reading the wallets' transactions from the chain. The answer does not wait for it."
  )
}).annotate({ identifier: "WalletSummaryRequest", description: "The wallets to summarise." })

export class WalletSummaryAnswer extends Schema.Opaque<WalletSummaryAnswer>()(
  Schema.Struct({
    data: WalletRows,
    source: field(Schema.String, "Always `local`: from data of this service.")
  }).annotate({ identifier: "WalletSummaryAnswer", description: "Identity and profit of several wallets." })
) {}

const source = Schema.String.annotate({ description: "Always `local`: from data of this service." })

export class WalletPositionsAnswer extends Schema.Opaque<WalletPositionsAnswer>()(
  Schema.Struct({ data: WalletPositions, source }).annotate({
    identifier: "WalletPositionsAnswer",
    description: "Positions of one wallet."
  })
) {}

export class WalletPnlHistoryAnswer extends Schema.Opaque<WalletPnlHistoryAnswer>()(
  Schema.Struct({ data: WalletPnlHistory, source }).annotate({
    identifier: "WalletPnlHistoryAnswer",
    description: "Profit of one wallet by UTC day."
  })
) {}

const walletParams = { wallet: field(Address, "A wallet: base58 of 32 bytes.") }

/** Default number of positions of an answer. */
export const defaultPositions = 100
/** Default number of days of a history. */
export const defaultDays = 30

const backfill = Schema.optional(
  field(BooleanParameter, "Starts reading the wallet's transactions from the chain. The answer does not wait for it.")
)

export const PositionsQuery = Schema.Struct({
  limit: Schema.optional(
    field(IntegerParameter(1, 500, defaultPositions), `Most positions of the answer; ${defaultPositions} by default.`)
  ),
  backfill
})

export const PnlHistoryQuery = Schema.Struct({
  days: Schema.optional(
    field(IntegerParameter(1, 365, defaultDays), `Days, including today; ${defaultDays} by default.`)
  ),
  backfill
})

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
        "Identity and observed profit of 1 to 100 wallets; counts as a wallet-batch read of its caller"
      )
  )
  .add(
    HttpApiEndpoint.get("positions", "/api/v1/wallets/:wallet/positions", {
      params: walletParams,
      query: PositionsQuery,
      success: WalletPositionsAnswer,
      error: [RateLimited, DataUnavailable]
    }).annotate(
      OpenApi.Summary,
      "Positions of one wallet with their lots, strict and known profit; counts as a wallet-batch read of its caller"
    ),
    HttpApiEndpoint.get("pnlHistory", "/api/v1/wallets/:wallet/pnl/history", {
      params: walletParams,
      query: PnlHistoryQuery,
      success: WalletPnlHistoryAnswer,
      error: [RateLimited, DataUnavailable]
    }).annotate(
      OpenApi.Summary,
      "Realized profit and value of one wallet by UTC day; counts as a wallet-batch read of its caller"
    )
  )
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Identity and observed profit of wallets, from data of this service. Nothing is loaded unless a backfill is requested."
  ) {}

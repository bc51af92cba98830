import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { WalletPnlHistory, WalletPositions } from "../domain/wallets/WalletPositions.ts"
import { WalletRows } from "../domain/wallets/WalletSummary.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { BooleanParameter, described, IntegerParameter, NoQuery, UniqueList } from "./parameters.ts"
import { DataUnavailable, RateLimited } from "./problems.ts"

/** Request body of the summary. */
export const WalletsBody = Schema.Struct({
  wallets: UniqueList(Address, 100, "addresses"),
  backfill: Schema.optionalKey(Schema.Boolean).annotate({
    description: "Begins to read the wallets' transactions from the chain. The answer does not wait for it."
  })
}).annotate({ identifier: "WalletSummaryRequest", description: "Wallets of a summary." })

/** Identity and profit of several wallets, in the order of the request. */
export class WalletSummaryAnswer extends Schema.Opaque<WalletSummaryAnswer>()(
  Schema.Struct({
    data: WalletRows,
    source: Schema.String.annotate({ description: "local: from data of this service." })
  }).annotate({ identifier: "WalletSummaryAnswer", description: "Identity and profit of several wallets." })
) {}

const source = Schema.String.annotate({ description: "local: from data of this service." })

/** Positions of one wallet. */
export class WalletPositionsAnswer extends Schema.Opaque<WalletPositionsAnswer>()(
  Schema.Struct({ data: WalletPositions, source }).annotate({
    identifier: "WalletPositionsAnswer",
    description: "Positions of one wallet."
  })
) {}

/** Profit of one wallet by day. */
export class WalletPnlHistoryAnswer extends Schema.Opaque<WalletPnlHistoryAnswer>()(
  Schema.Struct({ data: WalletPnlHistory, source }).annotate({
    identifier: "WalletPnlHistoryAnswer",
    description: "Profit of one wallet by UTC day."
  })
) {}

const walletParams = { wallet: Address.annotate({ description: "A wallet: base58 of 32 bytes." }) }

/** Default number of positions of an answer. */
export const defaultPositions = 100
/** Default number of days of a history. */
export const defaultDays = 30

const backfill = Schema.optional(
  described(
    BooleanParameter,
    "Begins to read the wallet's transactions from the chain. The answer does not wait for it."
  )
)

/** Query of the positions. */
export const PositionsQuery = Schema.Struct({
  limit: Schema.optional(
    described(
      IntegerParameter(1, 500, defaultPositions),
      `Most positions of the answer; ${defaultPositions} by default.`
    )
  ),
  backfill
})

/** Query of the history. */
export const PnlHistoryQuery = Schema.Struct({
  days: Schema.optional(
    described(IntegerParameter(1, 365, defaultDays), `Days, today included; ${defaultDays} by default.`)
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
        "Identity and observed profit of 1 to 100 wallets; shares the wallet-batch admission of its caller"
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
      "Positions of one wallet with their lots, strict and known profit; shares the wallet-batch admission of its caller"
    ),
    HttpApiEndpoint.get("pnlHistory", "/api/v1/wallets/:wallet/pnl/history", {
      params: walletParams,
      query: PnlHistoryQuery,
      success: WalletPnlHistoryAnswer,
      error: [RateLimited, DataUnavailable]
    }).annotate(
      OpenApi.Summary,
      "Realized profit and value of one wallet by UTC day; shares the wallet-batch admission of its caller"
    )
  )
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Identity and observed profit of wallets, from data of this service. Nothing is loaded unless a backfill is asked for."
  ) {}

import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable, InvalidCursor, TokenNotFound, UnsupportedChain } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { CursorParameter, LimitParameter, NextCursor } from "./pages.ts"
import { DecimalParameter, optional, refuse, tokenParams, UnixSecond } from "./parameters.ts"
import { TokenTrade, TradeSide } from "./schemas/TokenTrade.ts"
import { field } from "../domain/field.ts"
import { answerSlot, knowledgeOf, metaOf, tradeBasis } from "./schemas/fields.ts"

/** Default number of trades of a page. */
export const defaultTrades = 50

/** Filters of trades, and the parameters of a page. */
export const filters = {
  side: optional(TradeSide, "Only purchases or only sales of the token."),
  wallet: optional(Address, "Only trades of this wallet."),
  minUsd: optional(
    DecimalParameter,
    "Only trades of at least this many dollars. Trades of unknown value are then left out."
  ),
  from: optional(UnixSecond, "Only trades from this Unix second on."),
  to: optional(UnixSecond, "Only trades before this Unix second; now by default."),
  limit: Schema.optionalKey(LimitParameter(200, defaultTrades)),
  cursor: Schema.optionalKey(CursorParameter)
}

/** Requires `to` to be after `from`. */
export const isOrdered = Schema.makeFilter(
  ({ from, to }: { readonly from?: number; readonly to?: number }) =>
    from === undefined || to === undefined || from < to || refuse("to", "conflict", "to must be after from.")
)

export const TokenTradesQuery = Schema.Struct({
  ...filters,
  pool: optional(Address, "Only trades of this pool.")
}).check(isOrdered)

export class TokenTradesAnswer extends Schema.Opaque<TokenTradesAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(TokenTrade), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-trades-v1"),
        address: field(Address, "Mint of the token: base58 of 32 bytes on Solana."),
        slot: answerSlot,
        tradeBasis: tradeBasis("pool_swaps"),
        ...knowledgeOf("Time of the newest block.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "TokenTradesAnswer",
    description:
      "Trades of one token, newest first. The coverage is for the time since the oldest trade of the page; on the last page, since the requested beginning."
  })
) {}

/** Swaps of tokens, one by one. */
export class TradesGroup extends HttpApiGroup.make("trades")
  .add(
    HttpApiEndpoint.get("ofToken", "/api/v1/tokens/:chain/:address/trades", {
      params: tokenParams,
      query: TokenTradesQuery,
      success: TokenTradesAnswer,
      error: [UnsupportedChain, InvalidCursor, TokenNotFound, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Trades of one token, newest first")
      .annotate(
        OpenApi.Description,
        "Swaps of pools, each one once. Candles and volumes are sums of them. New trades do not change later pages. When a filter leaves out most trades, a page may have fewer rows than `limit`, or none, and still have a next page."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Swaps of tokens, one by one, from memory and from the store.") {}

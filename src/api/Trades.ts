import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable, InvalidCursor, TokenNotFound, UnsupportedChain } from "./errors/problems.ts"
import { FromMemory } from "./middleware/Metering.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { CursorParameter, LimitParameter, NextCursor } from "./pages.ts"
import { DecimalParameter, optional, refuse, tokenParams, UnixSecond } from "./parameters.ts"
import { LiquidityEvent, LiquidityEventKind } from "./schemas/LiquidityEvent.ts"
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

/** Filters of changes of liquidity, and the parameters of a page. */
export const liquidityFilters = {
  kind: optional(LiquidityEventKind, "Only what was added, or only what was removed."),
  from: optional(UnixSecond, "Only events from this Unix second on."),
  to: optional(UnixSecond, "Only events before this Unix second; now by default."),
  limit: Schema.optionalKey(LimitParameter(200, defaultTrades)),
  cursor: Schema.optionalKey(CursorParameter)
}

export const LiquidityEventsQuery = Schema.Struct({
  ...liquidityFilters,
  pool: optional(Address, "Only events of this pool.")
}).check(isOrdered)

export class LiquidityEventsAnswer extends Schema.Opaque<LiquidityEventsAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(LiquidityEvent), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-liquidity-events-v1"),
        address: field(Address, "Mint of the token, or address of the pool."),
        slot: answerSlot,
        ...knowledgeOf("Time of the newest block.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "LiquidityEventsAnswer",
    description:
      "What providers added to pools and took from them, newest first. The coverage is for the time since the oldest event of the page; on the last page, since the requested beginning. Events are kept as long as trades."
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
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Trades of one token, newest first")
      .annotate(
        OpenApi.Description,
        "Swaps of pools, each one once. Candles and volumes are sums of them. New trades do not change later pages. When a filter leaves out most trades, a page may have fewer rows than `limit`, or none, and still have a next page."
      )
  )
  .add(
    HttpApiEndpoint.get("liquidityEvents", "/api/v1/tokens/:chain/:address/liquidity-events", {
      params: tokenParams,
      query: LiquidityEventsQuery,
      success: LiquidityEventsAnswer,
      error: [UnsupportedChain, InvalidCursor, TokenNotFound, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Liquidity added to the pools of a token and removed from them, newest first")
      .annotate(
        OpenApi.Description,
        "Deposits and withdrawals of liquidity providers, and the first liquidity of new pools, with what moved between provider and vaults. Venues whose pools have providers: raydium-amm-v4, raydium-cpmm, raydium-clmm, orca-whirlpool, meteora-dlmm, meteora-damm-v2 and pumpswap. Events of the charted venues are not read."
      )
  )
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Swaps of tokens and changes of their liquidity, one by one, from memory and from the store."
  ) {}

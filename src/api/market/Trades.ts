import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../../domain/Address.ts"
import { Coverage, Status } from "../../domain/Scalar.ts"
import { TokenTrade, TradeSide } from "../../domain/market/TokenTrade.ts"
import { PoolFacts } from "../../domain/market/Token.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { CursorParameter, LimitParameter, NextCursor } from "../cursor.ts"
import { DecimalParameter, described, IntegerParameter, NoQuery, refuse, tokenParams } from "../parameters.ts"
import { DataUnavailable, InvalidCursor, PoolNotFound, TokenNotFound, UnsupportedChain } from "../problems.ts"

/** Trades of a page unless given. */
export const defaultTrades = 50

/** The last second of the year 9999, the latest accepted time. */
const LAST_SECOND = 253_402_300_799

const noted = <S extends Schema.Top>(parameter: S, description: string) =>
  Schema.optionalKey(described(parameter, description))

const filters = {
  side: noted(TradeSide, "Only purchases or only sales of the token."),
  wallet: noted(Address, "Only trades of this wallet."),
  minUsd: noted(
    DecimalParameter,
    "Only trades of at least so many dollars; with it, those of an unknown value are left out."
  ),
  from: noted(IntegerParameter(0, LAST_SECOND), "Unix second from which on trades are given."),
  to: noted(IntegerParameter(0, LAST_SECOND), "Unix second before which trades are given; now unless given."),
  limit: Schema.optionalKey(LimitParameter(200, defaultTrades)),
  cursor: Schema.optionalKey(CursorParameter)
}

const isOrdered = Schema.makeFilter(
  ({ from, to }: { readonly from?: number; readonly to?: number }) =>
    from === undefined || to === undefined || from < to || refuse("to", "conflict", "to must be after from.")
)

/** Query of the trades of a token. */
export const TokenTradesQuery = Schema.Struct({
  ...filters,
  pool: noted(Address, "Only trades of this pool.")
}).check(isOrdered)

/** Query of the trades of a pool. */
export const PoolTradesQuery = Schema.Struct(filters).check(isOrdered)

/** Trades of one token, newest first. */
export class TokenTradesAnswer extends Schema.Opaque<TokenTradesAnswer>()(
  Schema.Struct({
    data: Schema.Array(TokenTrade),
    nextCursor: NextCursor,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-trades-v1"),
      chain: Schema.Literal("solana"),
      address: Address,
      observedAtMs: Schema.NullOr(Schema.Int).annotate({ description: "Time of the newest block." }),
      status: Status,
      coverage: Coverage
    })
  }).annotate({
    identifier: "TokenTradesAnswer",
    description:
      "Trades of one token, newest first. The coverage is that of the time from the oldest trade of the page, on the last page from the beginning asked for."
  })
) {}

const knowledge = {
  observedAtMs: Schema.NullOr(Schema.Int).annotate({ description: "The newest observation of a source used." }),
  status: Status,
  coverage: Coverage
}

/** Trades of one pool, newest first. */
export class PoolTradesAnswer extends Schema.Opaque<PoolTradesAnswer>()(
  Schema.Struct({
    data: Schema.Array(TokenTrade),
    nextCursor: NextCursor,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-trades-v1"),
      chain: Schema.Literal("solana"),
      pool: Address,
      ...knowledge
    })
  }).annotate({ identifier: "PoolTradesAnswer", description: "Trades of one pool, newest first." })
) {}

/** Facts of one pool. */
export class PoolAnswer extends Schema.Opaque<PoolAnswer>()(
  Schema.Struct({
    data: PoolFacts,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-pool-v1"),
      chain: Schema.Literal("solana"),
      ...knowledge
    })
  }).annotate({ identifier: "PoolAnswer", description: "Facts of one pool." })
) {}

const poolParams = { address: Address.annotate({ description: "A pool: base58 of 32 bytes." }) }

/** One pool: its facts and its trades. */
export class PoolsGroup extends HttpApiGroup.make("pools")
  .add(
    HttpApiEndpoint.get("facts", "/api/v1/pools/:address", {
      params: poolParams,
      query: NoQuery,
      success: PoolAnswer,
      error: [PoolNotFound, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Facts of one pool")
      .annotate(
        OpenApi.Description,
        "Venue, reserves, value, depth within 2 % and fee now. Pools are in memory once a token that they trade was asked for."
      ),
    HttpApiEndpoint.get("trades", "/api/v1/pools/:address/trades", {
      params: poolParams,
      query: PoolTradesQuery,
      success: PoolTradesAnswer,
      error: [PoolNotFound, InvalidCursor, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Trades of one pool, newest first")
      .annotate(
        OpenApi.Description,
        "As the trades of a token: a page may have fewer than `limit` and still a next one."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "One pool: its facts and its trades.") {}

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
        "Swaps of pools, each once: candles and volumes are sums of them. Later pages are not changed by new trades. Where a filter leaves out most trades a page may have fewer than `limit`, or none, and still a next one."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Swaps of tokens, one by one, from memory and from the store.") {}

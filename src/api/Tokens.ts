import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { Coverage, Status } from "../domain/Scalar.ts"
import { MintPrice, TokenFacts, TokenLiquidity } from "../domain/market/Token.ts"
import { TokenRisk } from "../domain/market/TokenRisk.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { HoldersQuery, TokenHoldersAnswer } from "./market/Holders.ts"
import { TokenMetadataAnswer } from "./market/Metadata.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { described, IntegerParameter, NoQuery, tokenParams, UniqueList } from "./parameters.ts"
import { DataUnavailable, RateLimited, TokenNotFound, UnsupportedChain } from "./problems.ts"

/** Default number of pools of a liquidity read. */
export const defaultPools = 20

const meta = <const Version extends string>(methodVersion: Version) =>
  Schema.Struct({
    requestId: Schema.String,
    methodVersion: Schema.Literal(methodVersion),
    chain: Schema.Literal("solana"),
    observedAtMs: Schema.NullOr(Schema.Int).annotate({ description: "The newest observation of a source used." }),
    status: Status,
    coverage: Coverage
  })

/** Facts of one token. */
export class TokenFactsAnswer extends Schema.Opaque<TokenFactsAnswer>()(
  Schema.Struct({ data: TokenFacts, meta: meta("public-token-v1") }).annotate({
    identifier: "TokenFactsAnswer",
    description: "Facts of one token."
  })
) {}

/** Signals about one token. */
export class TokenRiskAnswer extends Schema.Opaque<TokenRiskAnswer>()(
  Schema.Struct({
    data: TokenRisk,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-token-v1"),
      chain: Schema.Literal("solana")
    })
  }).annotate({ identifier: "TokenRiskAnswer", description: "Signals about one token." })
) {}

/** Pools of one token. */
export class TokenLiquidityAnswer extends Schema.Opaque<TokenLiquidityAnswer>()(
  Schema.Struct({ data: TokenLiquidity, meta: meta("public-liquidity-v1") }).annotate({
    identifier: "TokenLiquidityAnswer",
    description: "Pools of one token."
  })
) {}

/** Prices of several tokens, in the order of the request. */
export class PricesAnswer extends Schema.Opaque<PricesAnswer>()(
  Schema.Struct({ data: Schema.Array(MintPrice), meta: meta("public-price-v1"), nextCursor: Schema.Null }).annotate({
    identifier: "PricesAnswer",
    description: "Prices of several tokens, in the order of the request."
  })
) {}

/** Body of a price request. */
export const PricesBody = Schema.Struct({
  mints: UniqueList(Address, 100, "mints")
}).annotate({ identifier: "PricesRequest", description: "Mints of a price request." })

/** Query of liquidity. */
export const LiquidityQuery = Schema.Struct({
  limit: Schema.optionalKey(
    described(
      IntegerParameter(1, 50, defaultPools),
      `Number of pools, deepest first, 1 to 50; ${defaultPools} unless given.`
    )
  )
})

/** Facts, signals, liquidity and prices of tokens, answered from memory. */
export class TokensGroup extends HttpApiGroup.make("tokens")
  .add(
    HttpApiEndpoint.get("facts", "/api/v1/tokens/:chain/:address", {
      params: tokenParams,
      query: NoQuery,
      success: TokenFactsAnswer,
      error: [UnsupportedChain, TokenNotFound, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Facts of one token"),
    HttpApiEndpoint.get("risk", "/api/v1/tokens/:chain/:address/risk", {
      params: tokenParams,
      query: NoQuery,
      success: TokenRiskAnswer,
      error: [UnsupportedChain, DataUnavailable]
    }).annotate(OpenApi.Summary, "Signals about one token; not a score and not advice"),
    HttpApiEndpoint.get("liquidity", "/api/v1/tokens/:chain/:address/liquidity", {
      params: tokenParams,
      query: LiquidityQuery,
      success: TokenLiquidityAnswer,
      error: [UnsupportedChain, TokenNotFound, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Pools of one token; shares the wallet-batch admission of its caller"),
    HttpApiEndpoint.get("holders", "/api/v1/tokens/:chain/:address/holders", {
      params: tokenParams,
      query: HoldersQuery,
      success: TokenHoldersAnswer,
      error: [UnsupportedChain, TokenNotFound, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Holders of one token: their number, the largest of them, and concentration"),
    HttpApiEndpoint.get("metadata", "/api/v1/tokens/:chain/:address/metadata", {
      params: tokenParams,
      query: NoQuery,
      success: TokenMetadataAnswer,
      error: [UnsupportedChain, TokenNotFound, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Metadata of one token, on chain and of the document behind its URI"),
    HttpApiEndpoint.post("prices", "/api/v1/prices", {
      query: NoQuery,
      payload: PricesBody,
      success: PricesAnswer
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Prices of 1 to 100 tokens")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Facts, signals, liquidity and prices of tokens, answered from memory.") {}

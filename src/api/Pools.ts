import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable, InvalidCursor, PoolNotFound } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { NextCursor } from "./pages.ts"
import { NoQuery } from "./parameters.ts"
import { PoolFacts } from "./schemas/Token.ts"
import { TokenTrade } from "./schemas/TokenTrade.ts"
import { filters, isOrdered, LiquidityEventsAnswer, liquidityFilters } from "./Trades.ts"
import { field } from "../domain/field.ts"
import { answerSlot, knowledgeOf, metaOf, tradeBasis } from "./schemas/fields.ts"

export const PoolTradesQuery = Schema.Struct(filters).check(isOrdered)

export const PoolLiquidityQuery = Schema.Struct(liquidityFilters).check(isOrdered)

const knowledge = knowledgeOf("Time of the newest observation of any source that was used.")

export class PoolTradesAnswer extends Schema.Opaque<PoolTradesAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(TokenTrade), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-trades-v1"),
        pool: field(Address, "Address of the pool."),
        slot: answerSlot,
        tradeBasis: tradeBasis("pool_swaps"),
        ...knowledge
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "PoolTradesAnswer", description: "Trades of one pool, newest first." })
) {}

export class PoolAnswer extends Schema.Opaque<PoolAnswer>()(
  Schema.Struct({
    data: PoolFacts,
    meta: field(
      Schema.Struct({
        ...metaOf("public-pool-v1"),
        ...knowledge
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "PoolAnswer", description: "Facts of one pool." })
) {}

const poolParams = { address: field(Address, "A pool: base58 of 32 bytes.") }

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
        "Venue, reserves, value, depth within 2 % and current fee. A pool is in memory once one of its tokens was requested."
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
        "Like the trades of a token: a page may have fewer rows than `limit` and still have a next page."
      ),
    HttpApiEndpoint.get("liquidityEvents", "/api/v1/pools/:address/liquidity-events", {
      params: poolParams,
      query: PoolLiquidityQuery,
      success: LiquidityEventsAnswer,
      error: [PoolNotFound, InvalidCursor, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Liquidity added to one pool and removed from it, newest first")
      .annotate(OpenApi.Description, "Like the liquidity events of a token. The pool need not be in memory.")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "One pool: its facts and its trades.") {}

import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { CursorExpired, DataUnavailable, InvalidCursor, PoolNotFound } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { Cost, FromMemory } from "./middleware/Metering.ts"
import { NextCursor } from "./pages.ts"
import { CommaList, DecimalParameter, IntegerParameter, NoQuery, optional, UnixSecond } from "./parameters.ts"
import { marketKnowledge } from "./schemas/MarketViews.ts"
import { ListedPool, PoolProvenance, PoolSort } from "./schemas/PoolList.ts"
import { PoolFacts } from "./schemas/Token.ts"
import { TokenTrade } from "./schemas/TokenTrade.ts"
import { filters, isOrdered, LiquidityEventsAnswer, liquidityFilters } from "./Trades.ts"
import { field } from "../domain/field.ts"
import { answerSlot, knowledgeOf, metaOf, tradeBasis } from "./schemas/fields.ts"
import { VenueLabel } from "./schemas/lists.ts"

export const PoolTradesQuery = Schema.Struct(filters).check(isOrdered)

/** Default number of rows of a list of pools, and the default order. */
export const poolDefaults = { rows: 20, sort: "volume" } as const

/** Filters of a list of pools. */
export const PoolsQuery = Schema.Struct({
  token: optional(Address, "Only pools of this token, also pools in memory that did not trade lately."),
  quoteToken: optional(Address, "Only pools whose other mint this is, such as wrapped SOL."),
  venue: optional(CommaList(VenueLabel, 20), "Only pools of these venues: 1 to 20 labels, separated by commas."),
  minLiquidityUsd: optional(
    DecimalParameter,
    "Least liquidity in dollars. Pools whose liquidity is unknown are left out and counted."
  ),
  createdSince: optional(
    UnixSecond,
    "Only pools created from this Unix second on. Pools whose creation was not seen are left out and counted."
  ),
  provenance: optional(PoolProvenance, "Only pools that came about in this way."),
  sort: optional(
    PoolSort,
    "`volume`, the default: of the last 24 hours, the greatest first. `liquidity`: the greatest first. `new`: the newest first."
  ),
  limit: optional(
    IntegerParameter(1, 100, poolDefaults.rows),
    `Most rows of a page, 1 to 100; ${poolDefaults.rows} by default.`
  ),
  cursor: optional(
    Schema.String,
    "The nextCursor of the previous page, with the same selectors. Every page shows the market as it was for the first page. The cursor expires after 60 seconds."
  )
})

export class PoolsAnswer extends Schema.Opaque<PoolsAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(ListedPool), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-pools-v1"),
        tradeBasis: tradeBasis("pool_swaps"),
        ...marketKnowledge,
        sort: field(PoolSort, "The order of the rows."),
        pools: field(
          Schema.Int,
          "Pools that were looked at: swapped or created in the last 24 hours, or of the requested token."
        ),
        examined: field(Schema.Int, "Pools that were measured exactly, the first in the order."),
        excluded: field(
          Schema.Struct({
            unknownRank: field(Schema.Int, "Pools whose sort value is unknown."),
            unknownFilter: field(Schema.Int, "Pools for which a filtered value is unknown.")
          }),
          "Pools that are on no page because a value is unknown."
        )
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "PoolsAnswer",
    description:
      "Pools in an order. The coverage is for 24 hours, and `limit_clipped` when more pools may pass than are measured (1,000) or listed (200)."
  })
) {}

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

/** Pools: a list, and the facts, trades and liquidity events of one. */
export class PoolsGroup extends HttpApiGroup.make("pools")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/pools", {
      query: PoolsQuery,
      success: PoolsAnswer,
      error: [InvalidCursor, CursorExpired, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(Cost, 2)
      .annotate(OpenApi.Summary, "Pools by volume, liquidity or age")
      .annotate(
        OpenApi.Description,
        "Pools that were swapped or created in the last 24 hours, and with `token` all pools of the token in memory. The liquidity of a pool is known while it is in memory; tokens of listed pools that are not are queued, so that the same request knows more a little later."
      )
  )
  .add(
    HttpApiEndpoint.get("facts", "/api/v1/pools/:address", {
      params: poolParams,
      query: NoQuery,
      success: PoolAnswer,
      error: [PoolNotFound, DataUnavailable]
    })
      .annotate(FromMemory, true)
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
      .annotate(FromMemory, true)
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
  .annotate(OpenApi.Description, "Pools: a list, and the facts, trades and liquidity events of one.") {}

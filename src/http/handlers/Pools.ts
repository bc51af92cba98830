import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { PoolNotFound } from "../../api/errors/problems.ts"
import type { PoolLiquidityQuery, PoolTradesQuery } from "../../api/Pools.ts"
import type { MarketUnavailable } from "../../api/schemas/MarketViews.ts"
import type { UnknownPool } from "../../api/schemas/Token.ts"
import { defaultTrades } from "../../api/Trades.ts"
import type { Address } from "../../domain/Address.ts"
import { TradesReader } from "../../market/reads/TradesReader.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { unavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, sealedBy, startOf } from "./paging.ts"
import { keyOfTrade, liquidityFilter, placeOfKey, tradeFilter } from "./tradeRequests.ts"

const poolProblem = (refusal: MarketUnavailable | UnknownPool) =>
  refusal._tag === "UnknownPool" ? new PoolNotFound() : unavailable(refusal.detail)

interface OfPool {
  readonly params: { readonly address: Address }
}

interface PoolInput extends OfPool {
  readonly query: typeof PoolTradesQuery.Type
}

interface LiquidityInput extends OfPool {
  readonly query: typeof PoolLiquidityQuery.Type
}

export const layer = HttpApiBuilder.group(
  Api,
  "pools",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* TradesReader
    const tokens = yield* TokenReader

    const facts = Effect.fnUntraced(function* ({ params }: OfPool) {
      const { data, knowledge } = yield* Effect.mapError(tokens.poolOf(params.address), () => new PoolNotFound())
      return { data, meta: yield* metaWith({ methodVersion: "public-pool-v1", chain: "solana", ...knowledge }) }
    })

    const trades = Effect.fnUntraced(function* ({ params: { address }, query }: PoolInput) {
      const { cursor, limit = defaultTrades } = query
      const filter = tradeFilter(query)
      const sealed = sealedBy("pools.trades", { address, ...filter }, limit)
      const before = yield* startOf(cursor, sealed, placeOfKey)
      const page = yield* Effect.mapError(reader.ofPool(address, { filter, before, limit }), poolProblem)
      const { next, trades: data, ...knowledge } = page
      return {
        data,
        nextCursor: yield* nextOf(next && keyOfTrade(next), sealed),
        meta: yield* metaWith({
          methodVersion: "public-trades-v1",
          chain: "solana",
          tradeBasis: "pool_swaps",
          pool: address,
          ...knowledge
        })
      }
    })

    const liquidityEvents = Effect.fnUntraced(function* ({ params: { address }, query }: LiquidityInput) {
      const { cursor, limit = defaultTrades } = query
      const filter = liquidityFilter(query)
      const sealed = sealedBy("pools.liquidityEvents", { address, ...filter }, limit)
      const before = yield* startOf(cursor, sealed, placeOfKey)
      const read = reader.liquidityOfPool(address, { ...filter, before, limit })
      const { events: data, next, ...knowledge } = yield* Effect.mapError(read, poolProblem)
      const meta = { methodVersion: "public-liquidity-events-v1", chain: "solana", address, ...knowledge } as const
      return { data, nextCursor: yield* nextOf(next && keyOfTrade(next), sealed), meta: yield* metaWith(meta) }
    })

    return handlers.handleAll({ facts, trades, liquidityEvents })
  })
)

import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { PoolNotFound } from "../../api/errors/problems.ts"
import { poolDefaults, type PoolLiquidityQuery, type PoolsQuery, type PoolTradesQuery } from "../../api/Pools.ts"
import type { MarketUnavailable } from "../../api/schemas/MarketViews.ts"
import type { UnknownPool } from "../../api/schemas/Token.ts"
import { defaultTrades } from "../../api/Trades.ts"
import type { Address } from "../../domain/Address.ts"
import { fractionOf } from "../../domain/rational.ts"
import { MarketReader } from "../../market/reads/MarketReader.ts"
import type { PoolSelectors } from "../../market/reads/poolList.ts"
import { TradesReader } from "../../market/reads/TradesReader.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { unavailable } from "../problems.ts"
import { viewProblem } from "./marketProblems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, readPin, sealedBy, startOf, writePin } from "./paging.ts"
import { keyOfTrade, liquidityFilter, placeOfKey, tradeFilter } from "./tradeRequests.ts"

const poolProblem = (refusal: MarketUnavailable | UnknownPool) =>
  refusal._tag === "UnknownPool" ? new PoolNotFound() : unavailable(refusal.detail)

interface OfPool {
  readonly params: { readonly address: Address }
}

const selectorsOf = (query: typeof PoolsQuery.Type): PoolSelectors => ({
  token: query.token ?? null,
  quoteMint: query.quoteToken ?? null,
  venues: query.venue ?? null,
  minLiquidityUsd: query.minLiquidityUsd === undefined ? null : fractionOf(query.minLiquidityUsd),
  createdSinceMs: query.createdSince === undefined ? null : query.createdSince * 1000,
  provenance: query.provenance ?? null,
  sort: query.sort ?? poolDefaults.sort
})

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
    const market = yield* MarketReader

    const list = Effect.fnUntraced(function* ({ query }: { readonly query: typeof PoolsQuery.Type }) {
      const { limit = poolDefaults.rows } = query
      const selectors = selectorsOf(query)
      const sealed = sealedBy("pools.list", selectors, limit)
      const pin = yield* readPin(sealed, query.cursor)
      const page = yield* Effect.mapError(market.pools(selectors, { limit, pin }), viewProblem)
      const { coverage, data, excluded, next, observedAtMs, screened, slot, status } = page
      const known = { slot, observedAtMs, status, coverage }
      return {
        data,
        nextCursor: next === null ? null : writePin(sealed, next),
        meta: {
          ...(yield* metaWith({
            methodVersion: "public-pools-v1",
            chain: "solana",
            tradeBasis: "pool_swaps",
            ...known
          })),
          sort: selectors.sort,
          pools: screened?.tokens ?? 0,
          examined: screened?.examined ?? 0,
          excluded
        }
      }
    })

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

    return handlers.handleAll({ list, facts, trades, liquidityEvents })
  })
)

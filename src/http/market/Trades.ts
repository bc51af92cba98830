import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { defaultTrades, type PoolTradesQuery, type TokenTradesQuery } from "../../api/market/Trades.ts"
import { PoolNotFound, TokenNotFound } from "../../api/problems.ts"
import type { MarketUnavailable } from "../../domain/market/MarketViews.ts"
import type { Address } from "../../domain/Address.ts"
import type { TokenNotLoaded, UnknownPool, UnknownToken } from "../../domain/market/Token.ts"
import { TradesReader } from "../../market/views/TradesReader.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { sealedBy } from "../handlers/marketRequests.ts"
import { metaWith } from "../handlers/metaWith.ts"
import { nextOf, startOf } from "../handlers/paging.ts"
import { mintOf, type TokenPath } from "../handlers/tokenPath.ts"
import { unavailable } from "../problems.ts"
import { placeOfKey, tradeFilter } from "./tradeRequests.ts"

const tokenProblem = (refusal: MarketUnavailable | TokenNotLoaded | UnknownToken) => {
  switch (refusal._tag) {
    case "UnknownToken":
      return new TokenNotFound()
    case "TokenNotLoaded":
      return unavailable("The token is being loaded: try again.")
    case "MarketUnavailable":
      return unavailable(refusal.detail)
  }
}

const poolProblem = (refusal: MarketUnavailable | UnknownPool) =>
  refusal._tag === "UnknownPool" ? new PoolNotFound() : unavailable(refusal.detail)

interface OfPool {
  readonly params: { readonly address: Address }
}

interface PoolInput extends OfPool {
  readonly query: typeof PoolTradesQuery.Type
}

interface TokenInput extends TokenPath {
  readonly query: typeof TokenTradesQuery.Type
}

/** Handlers of the trades of tokens. */
export const layer = HttpApiBuilder.group(
  Api,
  "trades",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* TradesReader

    const ofToken = Effect.fnUntraced(function* (input: TokenInput) {
      const mint = yield* mintOf(input)
      const { cursor, limit = defaultTrades } = input.query
      const filter = tradeFilter(input.query)
      const sealed = sealedBy("trades.ofToken", { mint, ...filter }, limit)
      const before = yield* startOf(cursor, sealed, placeOfKey)
      const { next, trades, ...knowledge } = yield* Effect.mapError(
        reader.ofToken(mint, { filter, before, limit }),
        tokenProblem
      )
      return {
        data: trades,
        nextCursor: yield* nextOf(next === null ? null : [String(next.slot), String(next.index)], sealed),
        meta: yield* metaWith({ methodVersion: "public-trades-v1", chain: "solana", address: mint, ...knowledge })
      }
    })

    return handlers.handleAll({ ofToken })
  })
)

/** Handlers of pools. */
export const poolsLayer = HttpApiBuilder.group(
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
        nextCursor: yield* nextOf(next === null ? null : [String(next.slot), String(next.index)], sealed),
        meta: yield* metaWith({ methodVersion: "public-trades-v1", chain: "solana", pool: address, ...knowledge })
      }
    })

    return handlers.handleAll({ facts, trades })
  })
)

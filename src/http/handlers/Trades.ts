import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { TokenNotFound } from "../../api/errors/problems.ts"
import type { MarketUnavailable } from "../../api/schemas/MarketViews.ts"
import type { TokenNotLoaded, UnknownToken } from "../../api/schemas/Token.ts"
import { defaultTrades, type LiquidityEventsQuery, type TokenTradesQuery } from "../../api/Trades.ts"
import { TradesReader } from "../../market/reads/TradesReader.ts"
import { unavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, sealedBy, startOf } from "./paging.ts"
import { mintOf, type TokenPath } from "./tokenPath.ts"
import { keyOfTrade, liquidityFilter, placeOfKey, tradeFilter } from "./tradeRequests.ts"

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

interface TokenInput extends TokenPath {
  readonly query: typeof TokenTradesQuery.Type
}

interface LiquidityInput extends TokenPath {
  readonly query: typeof LiquidityEventsQuery.Type
}

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
        nextCursor: yield* nextOf(next && keyOfTrade(next), sealed),
        meta: yield* metaWith({
          methodVersion: "public-trades-v1",
          chain: "solana",
          tradeBasis: "pool_swaps",
          address: mint,
          ...knowledge
        })
      }
    })

    const liquidityEvents = Effect.fnUntraced(function* (input: LiquidityInput) {
      const mint = yield* mintOf(input)
      const { cursor, limit = defaultTrades } = input.query
      const filter = liquidityFilter(input.query)
      const sealed = sealedBy("trades.liquidityEvents", { mint, ...filter }, limit)
      const before = yield* startOf(cursor, sealed, placeOfKey)
      const read = reader.liquidityOfToken(mint, { ...filter, before, limit })
      const { events: data, next, ...knowledge } = yield* Effect.mapError(read, tokenProblem)
      const meta = {
        methodVersion: "public-liquidity-events-v1",
        chain: "solana",
        address: mint,
        ...knowledge
      } as const
      return {
        data,
        nextCursor: yield* nextOf(next && keyOfTrade(next), sealed),
        meta: yield* metaWith(meta)
      }
    })

    return handlers.handleAll({ ofToken, liquidityEvents })
  })
)

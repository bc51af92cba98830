import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { defaultTrades, type TokenTradesQuery } from "../../api/market/Trades.ts"
import { TokenNotFound } from "../../api/problems.ts"
import type { MarketUnavailable } from "../../domain/market/MarketViews.ts"
import type { UnknownToken } from "../../domain/market/Token.ts"
import { TradesReader } from "../../market/views/TradesReader.ts"
import { sealedBy } from "../handlers/marketRequests.ts"
import { metaWith } from "../handlers/metaWith.ts"
import { nextOf, startOf } from "../handlers/paging.ts"
import { mintOf, type TokenPath } from "../handlers/tokenPath.ts"
import { unavailable } from "../problems.ts"
import { placeOfKey, tradeFilter } from "./tradeRequests.ts"

const problemOf = (refusal: MarketUnavailable | UnknownToken) =>
  refusal._tag === "UnknownToken" ? new TokenNotFound() : unavailable(refusal.detail)

interface TokenInput extends TokenPath {
  readonly query: typeof TokenTradesQuery.Type
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
        reader.page({ mints: [mint], filter, before, limit }),
        problemOf
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

import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CursorExpired, InvalidCursor } from "../../api/problems.ts"
import { defaults, type TopTradersQuery } from "../../api/TopTraders.ts"
import type { MarketUnavailable, ViewExpired } from "../../domain/market/MarketViews.ts"
import type { WrongCursor } from "../../domain/market/TopTraders.ts"
import { TopTraders } from "../../market/views/TopTraders.ts"
import { unavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { mintOf, type TokenPath } from "./tokenPath.ts"

const problemOf = (refusal: MarketUnavailable | ViewExpired | WrongCursor) => {
  switch (refusal._tag) {
    case "MarketUnavailable":
      return unavailable(refusal.detail)
    case "ViewExpired":
      return new CursorExpired()
    case "WrongCursor":
      return new InvalidCursor()
  }
}

interface Input extends TokenPath {
  readonly query: typeof TopTradersQuery.Type
}

export const layer = HttpApiBuilder.group(
  Api,
  "topTraders",
  Effect.fnUntraced(function* (handlers) {
    const traders = yield* TopTraders

    const rank = Effect.fnUntraced(function* (input: Input) {
      const mint = yield* mintOf(input)
      const { cursor = null, limit = defaults.limit, window = defaults.window } = input.query
      const { coverage, nextCursor, observedAtMs, rows, status, total } = yield* Effect.mapError(
        traders.rank({ mint, window, limit, cursor }),
        problemOf
      )
      return {
        data: rows,
        pagination: { total, hasMore: nextCursor !== null, nextCursor },
        meta: yield* metaWith({
          methodVersion: "public-research-v1",
          chain: "solana",
          observedAtMs,
          address: mint,
          window,
          ranking: "observed_volume_desc",
          source: "native_execution_view",
          status,
          coverage
        })
      }
    })

    return handlers.handleAll({ rank })
  })
)

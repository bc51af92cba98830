import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CursorExpired } from "../../api/problems.ts"
import { defaults, type TopTradersQuery } from "../../api/TopTraders.ts"
import type { MarketUnavailable, ViewExpired } from "../../domain/market/MarketViews.ts"
import { TopTraders } from "../../market/views/TopTraders.ts"
import { unavailable } from "../problems.ts"
import { readPin, sealedBy, writePin } from "./marketRequests.ts"
import { metaWith } from "./metaWith.ts"
import { mintOf, type TokenPath } from "./tokenPath.ts"

const problemOf = (refusal: MarketUnavailable | ViewExpired) =>
  refusal._tag === "ViewExpired" ? new CursorExpired() : unavailable(refusal.detail)

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
      const { cursor, limit = defaults.limit, window = defaults.window } = input.query
      const sealed = sealedBy("topTraders.rank", { mint, window }, limit)
      const pin = yield* readPin(sealed, cursor)
      const { coverage, next, observedAtMs, rows, status, total } = yield* Effect.mapError(
        traders.rank({ mint, window, limit, pin }),
        problemOf
      )
      return {
        data: rows,
        pagination: { total, hasMore: next !== null, nextCursor: next === null ? null : writePin(sealed, next) },
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

import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { WalletBatch } from "../../access/WalletBatch.ts"
import { Api } from "../../api/Api.ts"
import type { PriceAtQuery, PriceHistoryBody } from "../../api/PriceHistory.ts"
import { MarketReader } from "../../market/reads/MarketReader.ts"
import { invalid } from "../problems.ts"
import { chartProblem, marketUnavailable } from "./marketProblems.ts"
import { metaWith } from "./metaWith.ts"
import { mintOf, type TokenPath } from "./tokenPath.ts"
import { enterBatch } from "./walletBatch.ts"

interface Input extends TokenPath {
  readonly query: typeof PriceAtQuery.Type
}

const later = (where: "body" | "query", field: string) =>
  invalid({ in: where, field, issue: "out_of_range" }, `${field} must not be later than now.`)

export const layer = HttpApiBuilder.group(
  Api,
  "priceHistory",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* MarketReader
    const batch = yield* WalletBatch

    const at = Effect.fnUntraced(function* (input: Input) {
      const mint = yield* mintOf(input)
      const { at } = input.query
      if (at * 1000 > (yield* Clock.currentTimeMillis)) {
        return yield* later("query", "at")
      }
      const { data, ...knowledge } = yield* Effect.mapError(reader.priceAt({ mint, at }), chartProblem)
      return { data, meta: yield* metaWith({ methodVersion: "public-price-at-v1", chain: "solana", ...knowledge }) }
    })

    const atMany = Effect.fnUntraced(function* ({
      payload: { points }
    }: {
      readonly payload: typeof PriceHistoryBody.Type
    }) {
      const nowMs = yield* Clock.currentTimeMillis
      const place = points.findIndex(({ at }) => at * 1000 > nowMs)
      if (place >= 0) {
        return yield* later("body", `points.${place}.at`)
      }
      yield* enterBatch(batch)
      const { data, ...knowledge } = yield* Effect.mapError(reader.pricesAt(points), marketUnavailable)
      const meta = yield* metaWith({ methodVersion: "public-price-at-v1", chain: "solana", ...knowledge })
      return { data, meta, nextCursor: null }
    }, Effect.scoped)

    return handlers.handleAll({ at, atMany })
  })
)

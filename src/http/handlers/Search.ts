import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { defaultFound, type SearchQuery } from "../../api/Search.ts"
import { fractionOf } from "../../domain/rational.ts"
import type { SearchSelectors } from "../../market/reads/searchView.ts"
import { TokenSearch } from "../../market/reads/TokenSearch.ts"
import { viewProblem } from "./marketProblems.ts"
import { metaWith } from "./metaWith.ts"
import { readPin, sealedBy, writePin } from "./paging.ts"

type Query = typeof SearchQuery.Type

const decimal = (text: string | undefined) => (text === undefined ? null : fractionOf(text))

const selectorsOf = (query: Query): SearchSelectors => ({
  text: query.q,
  minLiquidityUsd: decimal(query.minLiquidityUsd),
  minVolumeUsd: decimal(query.minVolumeUsd),
  minAgeSeconds: query.minAgeSeconds ?? null,
  maxAgeSeconds: query.maxAgeSeconds ?? null,
  venues: query.venue ?? null,
  launchpads: query.launchpad ?? null,
  authoritiesRevoked: query.authoritiesRevoked ?? null
})

export const layer = HttpApiBuilder.group(
  Api,
  "search",
  Effect.fnUntraced(function* (handlers) {
    const search = yield* TokenSearch

    const tokens = Effect.fnUntraced(function* ({ query }: { readonly query: Query }) {
      const { limit = defaultFound } = query
      const selectors = selectorsOf(query)
      const sealed = sealedBy("search.tokens", selectors, limit)
      const pin = yield* readPin(sealed, query.cursor)
      const page = yield* Effect.mapError(search.search(selectors, { limit, pin }), viewProblem)
      const { coverage, excluded, index, observedAtMs, slot, status } = page
      return {
        data: page.data,
        nextCursor: page.next === null ? null : writePin(sealed, page.next),
        meta: yield* metaWith({
          methodVersion: "public-search-v1",
          chain: "solana",
          slot,
          tradersBasis: "net_trades",
          observedAtMs,
          status,
          coverage,
          index,
          excluded: { unknownFilter: excluded.unknownFilter }
        })
      }
    })

    return handlers.handleAll({ tokens })
  })
)

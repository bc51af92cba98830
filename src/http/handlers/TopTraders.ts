import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { defaults, leaderDefaults, type LeadersQuery, type TopTradersQuery } from "../../api/TopTraders.ts"
import { MarketReader } from "../../market/reads/MarketReader.ts"
import { TopTraders } from "../../market/reads/TopTraders.ts"
import { viewProblem } from "./marketProblems.ts"
import { metaWith } from "./metaWith.ts"
import { readPin, sealedBy, writePin } from "./paging.ts"
import { mintOf, type TokenPath } from "./tokenPath.ts"

interface Input extends TokenPath {
  readonly query: typeof TopTradersQuery.Type
}

export const layer = HttpApiBuilder.group(
  Api,
  "topTraders",
  Effect.fnUntraced(function* (handlers) {
    const traders = yield* TopTraders
    const market = yield* MarketReader

    const rank = Effect.fnUntraced(function* (input: Input) {
      const mint = yield* mintOf(input)
      const { cursor, limit = defaults.limit, window = defaults.window } = input.query
      const sealed = sealedBy("topTraders.rank", { mint, window }, limit)
      const pin = yield* readPin(sealed, cursor)
      const { coverage, next, observedAtMs, rows, slot, status, total } = yield* Effect.mapError(
        traders.rank({ mint, window, limit, pin }),
        viewProblem
      )
      return {
        data: rows,
        pagination: { total, hasMore: next !== null, nextCursor: next === null ? null : writePin(sealed, next) },
        meta: yield* metaWith({
          methodVersion: "public-research-v1",
          chain: "solana",
          slot,
          tradeBasis: "net_trades",
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

    const leaders = Effect.fnUntraced(function* ({ query }: { readonly query: typeof LeadersQuery.Type }) {
      const { cursor, limit = leaderDefaults.limit, minTrades = 1 } = query
      const { sort = leaderDefaults.sort, window = leaderDefaults.window } = query
      const { minKnownPct = sort === "realized" ? leaderDefaults.minKnownPct : 0 } = query
      const selectors = { window, sort, minKnownPct, minTrades }
      const sealed = sealedBy("topTraders.leaders", selectors, limit)
      const pin = yield* readPin(sealed, cursor)
      const { next, rows, ...known } = yield* Effect.mapError(market.leaders({ ...selectors, limit, pin }), viewProblem)
      return {
        data: rows,
        nextCursor: next === null ? null : writePin(sealed, next),
        meta: yield* metaWith({
          methodVersion: "public-wallet-leaders-v1",
          chain: "solana",
          tradeBasis: "net_trades",
          window,
          sort,
          minKnownPct,
          ...known
        })
      }
    })

    return handlers.handleAll({ rank, leaders })
  })
)

import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import {
  type ChartQuery,
  defaults,
  type DiscoveryQuery,
  type MovementQuery,
  type OverviewQuery
} from "../../api/Market.ts"
import type { MarketKnowledge, MarketUnavailable } from "../../domain/market/MarketViews.ts"
import { orderOf } from "../../market/views/discovery.ts"
import { MarketReader } from "../../market/views/MarketReader.ts"
import { directionOf } from "../../market/views/movement.ts"
import { STALE_AFTER_MS } from "../../market/tape/TradeTape.ts"
import { chartProblem } from "../market/chartProblem.ts"
import { viewProblem } from "../market/viewProblem.ts"
import { chartRequest } from "./chartRequests.ts"
import { invalid, unavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import type { TokenStatsQuery } from "../../api/market/Stats.ts"
import { mintOf, type TokenPath } from "./tokenPath.ts"
import { discoverySelectors, movementSelectors, readPin, sealedBy, writePin } from "./marketRequests.ts"

const marketUnavailable = ({ detail }: MarketUnavailable) => unavailable(detail)

const metaOf = <const Version extends string>(
  methodVersion: Version,
  { coverage, observedAtMs, status }: MarketKnowledge
) => metaWith({ methodVersion, chain: "solana", observedAtMs, status, coverage })

interface StatsInput extends TokenPath {
  readonly query: typeof TokenStatsQuery.Type
}

interface ChartInput {
  readonly params: { readonly token: string }
  readonly query: typeof ChartQuery.Type
}

export const layer = HttpApiBuilder.group(
  Api,
  "market",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* MarketReader

    const chart = Effect.fnUntraced(function* ({ params, query }: ChartInput) {
      const { request, subject } = yield* chartRequest(params.token, query)
      const { data, knowledge } = yield* (
        subject._tag === "Solana"
          ? reader.chart(subject.mint, request)
          : reader.evmChart(subject.token, subject.interval, request)
      ).pipe(Effect.mapError(chartProblem))
      return {
        data,
        meta: yield* metaWith({ methodVersion: "public-chart-v1", chain: data.token.chain, ...knowledge })
      }
    })

    const stats = Effect.fnUntraced(function* (input: StatsInput) {
      const mint = yield* mintOf(input)
      const from = input.query.from ?? null
      if (from !== null && from * 1000 >= (yield* Clock.currentTimeMillis)) {
        return yield* invalid({ in: "query", field: "from", issue: "out_of_range" }, "from must be in the past.")
      }
      const read = yield* Effect.mapError(reader.tokenStats(mint, from), chartProblem)
      return { data: read.data, meta: yield* metaOf("public-stats-v1", read) }
    })

    const lighthouse = Effect.fnUntraced(function* () {
      const read = yield* Effect.mapError(reader.lighthouse, marketUnavailable)
      const meta = yield* metaOf("public-lighthouse-v1", read)
      return {
        data: read.data,
        meta: { ...meta, staleAfterMs: STALE_AFTER_MS, windowCoverage: read.windowCoverage }
      }
    })

    const overview = Effect.fnUntraced(function* ({ query }: { readonly query: typeof OverviewQuery.Type }) {
      const window = query.window ?? defaults.overviewWindow
      const read = yield* Effect.mapError(reader.overview(window), marketUnavailable)
      return { data: read.data, meta: yield* metaOf("public-overview-v1", read) }
    })

    const movement = Effect.fnUntraced(function* ({ query }: { readonly query: typeof MovementQuery.Type }) {
      const { limit = defaults.rows } = query
      const selectors = movementSelectors(query)
      const sealed = sealedBy("market.movement", selectors, limit)
      const pin = yield* readPin(sealed, query.cursor)
      const page = yield* Effect.mapError(reader.movement(selectors, { limit, pin }), viewProblem)
      const { rank, window } = selectors
      return {
        data: page.data,
        nextCursor: page.next === null ? null : writePin(sealed, page.next),
        meta: {
          ...(yield* metaOf("public-movement-v1", page)),
          ranking: { rank, window, direction: directionOf(rank) },
          excluded: page.excluded
        }
      }
    })

    const discovery = Effect.fnUntraced(function* ({ query }: { readonly query: typeof DiscoveryQuery.Type }) {
      const { limit = defaults.rows } = query
      const selectors = discoverySelectors(query)
      const sealed = sealedBy("market.discovery", selectors, limit)
      const pin = yield* readPin(sealed, query.cursor)
      const page = yield* Effect.mapError(reader.discovery(selectors, { limit, pin }), viewProblem)
      const { stage, window } = selectors
      return {
        data: page.data,
        nextCursor: page.next === null ? null : writePin(sealed, page.next),
        meta: {
          ...(yield* metaOf("public-discovery-v1", page)),
          ranking: { stage, window, order: orderOf[stage] },
          excluded: page.excluded
        }
      }
    })

    return handlers.handleAll({ chart, stats, lighthouse, overview, movement, discovery })
  })
)

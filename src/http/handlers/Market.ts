import { Clock, Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { InvalidDenomination, type InvalidRequest, type UnsupportedChain } from "../../api/errors/problems.ts"
import {
  type ChartQuery,
  defaults,
  type DiscoveryQuery,
  type MovementQuery,
  type OverviewQuery,
  type TokenStatsQuery
} from "../../api/Market.ts"
import { type ChartRequest, EvmChain } from "../../api/schemas/Chart.ts"
import type { MarketKnowledge } from "../../api/schemas/MarketViews.ts"
import { Address, isAddress, type Mint } from "../../domain/Address.ts"
import { fractionOf, whole } from "../../domain/rational.ts"
import { type DiscoverySelectors, orderOf } from "../../market/reads/discovery.ts"
import type { EvmInterval } from "../../market/reads/EvmCandles.ts"
import { type EvmToken, intervalOf } from "../../market/reads/evmChart.ts"
import { MarketReader } from "../../market/reads/MarketReader.ts"
import { directionOf, type MovementSelectors } from "../../market/reads/movement.ts"
import { MARKET_STALE_MS } from "../../market/tape/freshness.ts"
import { invalid } from "../problems.ts"
import { chartProblem, marketUnavailable, unsupportedChain, viewProblem } from "./marketProblems.ts"
import { metaWith } from "./metaWith.ts"
import { readPin, sealedBy, writePin } from "./paging.ts"
import { mintOf, type TokenPath } from "./tokenPath.ts"

/** The token whose chart is requested. */
type ChartSubject =
  | { readonly _tag: "Solana"; readonly mint: Mint }
  | { readonly _tag: "Evm"; readonly token: EvmToken; readonly interval: EvmInterval }

/** A chart request for one token. */
interface SubjectRequest {
  readonly subject: ChartSubject
  readonly request: ChartRequest
}

type Query = typeof ChartQuery.Type
type ChartProblem = InvalidDenomination | InvalidRequest | UnsupportedChain

const isEvmChain = Schema.is(EvmChain)
const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/u

const badToken = (expected: string) =>
  invalid({ in: "path", field: "token", issue: "format" }, `token must be ${expected}.`)

const solana = (token: string): Effect.Effect<ChartSubject, ChartProblem> =>
  isAddress(token)
    ? Effect.succeed({ _tag: "Solana", mint: Address.make(token) })
    : Effect.fail(badToken("a Solana address: base58 of 32 bytes"))

const evm = (chain: EvmChain, token: string, { denom, outliers, pool, resolution }: ChartRequest) => {
  if (pool !== undefined) {
    return Effect.fail(invalid({ in: "query", field: "pool", issue: "conflict" }, "pool is for Solana only."))
  }
  if (outliers === "exclude") {
    return Effect.fail(invalid({ in: "query", field: "outliers", issue: "conflict" }, "outliers must be include."))
  }
  if (denom === "sol") {
    return Effect.fail(
      new InvalidDenomination({
        error: {
          message: `denom must be usd on ${chain}.`,
          details: [{ in: "query", field: "denom", issue: "conflict" }]
        }
      })
    )
  }
  if (!EVM_ADDRESS.test(token)) {
    return Effect.fail(badToken("0x and 40 hex digits"))
  }
  const interval = intervalOf(resolution)
  if (interval === null) {
    const issue = { in: "query", field: "resolution", issue: "out_of_range" } as const
    return Effect.fail(invalid(issue, "resolution must be 1m or wider on an EVM chain."))
  }
  return Effect.succeed({ _tag: "Evm", token: { chain, address: token.toLowerCase() }, interval } as const)
}

/** The chart request in a path and a query. Errors name the field. */
const chartRequest = Effect.fnUntraced(function* (
  token: string,
  query: Query
): Effect.fn.Return<SubjectRequest, ChartProblem> {
  const { chain = defaults.chain, from = null, to = null } = query
  const request: ChartRequest = {
    resolution: query.resolution ?? defaults.resolution,
    denom: query.denom ?? defaults.denom,
    mode: query.mode ?? defaults.mode,
    outliers: query.outliers ?? defaults.outliers,
    ...(query.pool === undefined ? {} : { pool: query.pool }),
    from,
    to,
    limit: query.limit ?? defaults.bars
  }
  if (chain !== "solana" && !isEvmChain(chain)) {
    return yield* unsupportedChain(`chain must be solana or one of ${EvmChain.literals.join(", ")}.`)
  }
  const subject: ChartSubject = yield* chain === "solana" ? solana(token) : evm(chain, token, request)
  const nowMs = yield* Clock.currentTimeMillis
  if (from !== null && to === null && from * 1000 >= nowMs) {
    return yield* invalid({ in: "query", field: "from", issue: "conflict" }, "from must be before now.")
  }
  return { subject, request }
})

/** Selectors of the movement ranking. */
const movementSelectors = (query: typeof MovementQuery.Type): MovementSelectors => ({
  window: query.window ?? defaults.movementWindow,
  rank: query.rank ?? defaults.rank,
  minLiquidityUsd: fractionOf(query.minLiquidityUsd ?? defaults.minLiquidityUsd),
  minVolumeUsd: fractionOf(query.minVolumeUsd ?? defaults.minVolumeUsd)
})

/** Selectors of the discovery list. */
const discoverySelectors = (query: typeof DiscoveryQuery.Type): DiscoverySelectors => ({
  stage: query.stage ?? defaults.stage,
  window: query.window ?? defaults.discoveryWindow,
  launchpads: query.launchpad ?? null,
  platforms: query.platform ?? null,
  minLiquidityUsd: query.minLiquidityUsd === undefined ? null : fractionOf(query.minLiquidityUsd),
  minHolders: query.minHolders === undefined ? null : whole(BigInt(query.minHolders))
})

const metaOf = <const Version extends string, const Basis extends "net_trades" | "pool_swaps">(
  methodVersion: Version,
  tradersBasis: Basis,
  { coverage, observedAtMs, slot, status }: MarketKnowledge
) => metaWith({ methodVersion, chain: "solana", slot, tradersBasis, observedAtMs, status, coverage })

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
        meta: yield* metaWith({
          methodVersion: "public-chart-v1",
          chain: data.token.chain,
          tradersBasis: "pool_swaps",
          ...knowledge
        })
      }
    })

    const stats = Effect.fnUntraced(function* (input: StatsInput) {
      const mint = yield* mintOf(input)
      const from = input.query.from ?? null
      if (from !== null && from * 1000 >= (yield* Clock.currentTimeMillis)) {
        return yield* invalid({ in: "query", field: "from", issue: "out_of_range" }, "from must be in the past.")
      }
      const read = yield* Effect.mapError(reader.tokenStats(mint, from), chartProblem)
      return { data: read.data, meta: yield* metaOf("public-stats-v1", "net_trades", read) }
    })

    const lighthouse = Effect.fnUntraced(function* () {
      const read = yield* Effect.mapError(reader.lighthouse, marketUnavailable)
      const meta = yield* metaOf("public-lighthouse-v1", "pool_swaps", read)
      return {
        data: read.data,
        meta: { ...meta, staleAfterMs: MARKET_STALE_MS, windowCoverage: read.windowCoverage }
      }
    })

    const overview = Effect.fnUntraced(function* ({ query }: { readonly query: typeof OverviewQuery.Type }) {
      const window = query.window ?? defaults.overviewWindow
      const read = yield* Effect.mapError(reader.overview(window), marketUnavailable)
      return { data: read.data, meta: yield* metaOf("public-overview-v1", "pool_swaps", read) }
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
          ...(yield* metaOf("public-movement-v1", "net_trades", page)),
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
          ...(yield* metaOf("public-discovery-v1", "net_trades", page)),
          ranking: { stage, window, order: orderOf[stage] },
          excluded: page.excluded
        }
      }
    })

    return handlers.handleAll({ chart, stats, lighthouse, overview, movement, discovery })
  })
)

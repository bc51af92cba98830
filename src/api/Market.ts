import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import {
  ChartWarming,
  CursorExpired,
  DataUnavailable,
  InvalidCursor,
  InvalidDenomination,
  TokenNotFound,
  UnsupportedChain
} from "./errors/problems.ts"
import { FromMemory } from "./middleware/Metering.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { LimitParameter, NextCursor } from "./pages.ts"
import {
  CommaList,
  DecimalParameter,
  IntegerParameter,
  NoQuery,
  optional,
  refuse,
  tokenParams,
  UnixSecond
} from "./parameters.ts"
import { Chart, ChartDenom, chartKnowledge, ChartMode, ChartOutliers, ChartResolution } from "./schemas/Chart.ts"
import {
  DiscoveryRow,
  DiscoveryStage,
  Lighthouse,
  marketKnowledge,
  MarketWindow,
  MovementRank,
  MovementRow,
  Overview,
  WindowCoverage
} from "./schemas/MarketViews.ts"
import { TokenStats } from "./schemas/TokenStats.ts"
import { field } from "../domain/field.ts"
import { answerSlot, knowledgeOf, metaOf, methodVersion, requestId, tradersBasis } from "./schemas/fields.ts"
import { VenueLabel } from "./schemas/lists.ts"

export const TokenStatsQuery = Schema.Struct({
  from: optional(
    UnixSecond,
    "Unix second from which the highest and lowest price are searched, rounded down to a bar; the beginning of the record by default."
  )
})

export class TokenStatsAnswer extends Schema.Opaque<TokenStatsAnswer>()(
  Schema.Struct({
    data: TokenStats,
    meta: field(
      Schema.Struct({
        ...metaOf("public-stats-v1"),
        slot: answerSlot,
        tradersBasis: tradersBasis("net_trades"),
        ...knowledgeOf("Time of the newest block.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "TokenStatsAnswer",
    description: "Activity of one token. The coverage is for 24 hours; the range has its own."
  })
) {}

/** Default values of optional parameters. */
export const defaults = {
  chain: "solana",
  resolution: "1m",
  denom: "usd",
  mode: "price",
  outliers: "include",
  bars: 300,
  overviewWindow: "24h",
  movementWindow: "1h",
  discoveryWindow: "24h",
  rank: "gainers",
  stage: "new",
  minLiquidityUsd: "1000",
  minVolumeUsd: "0",
  rows: 20
} as const

/** Query of the chart. The chain is read as text, so that an unsupported chain gets its own error. */
export const ChartQuery = Schema.Struct({
  chain: optional(Schema.String, `Chain of the token; ${defaults.chain} by default.`),
  resolution: optional(ChartResolution, `Width of a bar; ${defaults.resolution} by default. 1mn is a month.`),
  denom: optional(ChartDenom, `Unit of the bars; ${defaults.denom} by default. sol only on Solana.`),
  pool: optional(
    Address,
    "Only trades of this pool. Only on Solana. A pool that does not trade the token has no bars. Bars of a pool reach back as far as trades are kept."
  ),
  outliers: optional(
    ChartOutliers,
    `Whether the prints counted in \`outliers\` are part of high and low; ${defaults.outliers} by default. Only on Solana. Open and close are always the actual trades.`
  ),
  mode: optional(ChartMode, `Prices or market values; ${defaults.mode} by default.`),
  from: optional(
    UnixSecond,
    "Unix second at which the window begins, rounded down to a bar. On an EVM chain one answer spans 90 days at most: pass prevTo as `to` to read further back."
  ),
  to: optional(UnixSecond, "Unix second before which the window ends, rounded up to a bar; now by default."),
  limit: optional(
    IntegerParameter(1, 1500, defaults.bars),
    `Number of bars, newest first, 1 to 1500; ${defaults.bars} by default.`
  )
}).check(
  Schema.makeFilter(
    ({ from, to }) =>
      from === undefined || to === undefined || from < to || refuse("to", "conflict", "to must be after from.")
  )
)

export class ChartAnswer extends Schema.Opaque<ChartAnswer>()(
  Schema.Struct({
    data: Chart,
    meta: field(
      Schema.Struct({
        requestId,
        methodVersion: methodVersion("public-chart-v1"),
        chain: field(Schema.String, "The chain of the values."),
        tradersBasis: tradersBasis("pool_swaps"),
        ...chartKnowledge
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "ChartAnswer", description: "Candles of one token." })
) {}

const PinnedCursor = optional(
  Schema.String,
  "The nextCursor of the previous page, with the same selectors. Every page shows the market as it was for the first page. The cursor expires after 60 seconds."
)

export const OverviewQuery = Schema.Struct({
  window: optional(MarketWindow, `The window that ends now; ${defaults.overviewWindow} by default.`)
})

export const MovementQuery = Schema.Struct({
  window: optional(MarketWindow, `The window that ends now; ${defaults.movementWindow} by default.`),
  rank: optional(MovementRank, `What tokens are ranked by; ${defaults.rank} by default.`),
  minLiquidityUsd: optional(
    DecimalParameter,
    `Least dollars that the pools can pay out; ${defaults.minLiquidityUsd} by default.`
  ),
  minVolumeUsd: optional(DecimalParameter, `Least dollars traded in the window; ${defaults.minVolumeUsd} by default.`),
  limit: Schema.optionalKey(LimitParameter(100, defaults.rows)),
  cursor: PinnedCursor
})

export const DiscoveryQuery = Schema.Struct({
  stage: optional(DiscoveryStage, `Stage since the launch, or trending; ${defaults.stage} by default.`),
  window: optional(MarketWindow, `Greatest age, or the window of the trend; ${defaults.discoveryWindow} by default.`),
  launchpad: optional(CommaList(VenueLabel, 20), "Only of these launchpads: keys of the lighthouse."),
  platform: optional(
    CommaList(VenueLabel, 20),
    "Only of these platforms: keys of `platform`, such as `bags`, `believe`, `jup-studio` or `letsbonk`."
  ),
  minLiquidityUsd: optional(DecimalParameter, "Least dollars that the pools can pay out."),
  minHolders: optional(IntegerParameter(0, 9_999_999_999), "Least number of wallets that hold the token."),
  limit: Schema.optionalKey(LimitParameter(100, defaults.rows)),
  cursor: PinnedCursor
})

const meta = <const Version extends string, const Basis extends "net_trades" | "pool_swaps">(
  version: Version,
  basis: Basis
) => ({
  ...metaOf(version),
  tradersBasis: tradersBasis(basis),
  ...marketKnowledge
})

export class LighthouseAnswer extends Schema.Opaque<LighthouseAnswer>()(
  Schema.Struct({
    data: Lighthouse,
    meta: field(
      Schema.Struct({
        ...meta("public-lighthouse-v1", "pool_swaps"),
        staleAfterMs: field(
          Schema.Int,
          "Age from which an observation no longer counts, in milliseconds; null for never."
        ),
        windowCoverage: field(WindowCoverage, "Coverage of each window of the answer.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "LighthouseAnswer", description: "The markets of the chain." })
) {}

export class OverviewAnswer extends Schema.Opaque<OverviewAnswer>()(
  Schema.Struct({
    data: Overview,
    meta: field(
      Schema.Struct(meta("public-overview-v1", "pool_swaps")),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "OverviewAnswer",
    description: "The whole market in one window."
  })
) {}

const excluded = Schema.Struct({
  unknownRank: field(Schema.Int, "Tokens whose ranking value is unknown."),
  unknownFilter: field(Schema.Int, "Tokens for which a filtered value is unknown.")
})

export class MovementAnswer extends Schema.Opaque<MovementAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(MovementRow), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...meta("public-movement-v1", "net_trades"),
        ranking: field(
          Schema.Struct({
            rank: field(MovementRank, "What tokens are ranked by."),
            window: field(MarketWindow, "The span of time that ends now."),
            direction: field(
              Schema.Literals(["asc", "desc"]),
              "`desc`: the highest value first. `asc`: the lowest first."
            )
          }),
          "The order of the rows."
        ),
        excluded: field(excluded, "Tokens that are on no page because a value is unknown.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "MovementAnswer", description: "A page of ranked tokens." })
) {}

export class DiscoveryAnswer extends Schema.Opaque<DiscoveryAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(DiscoveryRow), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...meta("public-discovery-v1", "net_trades"),
        ranking: field(
          Schema.Struct({
            stage: field(DiscoveryStage, "Stage of a token between its launch and the pool after its graduation."),
            window: field(MarketWindow, "The span of time that ends now."),
            order: field(Schema.String, "Values that decide the order; the first one decides first.")
          }),
          "The order of the rows."
        ),
        excluded: field(excluded, "Tokens that are on no page because a value is unknown.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "DiscoveryAnswer", description: "A page of discovered tokens." })
) {}

/** Charts and rankings of the market, answered from memory. */
export class MarketGroup extends HttpApiGroup.make("market")
  .add(
    HttpApiEndpoint.get("chart", "/api/v1/market/chart/:token", {
      params: { token: field(Schema.String, "A mint, or a token address on an EVM chain.") },
      query: ChartQuery,
      success: ChartAnswer,
      error: [InvalidDenomination, UnsupportedChain, TokenNotFound, ChartWarming, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Candles of one token"),
    HttpApiEndpoint.get("lighthouse", "/api/v1/market/lighthouse", {
      query: NoQuery,
      success: LighthouseAnswer,
      error: DataUnavailable
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Every venue and launchpad in four windows"),
    HttpApiEndpoint.get("overview", "/api/v1/market/overview", {
      query: OverviewQuery,
      success: OverviewAnswer,
      error: DataUnavailable
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "The whole market in one window"),
    HttpApiEndpoint.get("movement", "/api/v1/market/movement", {
      query: MovementQuery,
      success: MovementAnswer,
      error: [InvalidCursor, CursorExpired, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Tokens ranked by what they did in a window"),
    HttpApiEndpoint.get("stats", "/api/v1/tokens/:chain/:address/stats", {
      params: tokenParams,
      query: TokenStatsQuery,
      success: TokenStatsAnswer,
      error: [UnsupportedChain, TokenNotFound, ChartWarming, DataUnavailable]
    }).annotate(OpenApi.Summary, "Activity of one token in four windows, and its highest and lowest price"),
    HttpApiEndpoint.get("discovery", "/api/v1/market/discovery", {
      query: DiscoveryQuery,
      success: DiscoveryAnswer,
      error: [InvalidCursor, CursorExpired, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Tokens that are new, about to graduate, graduated or trending")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Charts and rankings of the market, answered from memory.") {}

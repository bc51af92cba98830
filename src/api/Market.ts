import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { Chart, ChartDenom, chartKnowledge, ChartMode, ChartOutliers, ChartResolution } from "../domain/market/Chart.ts"
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
} from "../domain/market/MarketViews.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { LimitParameter, NextCursor } from "./cursor.ts"
import { TokenStatsAnswer, TokenStatsQuery } from "./market/Stats.ts"
import { CommaList, DecimalParameter, described, IntegerParameter, NoQuery, refuse, tokenParams } from "./parameters.ts"
import {
  ChartWarming,
  CursorExpired,
  DataUnavailable,
  InvalidCursor,
  InvalidDenomination,
  TokenNotFound,
  UnsupportedChain
} from "./problems.ts"
import { VenueLabel } from "./Spot.ts"

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

const noted = <S extends Schema.Top>(parameter: S, description: string) =>
  Schema.optionalKey(described(parameter, description))

/** The last second of the year 9999, the latest accepted time. */
const LAST_SECOND = 253_402_300_799

const Second = IntegerParameter(0, LAST_SECOND)

/** Query of the chart. The chain is read as text, so that an unsupported one has an error of its own. */
export const ChartQuery = Schema.Struct({
  chain: noted(Schema.String, `Chain of the token; ${defaults.chain} unless given.`),
  resolution: noted(ChartResolution, `Width of a bar, ${defaults.resolution} unless given; 1mn is a month.`),
  denom: noted(ChartDenom, `Unit of bars, ${defaults.denom} unless given; sol on Solana only.`),
  pool: noted(
    Address,
    "Only the trades of this pool, on Solana only. A pool that does not trade the token has no bars; they reach back as far as trades are kept."
  ),
  outliers: noted(
    ChartOutliers,
    `Whether prints counted in \`outliers\` are part of high and low, ${defaults.outliers} unless given; on Solana only. Open and close are the trades that they were.`
  ),
  mode: noted(ChartMode, `Prices or market values; ${defaults.mode} unless given.`),
  from: noted(
    Second,
    "Unix second at which the window begins, floored to its bucket. On an EVM chain one answer spans 90 days at most: pass prevTo as `to` for those before."
  ),
  to: noted(Second, "Unix second before which the window ends, ceiled to its bucket; now unless given."),
  limit: noted(
    IntegerParameter(1, 1500, defaults.bars),
    `The newest so many bars, 1 to 1500; ${defaults.bars} unless given.`
  )
}).check(
  Schema.makeFilter(
    ({ from, to }) =>
      from === undefined || to === undefined || from < to || refuse("to", "conflict", "to must be after from.")
  )
)

/** Candles of one token. */
export class ChartAnswer extends Schema.Opaque<ChartAnswer>()(
  Schema.Struct({
    data: Chart,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-chart-v1"),
      chain: Schema.String,
      ...chartKnowledge
    })
  }).annotate({ identifier: "ChartAnswer", description: "Candles of one token." })
) {}

const PinnedCursor = noted(
  Schema.String,
  "The nextCursor of the page before, with the same selectors. A page shows the market as it was for the first one; it expires after 60 seconds."
)

/** Query of the overview. */
export const OverviewQuery = Schema.Struct({
  window: noted(MarketWindow, `The window that ends now, ${defaults.overviewWindow} unless given.`)
})

/** Query of the movement ranking. */
export const MovementQuery = Schema.Struct({
  window: noted(MarketWindow, `The window that ends now, ${defaults.movementWindow} unless given.`),
  rank: noted(MovementRank, `Value that tokens are ranked by, ${defaults.rank} unless given.`),
  minLiquidityUsd: noted(
    DecimalParameter,
    `Dollars that the pools can pay out; ${defaults.minLiquidityUsd} unless given.`
  ),
  minVolumeUsd: noted(DecimalParameter, `Dollars traded in the window; ${defaults.minVolumeUsd} unless given.`),
  limit: Schema.optionalKey(LimitParameter(100, defaults.rows)),
  cursor: PinnedCursor
})

/** Query of the discovery list. */
export const DiscoveryQuery = Schema.Struct({
  stage: noted(DiscoveryStage, `How far from its launch, or trending; ${defaults.stage} unless given.`),
  window: noted(
    MarketWindow,
    `How old at most, or in which window trending; ${defaults.discoveryWindow} unless given.`
  ),
  launchpad: noted(CommaList(VenueLabel, 20), "Only of these launchpads: keys of the lighthouse."),
  minLiquidityUsd: noted(DecimalParameter, "Dollars that the pools can pay out."),
  minHolders: noted(IntegerParameter(0, 9_999_999_999), "Wallets that hold the token."),
  limit: Schema.optionalKey(LimitParameter(100, defaults.rows)),
  cursor: PinnedCursor
})

const meta = <const Version extends string>(methodVersion: Version) => ({
  requestId: Schema.String,
  methodVersion: Schema.Literal(methodVersion),
  chain: Schema.Literal("solana"),
  ...marketKnowledge
})

/** The markets of the chain. */
export class LighthouseAnswer extends Schema.Opaque<LighthouseAnswer>()(
  Schema.Struct({
    data: Lighthouse,
    meta: Schema.Struct({
      ...meta("public-lighthouse-v1"),
      staleAfterMs: Schema.Int,
      windowCoverage: WindowCoverage
    })
  }).annotate({ identifier: "LighthouseAnswer", description: "The markets of the chain." })
) {}

/** The whole market in one window. */
export class OverviewAnswer extends Schema.Opaque<OverviewAnswer>()(
  Schema.Struct({ data: Overview, meta: Schema.Struct(meta("public-overview-v1")) }).annotate({
    identifier: "OverviewAnswer",
    description: "The whole market in one window."
  })
) {}

const excluded = Schema.Struct({
  unknownRank: Schema.Int.annotate({ description: "Tokens whose ranking value is not known." }),
  unknownFilter: Schema.Int.annotate({ description: "Tokens of which a filtered value is not known." })
})

/** A page of ranked tokens. */
export class MovementAnswer extends Schema.Opaque<MovementAnswer>()(
  Schema.Struct({
    data: Schema.Array(MovementRow),
    nextCursor: NextCursor,
    meta: Schema.Struct({
      ...meta("public-movement-v1"),
      ranking: Schema.Struct({
        rank: MovementRank,
        window: MarketWindow,
        direction: Schema.Literals(["asc", "desc"])
      }),
      excluded
    })
  }).annotate({ identifier: "MovementAnswer", description: "A page of ranked tokens." })
) {}

/** A page of discovered tokens. */
export class DiscoveryAnswer extends Schema.Opaque<DiscoveryAnswer>()(
  Schema.Struct({
    data: Schema.Array(DiscoveryRow),
    nextCursor: NextCursor,
    meta: Schema.Struct({
      ...meta("public-discovery-v1"),
      ranking: Schema.Struct({ stage: DiscoveryStage, window: MarketWindow, order: Schema.String }),
      excluded
    })
  }).annotate({ identifier: "DiscoveryAnswer", description: "A page of discovered tokens." })
) {}

/** Charts and rankings of the market, answered from memory. */
export class MarketGroup extends HttpApiGroup.make("market")
  .add(
    HttpApiEndpoint.get("chart", "/api/v1/market/chart/:token", {
      params: { token: Schema.String.annotate({ description: "A mint, or a token address on an EVM chain." }) },
      query: ChartQuery,
      success: ChartAnswer,
      error: [InvalidDenomination, UnsupportedChain, TokenNotFound, ChartWarming, DataUnavailable]
    }).annotate(OpenApi.Summary, "Candles of one token"),
    HttpApiEndpoint.get("lighthouse", "/api/v1/market/lighthouse", {
      query: NoQuery,
      success: LighthouseAnswer,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "Every venue and launchpad in four windows"),
    HttpApiEndpoint.get("overview", "/api/v1/market/overview", {
      query: OverviewQuery,
      success: OverviewAnswer,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "The whole market in one window"),
    HttpApiEndpoint.get("movement", "/api/v1/market/movement", {
      query: MovementQuery,
      success: MovementAnswer,
      error: [InvalidCursor, CursorExpired, DataUnavailable]
    }).annotate(OpenApi.Summary, "Tokens ranked by what they did in a window"),
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
    }).annotate(OpenApi.Summary, "Tokens that are new, about to graduate, graduated or trending")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Charts and rankings of the market, answered from memory.") {}

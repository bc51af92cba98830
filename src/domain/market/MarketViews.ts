import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Coverage, Scalar, Status } from "../Scalar.ts"
import { TokenRef } from "./Token.ts"

/** Rolling windows that end now. */
export const MarketWindow = Schema.Literals(["5m", "1h", "6h", "24h"])
export type MarketWindow = typeof MarketWindow.Type

const count = Schema.NullOr(Schema.Int)
const number = Schema.NullOr(Schema.Finite)
const changePct = number.annotate({
  description: "Percent against the window of equal length before; null when that one is zero or not fully covered."
})

/** Activity of one market in one window. Null where the window is not covered. */
export class MarketStats extends Schema.Opaque<MarketStats>()(
  Schema.Struct({
    trades: Schema.Struct({ total: count, buys: count, sells: count, changePct }),
    volumeUsd: Schema.Struct({ total: number, buys: number, sells: number, changePct }),
    traders: Schema.Struct({ total: count, approximate: Schema.Boolean, changePct }),
    tokensCreated: Schema.Struct({ total: count, changePct }),
    migrations: Schema.Struct({ total: count, changePct })
  }).annotate({ identifier: "MarketStats", description: "What happened in one market in one window." })
) {}

const perWindow = <S extends Schema.Top>(schema: S) =>
  Schema.Struct({ "5m": schema, "1h": schema, "6h": schema, "24h": schema })

/** One market: all of them, a venue or a launchpad. */
export class MarketRow extends Schema.Opaque<MarketRow>()(
  Schema.Struct({
    key: Schema.String,
    kind: Schema.Literals(["all", "dex", "launchpad"]),
    label: Schema.String,
    parentKey: Schema.NullOr(Schema.String),
    iconUrl: Schema.NullOr(Schema.String),
    url: Schema.NullOr(Schema.String),
    stats: perWindow(MarketStats)
  }).annotate({ identifier: "MarketRow", description: "One market: all of them, a venue or a launchpad." })
) {}

/** The markets of a chain, the aggregate first. */
export class Lighthouse extends Schema.Opaque<Lighthouse>()(
  Schema.Struct({
    chain: Schema.Literal("solana"),
    windows: Schema.Array(MarketWindow),
    markets: Schema.Array(MarketRow)
  }).annotate({ identifier: "Lighthouse", description: "The markets of a chain, the aggregate first." })
) {}

/** Coverage of each window of an answer. */
export const WindowCoverage = perWindow(Coverage)
export type WindowCoverage = typeof WindowCoverage.Type

/** The whole market in one window. */
export class Overview extends Schema.Opaque<Overview>()(
  Schema.Struct({
    chain: Schema.Literal("solana"),
    window: MarketWindow,
    activity: Schema.Struct({
      volumeUsd: Scalar,
      buyVolumeUsd: Scalar,
      sellVolumeUsd: Scalar,
      trades: Scalar,
      buys: Scalar,
      sells: Scalar,
      traders: Scalar
    }),
    change: Schema.Struct({ volumeChangePct: Scalar, tradesChangePct: Scalar, tradersChangePct: Scalar }),
    launches: Schema.Struct({ tokensCreated: Scalar, migrations: Scalar, migrationRatePct: Scalar }),
    breadth: Schema.Struct({ advancing: Scalar, declining: Scalar, unchanged: Scalar }),
    reference: Schema.Struct({ solUsd: Scalar, solChangePct: Scalar })
  }).annotate({ identifier: "Overview", description: "The whole market in one window." })
) {}

/** Ranking criterion. */
export const MovementRank = Schema.Literals(["gainers", "losers", "volume", "trades", "traders"])
export type MovementRank = typeof MovementRank.Type

/** Source of a row's price. */
export const PriceMethod = Schema.Literals(["last_trade", "pool_median"]).annotate({
  identifier: "PriceMethod",
  description:
    "`last_trade`: the last pool swap. `pool_median`: the median over the token's pools, as in `/prices`; for a token without a swap in the record."
})
export type PriceMethod = typeof PriceMethod.Type

/** One ranked token. */
export class MovementRow extends Schema.Opaque<MovementRow>()(
  Schema.Struct({
    rank: Schema.Int,
    token: TokenRef,
    priceUsd: Scalar,
    priceMethod: PriceMethod,
    changePct: Scalar,
    volumeUsd: Scalar,
    liquidityUsd: Scalar,
    marketCapUsd: Scalar,
    trades: Scalar,
    traders: Scalar
  }).annotate({ identifier: "MovementRow", description: "One ranked token." })
) {}

/** Progress of a token between its launch and a pool after graduation. */
export const DiscoveryStage = Schema.Literals(["new", "graduating", "graduated", "trending"])
export type DiscoveryStage = typeof DiscoveryStage.Type

const time = Schema.NullOr(Schema.Int)

/** One discovered token. No score of safety. */
export class DiscoveryRow extends Schema.Opaque<DiscoveryRow>()(
  Schema.Struct({
    token: TokenRef,
    stage: DiscoveryStage,
    launchpad: Schema.NullOr(Schema.String),
    pool: Schema.NullOr(Address),
    createdAtMs: time,
    graduatedAtMs: time,
    curveProgressPct: Scalar,
    priceUsd: Scalar,
    priceMethod: PriceMethod,
    marketCapUsd: Scalar,
    liquidityUsd: Scalar,
    volumeUsd: Scalar,
    trades: Scalar,
    traders: Scalar,
    holders: Scalar,
    trendBasis: Schema.NullOr(Schema.Literal("traders_growth"))
  }).annotate({ identifier: "DiscoveryRow", description: "One discovered token. No score of safety." })
) {}

/** Rows that were left out, by why. */
export interface Excluded {
  readonly unknownRank: number
  readonly unknownFilter: number
}

/** Coverage of an answer. */
export interface MarketKnowledge {
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: Coverage
}

/** The fields of `MarketKnowledge` on the wire. */
export const marketKnowledge = { observedAtMs: time, status: Status, coverage: Coverage }

/** There is nothing to answer from. */
export class MarketUnavailable extends Schema.TaggedError<MarketUnavailable>()("MarketUnavailable", {
  detail: Schema.String
}) {}

/** The snapshot that a page is of is gone. */
export class ViewExpired extends Schema.TaggedError<ViewExpired>()("ViewExpired", {}) {}

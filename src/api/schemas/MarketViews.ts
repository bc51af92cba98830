import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Coverage, Scalar, Status } from "../../domain/Scalar.ts"
import { TokenRef } from "./Token.ts"
import { field } from "../../domain/field.ts"
import { answerSlot, chain, liquidityUsd, marketCapUsd, priceUsd, traders, trades } from "./fields.ts"

/** Rolling windows that end now. */
export const MarketWindow = Schema.Literals(["5m", "1h", "6h", "24h"])
export type MarketWindow = typeof MarketWindow.Type

const count = Schema.NullOr(Schema.Int)
const number = Schema.NullOr(Schema.Finite)
const changePct = number.annotate({
  description:
    "Change in percent against the previous window of equal length; null when that window is zero or not fully covered."
})

/** Activity of one market in one window. Null where the window is not covered. */
export class MarketStats extends Schema.Opaque<MarketStats>()(
  Schema.Struct({
    trades: field(
      Schema.Struct({
        total: field(count, "The number; null where the window is not covered."),
        buys: field(count, "Number of purchases."),
        sells: field(count, "Number of sales."),
        changePct
      }),
      "Number of swaps of pools."
    ),
    volumeUsd: field(
      Schema.Struct({
        total: field(number, "Both sides, in USD."),
        buys: field(number, "Purchases, in USD."),
        sells: field(number, "Sales, in USD."),
        changePct
      }),
      "Volume in USD, as the nearest numbers; null where the window is not covered."
    ),
    traders: field(
      Schema.Struct({
        total: field(count, "The number; null where the window is not covered."),
        approximate: field(Schema.Boolean, "True when the number of wallets is estimated."),
        changePct
      }),
      "Different owners of pool swaps."
    ),
    tokensCreated: field(
      Schema.Struct({ total: field(count, "The number; null where the window is not covered."), changePct }),
      "Tokens created."
    ),
    migrations: field(
      Schema.Struct({ total: field(count, "The number; null where the window is not covered."), changePct }),
      "Tokens that left their curve for a pool."
    )
  }).annotate({ identifier: "MarketStats", description: "Activity of one market in one window." })
) {}

const perWindow = <S extends Schema.Top>(schema: S) =>
  Schema.Struct({ "5m": schema, "1h": schema, "6h": schema, "24h": schema })

export class MarketRow extends Schema.Opaque<MarketRow>()(
  Schema.Struct({
    key: field(Schema.String, "Key of the market, as filters take it."),
    kind: field(
      Schema.Literals(["all", "dex", "launchpad"]),
      "`all`: every market. `dex`: a venue. `launchpad`: a launchpad."
    ),
    label: field(Schema.String, "Display name."),
    parentKey: field(Schema.NullOr(Schema.String), "Key of the venue that a launchpad belongs to; null without one."),
    iconUrl: field(Schema.NullOr(Schema.String), "URL of the icon; null without one."),
    url: field(Schema.NullOr(Schema.String), "Web page; null without one."),
    stats: field(perWindow(MarketStats), "Activity in each window.")
  }).annotate({ identifier: "MarketRow", description: "One market: all markets, a venue or a launchpad." })
) {}

export class Lighthouse extends Schema.Opaque<Lighthouse>()(
  Schema.Struct({
    chain,
    windows: field(Schema.Array(MarketWindow), "The windows of the answer, shortest first."),
    markets: field(Schema.Array(MarketRow), "Markets, the aggregate first.")
  }).annotate({ identifier: "Lighthouse", description: "The markets of a chain, the aggregate first." })
) {}

export const WindowCoverage = perWindow(Coverage)
export type WindowCoverage = typeof WindowCoverage.Type

export class Overview extends Schema.Opaque<Overview>()(
  Schema.Struct({
    chain,
    window: field(MarketWindow, "The span of time that ends now."),
    activity: field(
      Schema.Struct({
        volumeUsd: field(Scalar, "Volume of both sides, in USD."),
        buyVolumeUsd: field(Scalar, "Volume of purchases, in USD."),
        sellVolumeUsd: field(Scalar, "Volume of sales, in USD."),
        trades,
        buys: field(Scalar, "Number of purchases."),
        sells: field(Scalar, "Number of sales."),
        traders: field(Scalar, "Number of different owners of pool swaps, estimated.")
      }),
      "Volume, trades and traders of the window."
    ),
    change: field(
      Schema.Struct({
        volumeChangePct: field(Scalar, "Change of the volume, in percent."),
        tradesChangePct: field(Scalar, "Change of the number of trades, in percent."),
        tradersChangePct: field(Scalar, "Change of the number of traders, in percent.")
      }),
      "Changes in percent against the previous window of equal length."
    ),
    launches: field(
      Schema.Struct({
        tokensCreated: field(Scalar, "Tokens created."),
        migrations: field(Scalar, "Tokens that left their curve for a pool."),
        migrationRatePct: field(Scalar, "Migrations in percent of tokens created.")
      }),
      "Tokens created and graduated in the window."
    ),
    breadth: field(
      Schema.Struct({
        advancing: field(Scalar, "Tokens whose price rose."),
        declining: field(Scalar, "Tokens whose price fell."),
        unchanged: field(Scalar, "Tokens whose price is the same.")
      }),
      "Tokens by the sign of their price change in the window."
    ),
    reference: field(
      Schema.Struct({
        solUsd: field(Scalar, "Price of one SOL, in USD."),
        solChangePct: field(Scalar, "Change of the price of SOL in the window, in percent.")
      }),
      "The price of SOL."
    )
  }).annotate({ identifier: "Overview", description: "The whole market in one window." })
) {}

/** What tokens are ranked by. */
export const MovementRank = Schema.Literals(["gainers", "losers", "volume", "trades", "traders"])
export type MovementRank = typeof MovementRank.Type

/** Source of a row's price. */
export const PriceMethod = Schema.Literals(["last_trade", "pool_median"]).annotate({
  identifier: "PriceMethod",
  description:
    "`last_trade`: the last pool swap. `pool_median`: the median over the token's pools, as in `/prices`, for a token without a recorded swap."
})
export type PriceMethod = typeof PriceMethod.Type

/** Where a change of a price begins. */
export const ChangeSince = Schema.Literals(["window", "launch"]).annotate({
  identifier: "ChangeSince",
  description:
    "`window`: the change is from the price at the beginning of the window. `launch`: the token was created in the window, and the change is from the price of its first swap."
})
export type ChangeSince = typeof ChangeSince.Type

export class MovementRow extends Schema.Opaque<MovementRow>()(
  Schema.Struct({
    rank: field(Schema.Int, "Place in the ranking; the first is 1."),
    token: TokenRef,
    priceUsd,
    priceMethod: PriceMethod,
    changePct: field(Scalar, "Change of the price since `changeSince`, in percent."),
    changeSince: ChangeSince,
    volumeUsd: field(Scalar, "Volume of both sides, in USD."),
    liquidityUsd,
    marketCapUsd,
    trades,
    traders
  }).annotate({ identifier: "MovementRow", description: "One ranked token." })
) {}

/** Progress of a token between its launch and a pool after graduation. */
export const DiscoveryStage = Schema.Literals(["new", "graduating", "graduated", "trending"])
export type DiscoveryStage = typeof DiscoveryStage.Type

const time = Schema.NullOr(Schema.Int)

export class DiscoveryRow extends Schema.Opaque<DiscoveryRow>()(
  Schema.Struct({
    token: TokenRef,
    stage: field(DiscoveryStage, "Stage of a token between its launch and the pool after its graduation."),
    launchpad: field(Schema.NullOr(Schema.String), "Key of the launchpad; null when unknown."),
    platform: field(
      Schema.NullOr(Schema.String),
      "Key of the platform that launched the token on a launchpad that several platforms share; null when it is none that is known."
    ),
    pool: field(Schema.NullOr(Address), "Address of the pool; null when unknown."),
    createdAtMs: field(time, "Time of creation, in milliseconds since the Unix epoch; null when unknown."),
    graduatedAtMs: field(
      time,
      "Time of the graduation, in milliseconds since the Unix epoch; null before it, or when unknown."
    ),
    curveProgressPct: field(Scalar, "Progress on the curve, in percent of what graduation takes."),
    priceUsd,
    priceMethod: PriceMethod,
    marketCapUsd,
    liquidityUsd,
    volumeUsd: field(Scalar, "Volume of both sides, in USD."),
    trades,
    traders,
    holders: field(Scalar, "Number of wallets that hold the token."),
    trendBasis: field(
      Schema.NullOr(Schema.Literal("traders_growth")),
      "Value that trending tokens are ranked by; null when the token does not trend."
    )
  }).annotate({ identifier: "DiscoveryRow", description: "One discovered token. Not a safety score." })
) {}

/** Rows that were left out, by reason. */
export interface Excluded {
  readonly unknownRank: number
  readonly unknownFilter: number
}

/** Coverage of an answer. */
export interface MarketKnowledge {
  /** Slot of the newest block in the answer; null when it is not made of blocks. */
  readonly slot: number | null
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: Coverage
}

/** The fields of `MarketKnowledge` on the wire. */
export const marketKnowledge = {
  slot: answerSlot,
  observedAtMs: field(
    time,
    "Time of the newest observation that was used, in milliseconds since the Unix epoch; null when there was none."
  ),
  status: Status,
  coverage: Coverage
}

/** There is nothing to answer from. */
export class MarketUnavailable extends Schema.TaggedError<MarketUnavailable>()("MarketUnavailable", {
  detail: Schema.String
}) {}

/** The snapshot that a page belongs to is gone. */
export class ViewExpired extends Schema.TaggedError<ViewExpired>()("ViewExpired", {}) {}

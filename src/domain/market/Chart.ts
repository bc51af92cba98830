import { Schema } from "effect"
import type { Address } from "../Address.ts"
import { type Coverage, CoverageReason, Decimal, Status } from "../Scalar.ts"

/** Widths of candles; `1mn` is a month. */
export const ChartResolution = Schema.Literals([
  "1s",
  "5s",
  "15s",
  "30s",
  "1m",
  "3m",
  "5m",
  "15m",
  "30m",
  "1h",
  "2h",
  "4h",
  "6h",
  "8h",
  "12h",
  "1d",
  "1w",
  "1mn"
])
export type ChartResolution = typeof ChartResolution.Type

/** EVM chains that have charts. */
export const EvmChain = Schema.Literals(["ethereum", "base", "bsc", "arbitrum", "polygon", "avalanche", "optimism"])
export type EvmChain = typeof EvmChain.Type

/** Denomination of bars. */
export const ChartDenom = Schema.Literals(["usd", "sol"])
export type ChartDenom = typeof ChartDenom.Type

/** Quantity of bars: price or market value. */
export const ChartMode = Schema.Literals(["price", "mcap"])
export type ChartMode = typeof ChartMode.Type

/** Use of outliers in the high and the low of bars. */
export const ChartOutliers = Schema.Literals(["include", "exclude"])
export type ChartOutliers = typeof ChartOutliers.Type

/** One candle. */
export class ChartBar extends Schema.Opaque<ChartBar>()(
  Schema.Struct({
    t: Schema.Int.annotate({ description: "Start of the bucket, in milliseconds." }),
    o: Schema.Finite,
    h: Schema.Finite,
    l: Schema.Finite,
    c: Schema.Finite,
    v: Schema.Finite.annotate({ description: "Traded volume in the denomination, in both modes." }),
    n: Schema.NullOr(Schema.Int).annotate({ description: "Trades; null on EVM chains." }),
    buys: Schema.NullOr(Schema.Int).annotate({ description: "Purchases among the trades." }),
    sells: Schema.NullOr(Schema.Int),
    buyVolume: Schema.NullOr(Schema.Finite).annotate({ description: "The part of the volume that was bought." }),
    sellVolume: Schema.NullOr(Schema.Finite),
    traders: Schema.NullOr(Schema.Int).annotate({
      description: "Distinct wallets, in bars of 1s and 1m; null in every other, because they do not add up."
    }),
    outliers: Schema.NullOr(Schema.Int).annotate({
      description:
        "Prints more than 20 times away from the median of their neighbours in the bar, with less than 1 % of its volume; null where the trades of a bar with such prices were not looked through."
    }),
    revision: Schema.NullOr(Schema.Int).annotate({
      description:
        "Trades that came after their part of the bar was closed: 0 for a bar that never changed; null on EVM chains."
    })
  }).annotate({ identifier: "ChartBar", description: "One candle. Prices are per whole token." })
) {}

/** The token of a chart, of whichever chain. */
export class ChartToken extends Schema.Opaque<ChartToken>()(
  Schema.Struct({
    chain: Schema.String,
    address: Schema.String,
    symbol: Schema.NullOr(Schema.String),
    name: Schema.NullOr(Schema.String),
    decimals: Schema.NullOr(Schema.Int),
    imageUrl: Schema.NullOr(Schema.String)
  }).annotate({ identifier: "ChartToken", description: "The token of a chart, of whichever chain." })
) {}

/** Candles of one token. */
export class Chart extends Schema.Opaque<Chart>()(
  Schema.Struct({
    token: ChartToken,
    resolution: ChartResolution,
    resolutionMs: Schema.Int.annotate({ description: "Width in milliseconds; nominal for a month." }),
    denom: ChartDenom,
    mode: ChartMode,
    bars: Schema.Array(ChartBar).annotate({ description: "Oldest first. A bucket without a trade has no bar." })
  }).annotate({ identifier: "Chart", description: "Candles of one token." })
) {}

const time = Schema.NullOr(Schema.Int)

/** Which part of the window the bars cover. */
export class ChartCoverage extends Schema.Opaque<ChartCoverage>()(
  Schema.Struct({
    complete: Schema.Boolean,
    reason: Schema.NullOr(CoverageReason),
    requestedFromMs: time,
    requestedToMs: time,
    coveredFromMs: time,
    coveredToMs: time,
    missingBars: Schema.NullOr(Schema.Int).annotate({
      description: "Buckets that are known to have traded and could not be priced."
    })
  }).annotate({ identifier: "ChartCoverage", description: "Which part of the window the bars cover." })
) {}

/** The supply that market values were made with. */
export class ChartSupply extends Schema.Opaque<ChartSupply>()(
  Schema.Struct({
    value: Schema.NullOr(Decimal),
    basis: Schema.Literals(["circulating", "total"]),
    applied: Schema.Literals(["current", "per_bar"]),
    observedAtMs: time
  }).annotate({ identifier: "ChartSupply", description: "The supply that market values were made with." })
) {}

/** A chart request. */
export interface ChartKnowledge {
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: ChartCoverage
  readonly truncated: boolean
  readonly prevTo: number | null
  readonly openBarMs: number | null
  readonly supply: ChartSupply | null
}

/** The fields of `ChartKnowledge` on the wire. */
export const chartKnowledge = {
  observedAtMs: time,
  status: Status,
  coverage: ChartCoverage,
  truncated: Schema.Boolean.annotate({ description: "Whether the window holds older bars than these." }),
  prevTo: time.annotate({
    description:
      "Unix second to pass as `to` for the page before, also where an EVM window was cut to 90 days; null when there is none."
  }),
  openBarMs: time.annotate({
    description:
      "Start of the last bar while it can still change: until its source was read past the end of the bucket."
  }),
  supply: Schema.NullOr(ChartSupply).annotate({ description: "Null when bars show prices." })
}

/** Which chart is wanted. Bounds are Unix seconds; the chain's own rules are already checked. */
export interface ChartRequest {
  readonly resolution: ChartResolution
  readonly denom: ChartDenom
  readonly mode: ChartMode
  /** Only the trades of this pool; of all pools unless given. */
  readonly pool?: Address
  /** In high and low unless given. */
  readonly outliers?: ChartOutliers
  readonly from: number | null
  readonly to: number | null
  readonly limit: number
}

/** A chart, and how well it is known. */
export interface KnownChart {
  readonly data: Chart
  readonly knowledge: ChartKnowledge
}

/** The token is unknown. */
export class ChartUnknown extends Schema.TaggedError<ChartUnknown>()("ChartUnknown", { address: Schema.String }) {}

/** The series is being built. */
export class ChartNotReady extends Schema.TaggedError<ChartNotReady>()("ChartNotReady", {
  /** Estimated wait in milliseconds, when known. */
  retryAfterMs: Schema.NullOr(Schema.Finite)
}) {}

/** The source of the chart failed or does not exist. */
export class ChartUnavailable extends Schema.TaggedError<ChartUnavailable>()("ChartUnavailable", {
  detail: Schema.String
}) {}

/** No source of charts of this chain is configured. */
export class ChartChainUnserved extends Schema.TaggedError<ChartChainUnserved>()("ChartChainUnserved", {
  chain: EvmChain
}) {}

/** Everything that can keep a chart from being drawn. */
export type ChartRefusal = ChartUnknown | ChartNotReady | ChartUnavailable | ChartChainUnserved

/** The chart's gap as a coverage reason; null when there is none. */
export type Lacking = Coverage["reason"]

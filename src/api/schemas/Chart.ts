import { Schema } from "effect"
import type { Address } from "../../domain/Address.ts"
import { type Coverage, CoverageReason, Decimal, Status } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"
import { answerSlot, decimals } from "./fields.ts"

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

/** What the bars show: price or market value. */
export const ChartMode = Schema.Literals(["price", "mcap"])
export type ChartMode = typeof ChartMode.Type

/** Whether outliers count in the high and the low of bars. */
export const ChartOutliers = Schema.Literals(["include", "exclude"])
export type ChartOutliers = typeof ChartOutliers.Type

export class ChartBar extends Schema.Opaque<ChartBar>()(
  Schema.Struct({
    t: field(Schema.Int, "Start of the bar, in milliseconds since the Unix epoch."),
    o: field(Schema.Finite, "First price of the bar, in the unit of the chart, as the nearest double."),
    h: field(Schema.Finite, "Highest price of the bar, in the unit of the chart, as the nearest double."),
    l: field(Schema.Finite, "Lowest price of the bar, in the unit of the chart, as the nearest double."),
    c: field(Schema.Finite, "Last price of the bar, in the unit of the chart, as the nearest double."),
    v: field(Schema.Finite, "Traded volume in the unit of the chart, in both modes."),
    n: field(Schema.NullOr(Schema.Int), "Number of trades; null on EVM chains."),
    buys: field(Schema.NullOr(Schema.Int), "Number of purchases among the trades."),
    sells: field(Schema.NullOr(Schema.Int), "Number of sales; null when unknown."),
    buyVolume: field(Schema.NullOr(Schema.Finite), "The part of the volume that was bought, in the unit of the chart."),
    sellVolume: field(Schema.NullOr(Schema.Finite), "Volume of sales, in the unit of the chart; null when unknown."),
    traders: field(
      Schema.NullOr(Schema.Int),
      "Number of different owners of pool swaps in bars of 1s and 1m; null in wider bars, because the numbers do not add up."
    ),
    outliers: field(
      Schema.NullOr(Schema.Int),
      "Prints that are more than 20 times away from the median of their neighbours in the bar and have less than 1 % of its volume. Null where the trades of a bar with such prints were not examined."
    ),
    isWhole: field(
      Schema.NullOr(Schema.Boolean),
      "False when blocks of the bar's time are missing: the record begins or has a gap in it, so prices and sums may lack trades. Null on EVM chains."
    ),
    revision: field(
      Schema.NullOr(Schema.Int),
      "Trades that arrived after their part of the bar was closed. 0 for a bar that never changed; null on EVM chains."
    )
  }).annotate({ identifier: "ChartBar", description: "One candle. Prices are per whole token." })
) {}

export class ChartToken extends Schema.Opaque<ChartToken>()(
  Schema.Struct({
    chain: field(Schema.String, "The chain of the values."),
    address: field(Schema.String, "Mint of the token: base58 of 32 bytes on Solana."),
    symbol: field(Schema.NullOr(Schema.String), "Ticker symbol; null when unknown."),
    name: field(Schema.NullOr(Schema.String), "Display name; null when unknown."),
    decimals,
    imageUrl: field(Schema.NullOr(Schema.String), "URL of the picture; null when unknown.")
  }).annotate({ identifier: "ChartToken", description: "The token of a chart, on any chain." })
) {}

export class Chart extends Schema.Opaque<Chart>()(
  Schema.Struct({
    token: ChartToken,
    resolution: field(ChartResolution, "Width of a bar."),
    resolutionMs: field(Schema.Int, "Width of a bar in milliseconds; nominal for a month."),
    denom: field(ChartDenom, "Unit of the bars."),
    mode: field(ChartMode, "`price`: prices of one whole token. `mcap`: market values."),
    bars: field(Schema.Array(ChartBar), "Oldest first. An interval without a trade has no bar.")
  }).annotate({ identifier: "Chart", description: "Candles of one token." })
) {}

const time = Schema.NullOr(Schema.Int)

export class ChartCoverage extends Schema.Opaque<ChartCoverage>()(
  Schema.Struct({
    complete: field(Schema.Boolean, "True when nothing is missing."),
    reason: field(Schema.NullOr(CoverageReason), "Why something is missing; null when nothing is."),
    requestedFromMs: field(
      time,
      "Beginning of the requested span, in milliseconds since the Unix epoch; null when none was requested."
    ),
    requestedToMs: field(
      time,
      "End of the requested span, in milliseconds since the Unix epoch; null when none was requested."
    ),
    coveredFromMs: field(
      time,
      "Beginning of what was seen, in milliseconds since the Unix epoch; null when nothing was."
    ),
    coveredToMs: field(time, "End of what was seen, in milliseconds since the Unix epoch; null when nothing was."),
    missingBars: field(Schema.NullOr(Schema.Int), "Number of bars that had trades but could not be priced.")
  }).annotate({ identifier: "ChartCoverage", description: "Which part of the window the bars cover." })
) {}

export class ChartSupply extends Schema.Opaque<ChartSupply>()(
  Schema.Struct({
    value: field(Schema.NullOr(Decimal), "The supply in whole tokens; null when unknown."),
    basis: field(Schema.Literals(["circulating", "total"]), "`circulating` or `total` supply."),
    applied: field(
      Schema.Literals(["current", "per_bar"]),
      "`current`: every bar uses today's supply. `per_bar`: each bar uses its own supply."
    ),
    observedAtMs: field(
      time,
      "Time of the newest observation that was used, in milliseconds since the Unix epoch; null when there was none."
    )
  }).annotate({ identifier: "ChartSupply", description: "The supply behind market values." })
) {}

/** A chart request. */
export interface ChartKnowledge {
  readonly slot: number | null
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
  slot: answerSlot,
  observedAtMs: field(
    time,
    "Time of the newest observation that was used, in milliseconds since the Unix epoch; null when there was none."
  ),
  status: Status,
  coverage: ChartCoverage,
  truncated: field(Schema.Boolean, "True when the window holds older bars than these."),
  prevTo: field(
    time,
    "Unix second to pass as `to` for the previous page, also where an EVM window was cut to 90 days; null when there is no such page."
  ),
  openBarMs: field(
    time,
    "Start of the last bar while it can still change, which is until its source was read past the end of the bar."
  ),
  supply: field(Schema.NullOr(ChartSupply), "The supply behind market values; null when bars show prices.")
}

/** The chart that is wanted. Bounds are Unix seconds. The rules of the chain have been checked. */
export interface ChartRequest {
  readonly resolution: ChartResolution
  readonly denom: ChartDenom
  readonly mode: ChartMode
  /** Only trades of this pool; all pools when missing. */
  readonly pool?: Address
  /** Whether outliers count in high and low; they do when missing. */
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

/** Every reason why a chart cannot be drawn. */
export type ChartRefusal = ChartUnknown | ChartNotReady | ChartUnavailable | ChartChainUnserved

/** What the chart lacks, as a coverage reason; null when nothing is missing. */
export type Lacking = Coverage["reason"]

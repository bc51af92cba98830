import { Schema } from "effect"
import { Decimal, Status } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"
import { wallet } from "./fields.ts"

/** The windows in which wallets are ranked. `all` is everything that is still kept. */
export const TraderWindow = Schema.Literals(["1h", "24h", "all"])
export type TraderWindow = typeof TraderWindow.Type

const amount = Schema.NullOr(Decimal)
const count = Schema.Int
const time = Schema.NullOr(Schema.Int)

/** Proceeds of a wallet's sales minus the cost of the sold tokens, over recorded swaps. */
export class RealizedPnl extends Schema.Opaque<RealizedPnl>()(
  Schema.Struct({
    value: field(
      Schema.Struct({
        usd: field(amount, "Dollars; null while the cost or the proceeds of a sale are unknown."),
        native: field(amount, "SOL; null while the cost or the proceeds of a sale are unknown."),
        roiPct: field(amount, "Percent of the cost; null without a sale.")
      }),
      "Realized profit; null when it is not known."
    ),
    status: Status,
    reason: field(Schema.String, "Why something is missing; null when nothing is."),
    observedAtMs: field(
      time,
      "Time of the newest observation that was used, in milliseconds since the Unix epoch; null when there was none."
    )
  }).annotate({
    identifier: "RealizedPnl",
    description: "What sales brought above the average cost of the sold tokens, as far as swaps show."
  })
) {}

export class TopTrader extends Schema.Opaque<TopTrader>()(
  Schema.Struct({
    wallet,
    rank: field(Schema.Int, "Place in the ranking; the first is 1."),
    boughtTokens: field(amount, "Bought in the window, in whole tokens; null while the decimals are unknown."),
    soldTokens: field(amount, "Sold in the window, in whole tokens; null while the decimals are unknown."),
    boughtUsd: field(amount, "Value of the purchases; null while the value of a purchase is unknown."),
    soldUsd: field(amount, "Value of the sales; null while the value of a sale is unknown."),
    buys: field(count, "Number of purchases."),
    sells: field(count, "Number of sales."),
    lastTradeAtMs: field(Schema.Int, "Time of the last trade, in milliseconds since the Unix epoch."),
    realizedPnl: RealizedPnl
  }).annotate({ identifier: "TopTrader", description: "One wallet of a token's ranking." })
) {}

export class TraderCoverage extends Schema.Opaque<TraderCoverage>()(
  Schema.Struct({
    basis: field(Schema.Literal("observed_swaps_only"), "What is counted: observed swaps."),
    transferAware: field(Schema.Literal(false), "Always false: transfers are not counted."),
    windowFromMs: field(
      time,
      "Beginning of the window, in milliseconds since the Unix epoch; null when everything is counted."
    ),
    windowToMs: field(
      time,
      "End of the window, in milliseconds since the Unix epoch; null when everything is counted."
    ),
    coveredFromMs: field(
      time,
      "Beginning of what was seen, in milliseconds since the Unix epoch; null when nothing was."
    ),
    historyComplete: field(Schema.Boolean, "True when the whole history of the token was seen.")
  }).annotate({ identifier: "TraderCoverage", description: "The record behind the ranking, and what it lacks." })
) {}

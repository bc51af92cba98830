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

/** The most wallets of a ranking of leaders. */
export const MOST_LEADERS = 1000

/** What leaders are ranked by. */
export const LeaderSort = Schema.Literals(["realized", "volume", "trades"]).annotate({
  identifier: "LeaderSort",
  description:
    "`realized`: known realized profit. `volume`: known value of all trades. `trades`: their number. The greatest first."
})
export type LeaderSort = typeof LeaderSort.Type

export class WalletLeader extends Schema.Opaque<WalletLeader>()(
  Schema.Struct({
    rank: field(Schema.Int, "Place in the ranking; the first is 1."),
    wallet,
    trades: field(
      count,
      "Number of trades in the window: what the wallet gave and received in all, not swaps of pools."
    ),
    buys: field(count, "Number of purchases."),
    sells: field(count, "Number of sales."),
    tokens: field(count, "Tokens that it traded."),
    knownVolumeUsd: field(Decimal, "Value of the trades whose value is known."),
    unpricedTrades: field(count, "Trades whose value is unknown. They are in no amount."),
    realized: field(
      Schema.Struct({
        knownUsd: field(
          amount,
          "Proceeds less average cost of the tokens whose sales in the window all have a known result; null when there is none."
        ),
        costUsd: field(amount, "Average cost of what was sold of these tokens; null when there is none."),
        roiPct: field(amount, "`knownUsd` in percent of `costUsd`; null without a cost."),
        knownTokens: field(
          count,
          "Tokens whose sales in the window all have a known result: the denominator of `wins`."
        ),
        unknownTokens: field(
          count,
          "Tokens with a sale of unknown cost or proceeds. None of their sales is in `knownUsd`."
        ),
        wins: field(count, "Tokens of `knownTokens` that made a profit."),
        knownSharePct: field(
          amount,
          "Proceeds of `knownTokens` in percent of the proceeds of all sales; null without a sale, and while the proceeds of a sale are unknown."
        )
      }),
      "Realized profit, as far as it is known."
    ),
    lastTradeAtMs: field(Schema.Int, "Time of the last trade, in milliseconds since the Unix epoch.")
  }).annotate({ identifier: "WalletLeader", description: "One wallet of the ranking over all tokens." })
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

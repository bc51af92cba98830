import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Decimal, Status } from "../Scalar.ts"

/** The windows in which wallets are ranked; `all` is everything that is still held. */
export const TraderWindow = Schema.Literals(["1h", "24h", "all"])
export type TraderWindow = typeof TraderWindow.Type

const amount = Schema.NullOr(Decimal)
const count = Schema.Int
const time = Schema.NullOr(Schema.Int)

/** Proceeds of a wallet's sales less the cost of the sold tokens, over recorded swaps. */
export class RealizedPnl extends Schema.Opaque<RealizedPnl>()(
  Schema.Struct({
    value: Schema.Struct({
      usd: amount.annotate({ description: "Dollars; null while the cost or the proceeds of a sale are unknown." }),
      native: amount.annotate({ description: "SOL; null as above." }),
      roiPct: amount.annotate({ description: "Percent of the cost; null without a sale." })
    }),
    status: Status,
    reason: Schema.String,
    observedAtMs: time
  }).annotate({
    identifier: "RealizedPnl",
    description: "What sales brought over what the tokens had cost on average, as far as swaps tell."
  })
) {}

/** One wallet of a token's ranking. */
export class TopTrader extends Schema.Opaque<TopTrader>()(
  Schema.Struct({
    wallet: Address,
    rank: Schema.Int,
    boughtTokens: amount,
    soldTokens: amount,
    boughtUsd: amount.annotate({ description: "Null while the worth of a purchase is unknown." }),
    soldUsd: amount.annotate({ description: "Null while the worth of a sale is unknown." }),
    buys: count,
    sells: count,
    lastTradeAtMs: Schema.Int,
    realizedPnl: RealizedPnl
  }).annotate({ identifier: "TopTrader", description: "One wallet of a token's ranking." })
) {}

/** Record behind the ranking, with its gaps. */
export class TraderCoverage extends Schema.Opaque<TraderCoverage>()(
  Schema.Struct({
    basis: Schema.Literal("observed_swaps_only"),
    transferAware: Schema.Literal(false),
    windowFromMs: time,
    windowToMs: time,
    coveredFromMs: time,
    historyComplete: Schema.Boolean
  }).annotate({ identifier: "TraderCoverage", description: "What the ranking was made from, and what it lacks." })
) {}

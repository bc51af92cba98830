/** Profit over the units of which the cost is known, and the quantities of a position by the way they came. */
import { Schema } from "effect"
import { atomic } from "../Amount.ts"
import { Decimal } from "../Scalar.ts"

const usd = (description: string) => Schema.NullOr(Decimal).annotate({ description })

const sums = {
  realized: Decimal.annotate({
    description: "Proceeds less average cost of the units sold of which both are known; dollars, like all of these."
  }),
  unrealized: usd("Value less cost of the units held of which the cost and a mark are known; null without a mark."),
  total: usd("Both together."),
  cost: Decimal.annotate({ description: "Cost of the buys at a known price, front-end fees included." })
}

/** The known part of the profit of one position. */
export const KnownPositionPnl = Schema.Struct({
  ...sums,
  avgCostUsd: usd("Average cost of a whole token of the units held with a known cost.")
}).annotate({
  identifier: "KnownPositionPnl",
  description: "Profit over the units of a position of which the cost is known."
})

/** The known part of the profit of a wallet, with the share of its trades and holdings that the part covers. */
export const KnownWalletPnl = Schema.Struct({
  ...sums,
  volumeShare: usd(
    "Value traded in units of known cost as a fraction of the value of all trades at a known price; null without any."
  ),
  openValueShare: usd(
    "Value of the units held of known cost as a fraction of the value of all units with a mark; null where that is zero."
  ),
  unpricedTrades: Schema.Int.annotate({ description: "Trades at an unknown price. They are in no volume." }),
  unmarkedPositions: Schema.Int.annotate({
    description: "Open positions without a mark or of unknown size. They are in no value."
  })
}).annotate({
  identifier: "KnownWalletPnl",
  description: "Profit over the units of a wallet of which the cost is known, and the share that it covers."
})

/** Units held by the way they came. Their sum is the holding where that is known. */
export const PositionQuantities = Schema.Struct({
  known: atomic("Atomic units bought at a known price."),
  inherited: atomic("Atomic units held before the first transaction that was seen; cost unknown."),
  received: atomic("Atomic units come otherwise than by a trade; cost unknown."),
  unpriced: atomic("Atomic units bought at an unknown price; cost unknown.")
}).annotate({ identifier: "PositionQuantities", description: "Units held by the way they came." })
export type PositionQuantities = typeof PositionQuantities.Type

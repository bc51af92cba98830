/** Profit over the units of known cost, and the quantities of a position by their origin. */
import { Schema } from "effect"
import { atomic } from "../../domain/Amount.ts"
import { Decimal } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"

const usd = (description: string) => Schema.NullOr(Decimal).annotate({ description })

const sums = {
  realized: usd(
    "Proceeds minus average cost of the sold units for which both are known. In dollars, like all fields here. Null until the " +
      "token accounts of the wallet have been read: units in other accounts would change which units were sold."
  ),
  unrealized: usd(
    "Value minus cost of the held units with a known cost and a price; null without a price, and until the token accounts have been read."
  ),
  total: usd("Realized and unrealized profit."),
  cost: usd(
    "Cost of the purchases at a known price, front-end fees included; null while the trades of a tracked wallet are restored."
  )
}

/** Profit of one position over the units of known cost. */
export const KnownPositionPnl = Schema.Struct({
  ...sums,
  avgCostUsd: usd("Average cost of one whole token among the held units of known cost.")
}).annotate({
  identifier: "KnownPositionPnl",
  description: "Profit of a position over the units of known cost."
})

/** Profit of a wallet over the units of known cost, with the share of its trades and holdings that this covers. */
export const KnownWalletPnl = Schema.Struct({
  ...sums,
  volumeShare: usd(
    "Share of the traded value that was in units of known cost, among all trades at a known price; null without any, and until the token accounts have been read."
  ),
  openValueShare: usd(
    "Share of the held value that is in units of known cost, among all units with a price; null when that value is zero."
  ),
  unpricedTrades: field(Schema.Int, "Trades at an unknown price. No volume includes them."),
  unmarkedPositions: field(Schema.Int, "Open positions without a price or of unknown size. No value includes them.")
}).annotate({
  identifier: "KnownWalletPnl",
  description: "Profit of a wallet over the units of known cost, and the share that they cover."
})

/** Held units by their origin. Their sum is the holding, where the holding is known. */
export const PositionQuantities = Schema.Struct({
  known: atomic("Atomic units bought at a known price."),
  inherited: atomic("Atomic units held before the first transaction that was seen; cost unknown."),
  received: atomic("Atomic units that arrived other than by a trade; cost unknown."),
  unpriced: atomic("Atomic units bought at an unknown price; cost unknown.")
}).annotate({ identifier: "PositionQuantities", description: "Held units by their origin." })
export type PositionQuantities = typeof PositionQuantities.Type

/** Profit of positions and wallets in the types of the contract. */
import type {
  KnownPositionPnl,
  KnownWalletPnl as KnownWalletBody,
  PositionQuantities
} from "../api/schemas/KnownPnl.ts"
import type { Position } from "./ledger.ts"
import { type PositionPnl, usdText, usdTextOrNull } from "./pnl.ts"
import type { WalletPnl } from "./walletPnl.ts"

/** Units by how they arrived. */
export const quantitiesOf = ({ lots: { inherited, known, received, unpriced } }: Position): PositionQuantities => ({
  known,
  inherited,
  received,
  unpriced
})

const sumsOf = ({ cost, realized, total, unrealized }: PositionPnl["known"]) => ({
  realized: usdTextOrNull(realized),
  unrealized: usdTextOrNull(unrealized),
  total: usdTextOrNull(total),
  cost: usdText(cost)
})

/** The known part of the profit of a position. */
export const knownBody = ({ known, knownAvgCost }: PositionPnl): typeof KnownPositionPnl.Type => ({
  ...sumsOf(known),
  avgCostUsd: knownAvgCost
})

/** The known part of the profit of a wallet. */
export const knownWalletBody = ({ known }: WalletPnl): typeof KnownWalletBody.Type => ({
  ...sumsOf(known),
  volumeShare: known.volumeShare,
  openValueShare: known.openValueShare,
  unpricedTrades: known.unpricedTrades,
  unmarkedPositions: known.unmarkedPositions
})

/** Positions of a wallet in the types of the contract. */
import { tenTo } from "../domain/decimal.ts"
import { decimalText, type Rational } from "../domain/rational.ts"
import type { Decimal } from "../domain/Scalar.ts"
import type { WalletPosition } from "../api/schemas/WalletPositions.ts"
import type { Position } from "./ledger.ts"
import type { Mark } from "./marks.ts"
import { pnlOf, usdTextOrNull } from "./pnl.ts"
import { knownBody, quantitiesOf } from "./pnlBodies.ts"

const MICRO_DIGITS = 6

/** Dollars per whole token; null when the price or the decimals are unknown. */
export const markText = (price: Rational | null, decimals: number | null): Decimal | null =>
  price === null || decimals === null
    ? null
    : decimalText({
        numerator: price.numerator * tenTo(decimals),
        denominator: price.denominator * tenTo(MICRO_DIGITS)
      })

/** A position at its mark, and the price of the last trade of its mint; null when unknown. */
export const walletPosition = (position: Position, mark: Mark | null, last: Mark | null): WalletPosition => {
  const pnl = pnlOf(position, mark?.price ?? null)
  const lastUsd = markText(last?.price ?? null, position.decimals)
  return {
    mint: position.mint,
    decimals: position.decimals,
    realized: usdTextOrNull(pnl.realized),
    unrealized: usdTextOrNull(pnl.unrealized),
    total: usdTextOrNull(pnl.total),
    roiPct: pnl.roiPct,
    costUsd: usdTextOrNull(pnl.cost),
    proceedsUsd: usdTextOrNull(pnl.proceeds),
    avgCostUsd: pnl.avgCost,
    valueUsd: usdTextOrNull(pnl.value),
    holding: position.held,
    quantities: quantitiesOf(position),
    known: knownBody(pnl),
    markUsd: markText(mark?.price ?? null, position.decimals),
    markMethod: mark?.method ?? null,
    markAtMs: mark?.atMs ?? null,
    lastTrade: last === null || lastUsd === null ? null : { priceUsd: lastUsd, atMs: last.atMs },
    buys: position.buys,
    sells: position.sells,
    open: pnl.open,
    firstAtMs: position.firstAtMs,
    lastAtMs: position.lastAtMs
  }
}

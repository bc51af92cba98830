/** Profit and loss of copy positions. Unknown figures are null; known ones are exact. */
import type { Mint } from "../../domain/Address.ts"
import type { CopyWindow } from "../../api/schemas/Copying.ts"
import type { CopyPnl } from "../../api/schemas/CopyPnl.ts"
import type { Rational } from "../../domain/rational.ts"
import { COMPLETE, type Coverage, type CoverageReason, incomplete } from "../../domain/Scalar.ts"
import { costOf, isOpen, minus } from "../ledger.ts"
import { percent, PNL_MODE, pnlOf, type PositionPnl, sumOf, usdText, usdTextOrNull } from "../pnl.ts"
import { type CopyTotals, NO_COPIES, plus } from "./copySums.ts"
import type { CopyPosition } from "./positions.ts"

/** The window, both ends included, in milliseconds since the Unix epoch. */
export interface Span {
  /** Null when the window has no beginning. */
  readonly fromMs: number | null
  readonly throughMs: number
}

/** Marks of mints. */
export interface Marks {
  /** Micro-dollars for one smallest unit; null when unknown. */
  readonly of: (mint: Mint) => Rational | null
  /** Coverage reason of a missing mark. */
  readonly missing: CoverageReason
}

const HOUR_MS = 3_600_000
const LENGTHS: Record<Exclude<CopyWindow, "all">, number> = {
  "24h": 24 * HOUR_MS,
  "7d": 7 * 24 * HOUR_MS,
  "30d": 30 * 24 * HOUR_MS
}

/** The window that ends at `throughMs`. */
export const spanOf = (window: CopyWindow, throughMs: number): Span => ({
  fromMs: window === "all" ? null : Math.max(0, throughMs - LENGTHS[window]),
  throughMs
})

const coverageOf = (basisKnown: boolean, marksKnown: boolean, missing: CoverageReason): Coverage => {
  if (!basisKnown) {
    return incomplete("basis_unknown")
  }
  return marksKnown ? COMPLETE : incomplete(missing)
}

const within = ({ sums }: CopyPosition, { fromMs, throughMs }: Span): CopyTotals => sums.within(fromMs, throughMs)

/**
 * What is known, whatever else is unknown: sales of known result, units held of known cost and price, and purchases and
 * fees of known value.
 */
const knownOf = (inside: CopyTotals, marked: ReadonlyArray<PositionPnl>): CopyPnl["known"] => {
  const parts = marked.flatMap(({ known: { unrealized } }) => unrealized ?? [])
  const unrealized = marked.length > 0 && parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0n)
  return {
    realized: usdText(inside.realized),
    unrealized: usdTextOrNull(unrealized),
    total: usdTextOrNull(sumOf([inside.realized, unrealized])),
    costUsd: usdText(inside.cost),
    proceedsUsd: usdText(inside.proceeds),
    feesUsd: usdText(inside.fees),
    unmarkedPositions: marked.filter(({ value }) => value === null).length
  }
}

/**
 * Profit and loss of positions. Cost comes from the purchases in the window, proceeds and realized profit from its
 * sales. Unrealized profit is for the units held after all copies. So the groups add up to the total.
 */
export const copyPnlOf = (positions: ReadonlyArray<CopyPosition>, span: Span, marks: Marks): CopyPnl => {
  const inside = positions.reduce((sum, position) => plus(sum, within(position, span)), NO_COPIES)
  const realized = inside.unknownResults === 0 ? inside.realized : null
  const proceeds = inside.unknownProceeds === 0 ? inside.proceeds : null
  const cost = inside.unknownCosts === 0 ? inside.cost : null
  const fees = inside.unknownFees === 0 ? inside.fees : null
  const open = positions.filter(({ position }) => isOpen(position)).map(({ position }) => position)
  const marked = open.map((position) => pnlOf(position, marks.of(position.mint)))
  const unrealized = sumOf(marked.map((pnl) => pnl.unrealized))
  const total = sumOf([realized, unrealized])
  const basisKnown = realized !== null && fees !== null && open.every((position) => costOf(position) !== null)
  return {
    realized: usdTextOrNull(realized),
    unrealized: usdTextOrNull(unrealized),
    total: usdTextOrNull(total),
    costUsd: usdTextOrNull(cost),
    soldCostUsd: usdTextOrNull(minus(proceeds, realized)),
    proceedsUsd: usdTextOrNull(proceeds),
    feesUsd: usdTextOrNull(fees),
    roiPct: percent(total, cost),
    fills: inside.fills,
    wins: inside.wins,
    losses: inside.losses,
    unknownBasis: inside.unknownResults,
    openPositions: open.length,
    known: knownOf(inside, marked),
    pnlMode: PNL_MODE,
    coverage: coverageOf(basisKnown, unrealized !== null, marks.missing)
  }
}

/** Positions grouped by key, keys ascending; positions without units held or a copy in the window are left out. */
export const groupPositions = (
  positions: ReadonlyArray<CopyPosition>,
  span: Span,
  groupBy: "follow" | "mint"
): ReadonlyArray<readonly [key: string, positions: ReadonlyArray<CopyPosition>]> => {
  const shown = positions.filter((position) => isOpen(position.position) || within(position, span).fills > 0)
  const groups = Map.groupBy(shown, ({ followId, mint }) => (groupBy === "follow" ? followId : mint))
  return Array.from(groups).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

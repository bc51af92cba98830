/** Sums over positions: everything null that is not known, everything known exact. */
import type { Mint } from "../domain/Address.ts"
import type { CopyWindow } from "../domain/Copying.ts"
import type { CopyPnl } from "../domain/CopyPnl.ts"
import { decimalText, type Rational } from "../domain/rational.ts"
import { COMPLETE, type Coverage, type CoverageReason, incomplete } from "../domain/Scalar.ts"
import { PNL_MODE, pnlOf, usdTextOrNull } from "../wallets/pnl.ts"
import type { CopyPosition, SettledCopy } from "./positions.ts"

/** The window, both ends included, in milliseconds since the Unix epoch. */
export interface Span {
  /** Null when it has no beginning. */
  readonly fromMs: number | null
  readonly throughMs: number
}

/** What mints are worth. */
export interface Marks {
  /** Micro-dollars for one smallest unit; null when unknown. */
  readonly of: (mint: Mint) => Rational | null
  /** Why a mark that is missing is missing. */
  readonly missing: CoverageReason
}

const HOUR_MS = 3_600_000
const LENGTHS: Record<Exclude<CopyWindow, "all">, number> = {
  "24h": 24 * HOUR_MS,
  "7d": 7 * 24 * HOUR_MS,
  "30d": 30 * 24 * HOUR_MS
}

/** The window that ends at this moment. */
export const spanOf = (window: CopyWindow, throughMs: number): Span => ({
  fromMs: window === "all" ? null : Math.max(0, throughMs - LENGTHS[window]),
  throughMs
})

/** The sum of all of them; null when any is unknown. */
const sumOf = (parts: ReadonlyArray<bigint | null>): bigint | null =>
  parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0n)

const difference = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a - b)

const coverageOf = (basisKnown: boolean, marksKnown: boolean, missing: CoverageReason): Coverage => {
  if (!basisKnown) {
    return incomplete("basis_unknown")
  }
  return marksKnown ? COMPLETE : incomplete(missing)
}

/** Whether a copy belongs to the window. */
export const isWithin = ({ copy }: SettledCopy, { fromMs, throughMs }: Span): boolean =>
  (fromMs === null || copy.atMs >= fromMs) && copy.atMs <= throughMs

/**
 * What these positions made. Realized, cost and proceeds are those of the sales in the window, unrealized is that of what
 * is held after all copies; so the parts of a whole add up to it.
 */
export const copyPnlOf = (positions: ReadonlyArray<CopyPosition>, span: Span, marks: Marks): CopyPnl => {
  const inside = positions.flatMap(({ copies }) => copies.filter((settled) => isWithin(settled, span)))
  const sales = inside.filter(({ copy }) => copy.side === "sell")
  const realized = sumOf(sales.map((sale) => sale.realized))
  const proceeds = sumOf(sales.map((sale) => sale.proceeds))
  const cost = sumOf(sales.map((sale) => difference(sale.proceeds, sale.realized)))
  const fees = sumOf(inside.map(({ copy }) => copy.feeUsdNanos))
  const open = positions.filter(({ position }) => position.held > 0n).map(({ position }) => position)
  const unrealized = sumOf(open.map((position) => pnlOf(position, marks.of(position.mint)).unrealized))
  const basisKnown = realized !== null && fees !== null && open.every(({ costNanos }) => costNanos !== null)
  return {
    realized: usdTextOrNull(realized),
    unrealized: usdTextOrNull(unrealized),
    total: usdTextOrNull(sumOf([realized, unrealized])),
    costUsd: usdTextOrNull(cost),
    proceedsUsd: usdTextOrNull(proceeds),
    feesUsd: usdTextOrNull(fees),
    roiPct:
      realized === null || cost === null || cost <= 0n
        ? null
        : decimalText({ numerator: realized * 100n, denominator: cost }),
    fills: inside.length,
    wins: sales.filter((sale) => sale.realized !== null && sale.realized > 0n).length,
    losses: sales.filter((sale) => sale.realized !== null && sale.realized < 0n).length,
    unknownBasis: sales.filter((sale) => sale.realized === null).length,
    openPositions: open.length,
    pnlMode: PNL_MODE,
    coverage: coverageOf(basisKnown, unrealized !== null, marks.missing)
  }
}

/** Positions by key, keys ascending: those with a copy in the window or something held. */
export const groupPositions = (
  positions: ReadonlyArray<CopyPosition>,
  span: Span,
  groupBy: "follow" | "mint"
): ReadonlyArray<readonly [key: string, positions: ReadonlyArray<CopyPosition>]> => {
  const groups = new Map<string, Array<CopyPosition>>()
  for (const position of positions) {
    const key = groupBy === "follow" ? position.followId : position.mint
    if (position.position.held > 0n || position.copies.some((settled) => isWithin(settled, span))) {
      const known = groups.get(key) ?? []
      known.push(position)
      groups.set(key, known)
    }
  }
  return Array.from(groups).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

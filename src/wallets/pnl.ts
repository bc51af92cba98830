/** What positions are worth and made: everything null that is not known, everything known exact. */
import { fromAtomic, tenTo } from "../domain/decimal.ts"
import { decimalText, type Rational } from "../domain/rational.ts"
import type { Decimal } from "../domain/Scalar.ts"
import { NANOS_PER_USD, USD_DIGITS } from "../domain/units.ts"
import type { Position } from "./ledger.ts"

/** How positions of which the cost is unknown are counted: as null, never as an estimate. */
export const PNL_MODE = "unknown-basis-null"

const NANOS_PER_MICRO = 1000n

/** A position and what its mint is worth: micro-dollars for one smallest unit, as `PriceBook` tells it; null when unknown. */
export interface MarkedPosition {
  readonly position: Position
  readonly mark: Rational | null
}

/** What one position made. Amounts in nano-dollars. */
export interface PositionPnl {
  /** Of what was sold; zero when nothing was. Null once a cost or a price of a sale is unknown. */
  readonly realized: bigint | null
  /** Value less cost of what is held; zero when nothing is. Null when either is unknown. */
  readonly unrealized: bigint | null
  /** Both together; null when either is. */
  readonly total: bigint | null
  /** What all buys cost; null when that of one is unknown. */
  readonly cost: bigint | null
  /** What all sells brought; null when that of one is unknown. */
  readonly proceeds: bigint | null
  /** What the units held cost. */
  readonly openCost: bigint | null
  /** What the units held are worth at the mark, rounded down; null without a mark, unless nothing is held. */
  readonly value: bigint | null
  /** Dollars that a whole token of those held cost; null when nothing is held, or the cost or the decimals are unknown. */
  readonly avgCost: Decimal | null
  /** The total in percent of what all buys cost; null when either is unknown, or nothing was paid. */
  readonly roiPct: Decimal | null
  /** Whether anything is held. */
  readonly open: boolean
}

/** Nano-dollars as exact decimal text of dollars. */
export const usdText = (nanos: bigint): Decimal =>
  nanos < 0n ? `-${fromAtomic(-nanos, USD_DIGITS)}` : fromAtomic(nanos, USD_DIGITS)

/** The same of what may be unknown. */
export const usdTextOrNull = (nanos: bigint | null): Decimal | null => (nanos === null ? null : usdText(nanos))

const difference = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a - b)

/** The sum of all of them; null when any is unknown. */
const sumOf = (parts: ReadonlyArray<bigint | null>): bigint | null =>
  parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0n)

/** `part` in percent of `of`, to fifteen digits; null when either is unknown, or `of` is nothing. */
const percent = (part: bigint | null, of: bigint | null): Decimal | null =>
  part === null || of === null || of <= 0n ? null : decimalText({ numerator: part * 100n, denominator: of })

const valueOf = (held: bigint, mark: Rational | null): bigint | null => {
  if (held === 0n) {
    return 0n
  }
  return mark === null ? null : (held * NANOS_PER_MICRO * mark.numerator) / mark.denominator
}

const avgCostOf = ({ costNanos, decimals, held }: Position): Decimal | null =>
  held === 0n || costNanos === null || decimals === null
    ? null
    : decimalText({ numerator: costNanos * tenTo(decimals), denominator: held * NANOS_PER_USD })

/** What a position made when its mint is worth `mark`: micro-dollars for one smallest unit, null when unknown. */
export const pnlOf = (position: Position, mark: Rational | null): PositionPnl => {
  const { boughtNanos, costNanos, held, proceedsNanos, realizedNanos } = position
  const value = valueOf(held, mark)
  const unrealized = difference(value, costNanos)
  const total = sumOf([realizedNanos, unrealized])
  return {
    realized: realizedNanos,
    unrealized,
    total,
    cost: boughtNanos,
    proceeds: proceedsNanos,
    openCost: costNanos,
    value,
    avgCost: avgCostOf(position),
    roiPct: percent(total, boughtNanos),
    open: held > 0n
  }
}

/** What all positions of a wallet made together. Amounts in nano-dollars; each sum is null when one of its parts is. */
export interface WalletPnl extends Pick<
  PositionPnl,
  "cost" | "openCost" | "proceeds" | "realized" | "roiPct" | "total" | "unrealized"
> {
  /** What everything held is worth. */
  readonly openValue: bigint | null
  readonly positionsOpen: number
  readonly positionsClosed: number
  /** Open or closed: those with a buy at an unknown price or a sale of more than was seen bought. */
  readonly positionsUnknownBasis: number
  readonly trades: number
  /** Winners among the closed positions of which every cost and price is known; null when there are none. */
  readonly winRatePct: Decimal | null
}

const winRate = (positions: ReadonlyArray<Position>): Decimal | null => {
  const results = positions.flatMap(({ held, realizedNanos, unknownBasis }) =>
    held === 0n && unknownBasis === 0 && realizedNanos !== null ? [realizedNanos] : []
  )
  const wins = results.filter((realized) => realized > 0n).length
  return percent(BigInt(wins), BigInt(results.length))
}

/**
 * The whole wallet. A position with an unknown cost makes `realized` or `unrealized` unknown, one without a mark
 * `unrealized`, and either `total`; a wallet without positions made nothing.
 */
export const summaryOf = (marked: ReadonlyArray<MarkedPosition>): WalletPnl => {
  const positions = marked.map(({ position }) => position)
  const each = marked.map(({ mark, position }) => pnlOf(position, mark))
  const [realized, unrealized] = [sumOf(each.map((pnl) => pnl.realized)), sumOf(each.map((pnl) => pnl.unrealized))]
  const cost = sumOf(each.map((pnl) => pnl.cost))
  const total = sumOf([realized, unrealized])
  const positionsOpen = each.filter(({ open }) => open).length
  return {
    realized,
    unrealized,
    total,
    cost,
    proceeds: sumOf(each.map(({ proceeds }) => proceeds)),
    openCost: sumOf(each.map(({ openCost }) => openCost)),
    openValue: sumOf(each.map(({ value }) => value)),
    roiPct: percent(total, cost),
    positionsOpen,
    positionsClosed: each.length - positionsOpen,
    positionsUnknownBasis: positions.filter(({ unknownBasis }) => unknownBasis > 0).length,
    trades: positions.reduce((sum, { buys, sells }) => sum + buys + sells, 0),
    winRatePct: winRate(positions)
  }
}

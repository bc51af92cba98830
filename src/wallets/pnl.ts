/** Profit and loss of positions. Unknown figures are null; known ones are exact. */
import { fromAtomic, tenTo } from "../domain/decimal.ts"
import { decimalText, type Rational } from "../domain/rational.ts"
import type { Decimal } from "../domain/Scalar.ts"
import { NANOS_PER_USD, USD_DIGITS } from "../domain/units.ts"
import { minus, type Position } from "./ledger.ts"

/** Mode of the figures: positions with an unknown cost basis give null, never an estimate. */
export const PNL_MODE = "unknown-basis-null"

const NANOS_PER_MICRO = 1000n

/** A position and its mark in micro-dollars per smallest unit, as in `PriceBook`; null when unknown. */
export interface MarkedPosition {
  readonly position: Position
  readonly mark: Rational | null
}

/** Profit and loss of one position. Amounts in nano-dollars. */
export interface PositionPnl {
  /** Of units sold; zero without sales. Null once a cost or a price of a sale is unknown. */
  readonly realized: bigint | null
  /** Value less cost of the units held; zero when none are. Null when either is unknown. */
  readonly unrealized: bigint | null
  /** Both together; null when either is. */
  readonly total: bigint | null
  /** Cost of all buys; null when that of one is unknown. */
  readonly cost: bigint | null
  /** Proceeds of all sells; null when those of one are unknown. */
  readonly proceeds: bigint | null
  /** Cost of the units held. */
  readonly openCost: bigint | null
  /** Value of the units held at the mark, rounded down; null without a mark, unless none are held. */
  readonly value: bigint | null
  /** Average cost in dollars per whole token held; null when none are held, or the cost or the decimals are unknown. */
  readonly avgCost: Decimal | null
  /** The total in percent of the cost of all buys; null when either is unknown or the cost is zero. */
  readonly roiPct: Decimal | null
  /** True if units are held. */
  readonly open: boolean
}

/** Nano-dollars as exact decimal text of dollars. */
export const usdText = (nanos: bigint): Decimal =>
  nanos < 0n ? `-${fromAtomic(-nanos, USD_DIGITS)}` : fromAtomic(nanos, USD_DIGITS)

/** Like `usdText`, with null for null. */
export const usdTextOrNull = (nanos: bigint | null): Decimal | null => (nanos === null ? null : usdText(nanos))

/** The sum of all parts; null when one is unknown. */
export const sumOf = (parts: ReadonlyArray<bigint | null>): bigint | null =>
  parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0n)

/** `part` in percent of `of`, to fifteen digits; null when either is unknown, or `of` is zero or less. */
export const percent = (part: bigint | null, of: bigint | null): Decimal | null =>
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

/** Profit and loss of a position at `mark`, in micro-dollars per smallest unit; null when unknown. */
export const pnlOf = (position: Position, mark: Rational | null): PositionPnl => {
  const { boughtNanos, costNanos, held, proceedsNanos, realizedNanos } = position
  const value = valueOf(held, mark)
  const unrealized = minus(value, costNanos)
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

/** Profit and loss of all positions of a wallet. Amounts in nano-dollars; each sum is null when one of its parts is. */
export interface WalletPnl extends Pick<
  PositionPnl,
  "cost" | "openCost" | "proceeds" | "realized" | "roiPct" | "total" | "unrealized"
> {
  /** Value of all units held. */
  readonly openValue: bigint | null
  readonly positionsOpen: number
  readonly positionsClosed: number
  /** Open or closed positions with a buy at an unknown price or a sale of more than was seen bought. */
  readonly positionsUnknownBasis: number
  readonly trades: number
  /** Share of winners among closed positions with known costs and prices; null when there are none. */
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
 * Sums over a wallet. A position with an unknown cost makes `realized` or `unrealized` null, one without a mark
 * `unrealized`, and either `total`. All sums of a wallet without positions are zero.
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

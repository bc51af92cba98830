/** Profit and loss of a position. Unknown figures are null; known ones are exact. */
import { fromAtomic, tenTo } from "../domain/decimal.ts"
import { decimalText, type Rational } from "../domain/rational.ts"
import type { Decimal } from "../domain/Scalar.ts"
import { NANOS_PER_USD, USD_DIGITS } from "../domain/units.ts"
import { costOf, isOpen, minus, type Position } from "./ledger.ts"
import { unitsOf } from "./lots.ts"

/** Mode of the figures: a position with an unknown cost basis gives null, never an estimate. */
export const PNL_MODE = "unknown-basis-null"

const NANOS_PER_MICRO = 1000n

/** A position and its mark in micro-dollars per smallest unit, as in `PriceBook`; null when unknown. */
export interface MarkedPosition {
  readonly position: Position
  readonly mark: Rational | null
}

/** Profit and loss over the units with a known cost. Amounts in nano-dollars. */
export interface KnownPnl {
  /** Proceeds less cost of the units sold whose proceeds and cost are known. Null while the accounts are unread. */
  readonly realized: bigint | null
  /** Value less cost of the units held with a known cost and a mark; null when there are such units and none has a mark. */
  readonly unrealized: bigint | null
  /** The sum of both; null when either is null. */
  readonly total: bigint | null
  /** Cost of the buys at a known price. */
  readonly cost: bigint
}

/** The amounts of one position that add up, in nano-dollars. */
export interface PositionSums {
  /** Profit on units sold; zero without sales. Null once a cost or a price of a sale is unknown. */
  readonly realized: bigint | null
  /** Value less cost of the units held; zero when none are. Null when either is unknown. */
  readonly unrealized: bigint | null
  /** The sum of both; null when either is null. */
  readonly total: bigint | null
  /** Cost of all buys, front-end fees included; null when the cost of one buy is unknown. */
  readonly cost: bigint | null
  /** Proceeds of all sells less front-end fees; null when the proceeds of one sell are unknown. */
  readonly proceeds: bigint | null
  /** Cost of the units held; null when the cost of any unit is unknown. */
  readonly openCost: bigint | null
  /** Value of the units held at the mark, rounded down; null without a mark, unless none are held. */
  readonly value: bigint | null
  /** True unless the position is known to hold no units. */
  readonly open: boolean
  readonly known: KnownPnl
  /** Value of the units held with a known cost, rounded down; null without a mark, unless there are none, and while unread. */
  readonly knownValue: bigint | null
}

/** Profit and loss of one position. Amounts in nano-dollars. */
export interface PositionPnl extends PositionSums {
  /** Average cost in dollars per whole token held; null when none are held, or the cost or the decimals are unknown. */
  readonly avgCost: Decimal | null
  /** The total in percent of the cost of all buys; null when either is unknown or the cost is zero. */
  readonly roiPct: Decimal | null
  /** Average cost in dollars per whole token of the units held with a known cost; null without such units or decimals. */
  readonly knownAvgCost: Decimal | null
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

/** Value of units at a mark in nano-dollars, rounded down; zero for none, null when either is unknown. */
export const valueOf = (units: bigint | null, mark: Rational | null): bigint | null => {
  if (units === 0n) {
    return 0n
  }
  return units === null || mark === null ? null : (units * NANOS_PER_MICRO * mark.numerator) / mark.denominator
}

const perToken = (costNanos: bigint | null, units: bigint, decimals: number | null): Decimal | null =>
  units === 0n || costNanos === null || decimals === null
    ? null
    : decimalText({ numerator: costNanos * tenTo(decimals), denominator: units * NANOS_PER_USD })

/** The sums of a position at `mark`, in micro-dollars per smallest unit; null when unknown. */
export const sumsOf = (position: Position, mark: Rational | null): PositionSums => {
  const { boughtNanos, held, isUnread = false, lots, proceedsNanos, realizedNanos } = position
  const openCost = costOf(position)
  const value = valueOf(held, mark)
  const unrealized = minus(value, openCost)
  const total = sumOf([realizedNanos, unrealized])
  const knownValue = isUnread ? null : valueOf(lots.known, mark)
  const knownUnrealized = minus(knownValue, lots.costNanos)
  const knownRealized = isUnread ? null : position.knownRealizedNanos
  return {
    realized: realizedNanos,
    unrealized,
    total,
    cost: boughtNanos,
    proceeds: proceedsNanos,
    openCost,
    value,
    open: isOpen(position),
    known: {
      realized: knownRealized,
      unrealized: knownUnrealized,
      total: sumOf([knownRealized, knownUnrealized]),
      cost: position.knownBoughtNanos
    },
    knownValue
  }
}

/** Profit and loss of a position at `mark`, in micro-dollars per smallest unit; null when unknown. */
export const pnlOf = (position: Position, mark: Rational | null): PositionPnl => {
  const { decimals, lots } = position
  const sums = sumsOf(position, mark)
  return {
    ...sums,
    avgCost: perToken(sums.openCost, unitsOf(lots), decimals),
    roiPct: percent(sums.total, sums.cost),
    knownAvgCost: position.isUnread === true ? null : perToken(lots.costNanos, lots.known, decimals)
  }
}

/** Profit and loss of positions. Unknown figures are null; known ones are exact. */
import { fromAtomic, tenTo } from "../domain/decimal.ts"
import { decimalText, type Rational } from "../domain/rational.ts"
import type { Decimal } from "../domain/Scalar.ts"
import { NANOS_PER_USD, USD_DIGITS } from "../domain/units.ts"
import { costOf, isBasisKnown, isOpen, isTraded, minus, type Position } from "./ledger.ts"
import { unitsOf } from "./lots.ts"

/** Mode of the figures: positions with an unknown cost basis give null, never an estimate. */
export const PNL_MODE = "unknown-basis-null"

const NANOS_PER_MICRO = 1000n

/** A position and its mark in micro-dollars per smallest unit, as in `PriceBook`; null when unknown. */
export interface MarkedPosition {
  readonly position: Position
  readonly mark: Rational | null
}

/** Profit and loss over the units of which the cost is known. Amounts in nano-dollars. */
export interface KnownPnl {
  /** Proceeds less cost of the units sold of which both are known. */
  readonly realized: bigint
  /** Value less cost of the units held with a known cost and a mark; null when there are such units and none has a mark. */
  readonly unrealized: bigint | null
  /** Both together; null when either is. */
  readonly total: bigint | null
  /** Cost of the buys at a known price. */
  readonly cost: bigint
}

/** The amounts of one position that add up, in nano-dollars. */
interface PositionSums {
  /** Of units sold; zero without sales. Null once a cost or a price of a sale is unknown. */
  readonly realized: bigint | null
  /** Value less cost of the units held; zero when none are. Null when either is unknown. */
  readonly unrealized: bigint | null
  /** Both together; null when either is. */
  readonly total: bigint | null
  /** Cost of all buys, front-end fees included; null when that of one is unknown. */
  readonly cost: bigint | null
  /** Proceeds of all sells less front-end fees; null when those of one are unknown. */
  readonly proceeds: bigint | null
  /** Cost of the units held; null when that of any is unknown. */
  readonly openCost: bigint | null
  /** Value of the units held at the mark, rounded down; null without a mark, unless none are held. */
  readonly value: bigint | null
  /** True unless the position is known to hold no units. */
  readonly open: boolean
  readonly known: KnownPnl
  /** Value of the units held with a known cost, rounded down; null without a mark, unless there are none. */
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

const sumsOf = (position: Position, mark: Rational | null): PositionSums => {
  const { boughtNanos, held, lots, proceedsNanos, realizedNanos } = position
  const openCost = costOf(position)
  const value = valueOf(held, mark)
  const unrealized = minus(value, openCost)
  const total = sumOf([realizedNanos, unrealized])
  const knownValue = valueOf(lots.known, mark)
  const knownUnrealized = minus(knownValue, lots.costNanos)
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
      realized: position.knownRealizedNanos,
      unrealized: knownUnrealized,
      total: sumOf([position.knownRealizedNanos, knownUnrealized]),
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
    knownAvgCost: perToken(lots.costNanos, lots.known, decimals)
  }
}

/** The known part of a wallet, and the share of its trades and of its holdings that the part covers. */
export interface KnownWalletPnl extends KnownPnl {
  /**
   * Value traded in units of known cost as a fraction of the value of all trades at a known price; null without such trades.
   */
  readonly volumeShare: Decimal | null
  /** Value of the units of known cost as a fraction of the value of all units held with a mark; null when that is zero. */
  readonly openValueShare: Decimal | null
  /** Trades at an unknown price, which are in no volume. */
  readonly unpricedTrades: number
  /** Open positions without a mark or of unknown size, which are in no value. */
  readonly unmarkedPositions: number
}

/** Profit and loss of all positions of a wallet. Amounts in nano-dollars; each sum is null when one of its parts is. */
export interface WalletPnl extends Pick<
  PositionPnl,
  "cost" | "openCost" | "proceeds" | "realized" | "roiPct" | "total" | "unrealized"
> {
  /** Value of all units held. */
  readonly openValue: bigint | null
  /** Positions that are not known to be closed. */
  readonly positionsOpen: number
  readonly positionsClosed: number
  /** Open or closed positions of which the cost of some units is unknown. */
  readonly positionsUnknownBasis: number
  readonly trades: number
  /** Share of winners among closed positions with known costs and prices; null when there are none. */
  readonly winRatePct: Decimal | null
  readonly known: KnownWalletPnl
}

const winRate = (positions: ReadonlyArray<Position>): Decimal | null => {
  const results = positions.flatMap((position) => {
    const { realizedNanos, sells } = position
    return !isOpen(position) && sells > 0 && isBasisKnown(position) && realizedNanos !== null ? [realizedNanos] : []
  })
  const wins = results.filter((realized) => realized > 0n).length
  return percent(BigInt(wins), BigInt(results.length))
}

/** `part` as a fraction of `of`, to fifteen digits; null when `of` is zero. */
const fraction = (part: bigint, of: bigint): Decimal | null =>
  of === 0n ? null : decimalText({ numerator: part, denominator: of })

const sumKnown = (parts: ReadonlyArray<bigint | null>): bigint =>
  parts.reduce<bigint>((sum, part) => sum + (part ?? 0n), 0n)

const knownOf = (positions: ReadonlyArray<Position>, each: ReadonlyArray<PositionSums>): KnownWalletPnl => {
  const realized = sumKnown(each.map(({ known }) => known.realized))
  const unrealized = sumKnown(each.map(({ known }) => known.unrealized))
  const isMarked = each.length === 0 || each.some(({ known }) => known.unrealized !== null)
  const marked = each.filter(({ value }) => value !== null)
  return {
    realized,
    unrealized: isMarked ? unrealized : null,
    total: isMarked ? realized + unrealized : null,
    cost: sumKnown(each.map(({ known }) => known.cost)),
    volumeShare: fraction(
      sumKnown(positions.map(({ knownVolumeNanos }) => knownVolumeNanos)),
      sumKnown(positions.map(({ volumeNanos }) => volumeNanos))
    ),
    openValueShare: fraction(
      sumKnown(marked.map(({ knownValue }) => knownValue)),
      sumKnown(marked.map(({ value }) => value))
    ),
    unpricedTrades: positions.reduce((sum, { unpricedTrades }) => sum + unpricedTrades, 0),
    unmarkedPositions: each.length - marked.length
  }
}

/**
 * Sums over the positions of a wallet that were traded: a mint that only came and went by transfers is in none. A position
 * with an unknown cost makes `realized` or `unrealized` null, one without a mark `unrealized`, and either `total`; `known`
 * sums what is known beside them. All sums of a wallet without positions are zero.
 */
export const summaryOf = (all: ReadonlyArray<MarkedPosition>): WalletPnl => {
  const marked = all.filter(({ position }) => isTraded(position))
  const positions = marked.map(({ position }) => position)
  const each = marked.map(({ mark, position }) => sumsOf(position, mark))
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
    positionsUnknownBasis: positions.filter((position) => !isBasisKnown(position)).length,
    trades: positions.reduce((sum, { buys, sells }) => sum + buys + sells, 0),
    winRatePct: winRate(positions),
    known: knownOf(positions, each)
  }
}

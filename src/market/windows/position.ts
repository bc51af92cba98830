/** What a wallet holds of a token and what it paid, by the swaps that were observed: average cost, exact, rounded down. */
import type { TradeRecord } from "../tape/TradeRecord.ts"
import { addWide, highOf, lowOf, readWide, wideValue, writeWide } from "../columnar/wide.ts"

/** Units held, nano-dollars and lamports paid for them: two cells each. */
const UNITS = 0
const USD = 2
const LAMPORTS = 4
/** Which of the two costs has an unknown part. */
const UNKNOWN = 6

/** Cells of one position. */
export const POSITION = 7

const USD_UNKNOWN = 1
const LAMPORTS_UNKNOWN = 2
const HIGHEST = 2 ** 32

const buy = (cells: Float64Array, at: number, print: TradeRecord): void => {
  addWide(cells, at + UNITS, print.amountHigh, print.amountLow)
  addWide(cells, at + USD, print.usdHigh, print.usdLow)
  addWide(cells, at + LAMPORTS, print.lamportsHigh, print.lamportsLow)
  if (!print.usdKnown || !print.lamportsKnown) {
    const unknown = (print.usdKnown ? 0 : USD_UNKNOWN) | (print.lamportsKnown ? 0 : LAMPORTS_UNKNOWN)
    cells[at + UNKNOWN] = (cells[at + UNKNOWN] ?? 0) | unknown
  }
}

const empty = (cells: Float64Array, at: number): void => {
  for (let cell = at; cell < at + POSITION; cell++) {
    cells[cell] = 0
  }
}

/** The cost of `sold` out of `held` units, taken out of the two cells at `at`. */
const takeCost = (cells: Float64Array, at: number, sold: bigint, held: bigint): bigint => {
  const cost = readWide(cells, at)
  const part = (cost * sold) / held
  writeWide(cells, at, cost - part)
  return part
}

const setCost = (print: TradeRecord, cost: bigint): void => {
  print.costHigh = highOf(cost)
  print.costLow = lowOf(cost, print.costHigh)
  print.costKnown = print.costHigh < HIGHEST
}

const setGain = (print: TradeRecord, cost: bigint): void => {
  const paid = highOf(cost)
  const low = print.lamportsLow - lowOf(cost, paid)
  print.gainHigh = print.lamportsHigh - paid - (low < 0 ? 1 : 0)
  print.gainLow = low < 0 ? low + HIGHEST : low
  print.gainKnown = true
}

const sell = (cells: Float64Array, at: number, print: TradeRecord): void => {
  const sold = wideValue(print.amountHigh, print.amountLow)
  const held = readWide(cells, at + UNITS)
  if (sold > held) {
    // Tokens that no swap brought in have no observed cost, and neither has the rest of this sale.
    empty(cells, at)
    return
  }
  if (held === 0n) {
    return
  }
  const unknown = cells[at + UNKNOWN] ?? 0
  const usd = takeCost(cells, at + USD, sold, held)
  const lamports = takeCost(cells, at + LAMPORTS, sold, held)
  if ((unknown & USD_UNKNOWN) === 0) {
    setCost(print, usd)
  }
  if ((unknown & LAMPORTS_UNKNOWN) === 0 && print.lamportsKnown) {
    setGain(print, lamports)
  }
  if (sold === held) {
    empty(cells, at)
  } else {
    addWide(cells, at + UNITS, -print.amountHigh, -print.amountLow)
  }
}

/**
 * Moves a position by one trade, the next of its wallet in the order of the chain. A sale gets its cost in USD and its
 * result in lamports set where every purchase behind it was observed and priced.
 */
export const movePosition = (cells: Float64Array, at: number, print: TradeRecord): void => {
  if (print.buy) {
    buy(cells, at, print)
  } else {
    sell(cells, at, print)
  }
}

/** Says that trades came out of order, so that no average before the position is next empty can be trusted. */
export const doubtPosition = (cells: Float64Array, at: number): void => {
  cells[at + UNKNOWN] = USD_UNKNOWN | LAMPORTS_UNKNOWN
}

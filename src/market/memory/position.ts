/** The units that a wallet holds of a token and their cost, from observed swaps: average cost, exact, rounded down. */
import type { TradeRecord } from "../model/TradeRecord.ts"
import { addWide, highOf, lowOf, readWide, wideValue, writeWide } from "../columnar/wide.ts"

/** Units held, and the nano-dollars and lamports paid for them: two cells each. */
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
/** A result is known below 2^63 lamports, more than exist. */
const HIGHEST_GAIN = 2 ** 31

const buy = (cells: Float64Array, at: number, record: TradeRecord): void => {
  addWide(cells, at + UNITS, record.amountHigh, record.amountLow)
  addWide(cells, at + USD, record.usdHigh, record.usdLow)
  addWide(cells, at + LAMPORTS, record.lamportsHigh, record.lamportsLow)
  if (!record.usdKnown || !record.lamportsKnown) {
    const unknown = (record.usdKnown ? 0 : USD_UNKNOWN) | (record.lamportsKnown ? 0 : LAMPORTS_UNKNOWN)
    cells[at + UNKNOWN] = (cells[at + UNKNOWN] ?? 0) | unknown
  }
}

const empty = (cells: Float64Array, at: number): void => {
  for (let cell = at; cell < at + POSITION; cell++) {
    cells[cell] = 0
  }
}

/** Takes the cost of `sold` out of `held` units from the two cells at `at`, and returns it. */
const takeCost = (cells: Float64Array, at: number, sold: bigint, held: bigint): bigint => {
  const cost = readWide(cells, at)
  const part = (cost * sold) / held
  writeWide(cells, at, cost - part)
  return part
}

const setCost = (record: TradeRecord, cost: bigint): void => {
  record.costHigh = highOf(cost)
  record.costLow = lowOf(cost, record.costHigh)
  record.costKnown = record.costHigh < HIGHEST
}

const setGain = (record: TradeRecord, cost: bigint): void => {
  const paid = highOf(cost)
  const low = record.lamportsLow - lowOf(cost, paid)
  record.gainHigh = record.lamportsHigh - paid - (low < 0 ? 1 : 0)
  record.gainLow = low < 0 ? low + HIGHEST : low
  record.gainKnown = record.gainHigh >= -HIGHEST_GAIN && record.gainHigh < HIGHEST_GAIN
}

const sell = (cells: Float64Array, at: number, record: TradeRecord): void => {
  const sold = wideValue(record.amountHigh, record.amountLow)
  const held = readWide(cells, at + UNITS)
  if (sold > held) {
    // More is sold than swaps brought in. The cost of the excess is unknown, and so is the cost of the sale.
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
    setCost(record, usd)
  }
  if ((unknown & LAMPORTS_UNKNOWN) === 0 && record.lamportsKnown) {
    setGain(record, lamports)
  }
  if (sold === held) {
    empty(cells, at)
  } else {
    addWide(cells, at + UNITS, -record.amountHigh, -record.amountLow)
  }
}

/**
 * Moves a position by the wallet's next trade in the order of the chain. Sets the cost in USD and the result in
 * lamports of a sale when every purchase behind it was observed and priced.
 */
export const movePosition = (cells: Float64Array, at: number, record: TradeRecord): void => {
  if (record.buy) {
    buy(cells, at, record)
  } else {
    sell(cells, at, record)
  }
}

/** Marks the costs as unknown until the position is next empty, because trades came out of order. */
export const doubtPosition = (cells: Float64Array, at: number): void => {
  cells[at + UNKNOWN] = USD_UNKNOWN | LAMPORTS_UNKNOWN
}

/** The layout of a candle in ten cells, and the addition of trades to it. */
import type { TradeRecord } from "../tape/TradeRecord.ts"
import { addWide } from "../columnar/wide.ts"

/** Cells of one bar. */
export const BAR = 10

/** Cell of the bucket's first second. */
export const START = 0
/** Cells of the prices in USD; NaN while no trade of the bucket was priced. */
export const OPEN = 1
export const HIGH = 2
export const LOW = 3
export const CLOSE = 4
/** Cell of the number of trades, priced or not. */
export const COUNT = 5
/** First of the two cells that hold the volume in nano-dollars. */
export const VOLUME = 6
/** Cells of the order keys of the trades that gave the open and the close. */
const FIRST = 8
const LAST = 9

/** Begins a bar without trades. */
export const beginBar = (cells: Float64Array, at: number, start: number): void => {
  cells[at + START] = start
  cells[at + OPEN] = Number.NaN
  cells[at + HIGH] = Number.NEGATIVE_INFINITY
  cells[at + LOW] = Number.POSITIVE_INFINITY
  cells[at + CLOSE] = Number.NaN
  cells[at + COUNT] = 0
  cells[at + VOLUME] = 0
  cells[at + VOLUME + 1] = 0
  cells[at + FIRST] = Number.POSITIVE_INFINITY
  cells[at + LAST] = Number.NEGATIVE_INFINITY
}

/** Adds a trade of the bar's bucket, in whatever order trades arrive: open and close follow the order of the chain. */
export const addToBar = (cells: Float64Array, at: number, record: TradeRecord): void => {
  cells[at + COUNT] = (cells[at + COUNT] ?? 0) + 1
  if (record.usdKnown) {
    addWide(cells, at + VOLUME, record.usdHigh, record.usdLow)
  }
  const { price, key } = record
  if (Number.isNaN(price)) {
    return
  }
  if (price > (cells[at + HIGH] ?? 0)) {
    cells[at + HIGH] = price
  }
  if (price < (cells[at + LOW] ?? 0)) {
    cells[at + LOW] = price
  }
  if (key < (cells[at + FIRST] ?? 0)) {
    cells[at + FIRST] = key
    cells[at + OPEN] = price
  }
  if (key > (cells[at + LAST] ?? 0)) {
    cells[at + LAST] = key
    cells[at + CLOSE] = price
  }
}

/** Copies a bar. */
export const copyBar = (from: Float64Array, fromAt: number, to: Float64Array, toAt: number): void => {
  for (let cell = 0; cell < BAR; cell++) {
    to[toAt + cell] = from[fromAt + cell] ?? 0
  }
}

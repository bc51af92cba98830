/** The layout of a candle in cells, and how trades are added to it. */
import type { TradeRecord } from "./TradeRecord.ts"
import { addWide } from "../columnar/wide.ts"

/** Cells of one bar: five of its own, and ten for each denomination. */
export const BAR = 25

/** Cell of the bucket's first second. */
export const START = 0
/** Cell of the number of trades, priced or not. */
export const COUNT = 1
/** Cell of the number of purchases; NaN when unknown. */
export const BUYS = 2
/** Cell of the number of distinct wallets; NaN when unknown. */
export const TRADERS = 3
/** Cell of the number of trades that came after the bar was closed. */
export const REVISION = 4

/** The first cell of each denomination. */
export const moneyAt = { usd: 5, sol: 15 } as const

/** Unit of account of prices and volumes. */
export type Denomination = keyof typeof moneyAt

/**
 * Cells of a denomination, counted from its first: prices of a whole token, NaN while no trade of the bucket has a
 * price.
 */
export const OPEN = 0
export const HIGH = 1
export const LOW = 2
export const CLOSE = 3
/** First of the two cells of the volume, in nano-dollars or lamports. */
export const VOLUME = 4
/** First of the two cells of the volume of purchases; NaN when unknown. */
export const BUY_VOLUME = 6
/** Cells of the order keys of the trades that gave the open and the close. */
const FIRST = 8
const LAST = 9

const beginMoney = (cells: Float64Array, at: number): void => {
  cells[at + OPEN] = Number.NaN
  cells[at + HIGH] = Number.NEGATIVE_INFINITY
  cells[at + LOW] = Number.POSITIVE_INFINITY
  cells[at + CLOSE] = Number.NaN
  cells[at + VOLUME] = 0
  cells[at + VOLUME + 1] = 0
  cells[at + BUY_VOLUME] = 0
  cells[at + BUY_VOLUME + 1] = 0
  cells[at + FIRST] = Number.POSITIVE_INFINITY
  cells[at + LAST] = Number.NEGATIVE_INFINITY
}

/** Writes a bar without trades. */
export const beginBar = (cells: Float64Array, at: number, start: number): void => {
  cells[at + START] = start
  cells[at + COUNT] = 0
  cells[at + BUYS] = 0
  cells[at + TRADERS] = 0
  cells[at + REVISION] = 0
  beginMoney(cells, at + moneyAt.usd)
  beginMoney(cells, at + moneyAt.sol)
}

const addVolume = (cells: Float64Array, at: number, buy: boolean, high: number, low: number): void => {
  addWide(cells, at + VOLUME, high, low)
  if (buy) {
    addWide(cells, at + BUY_VOLUME, high, low)
  }
}

const addPrice = (cells: Float64Array, at: number, price: number, key: number): void => {
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

/** Adds a trade of the bar's bucket. Trades may arrive in any order: open and close follow the order of the chain. */
export const addToBar = (cells: Float64Array, at: number, record: TradeRecord): void => {
  const { buy, key } = record
  cells[at + COUNT] = (cells[at + COUNT] ?? 0) + 1
  if (buy) {
    cells[at + BUYS] = (cells[at + BUYS] ?? 0) + 1
  }
  if (record.usdKnown) {
    addVolume(cells, at + moneyAt.usd, buy, record.usdHigh, record.usdLow)
  }
  if (record.worthKnown) {
    addVolume(cells, at + moneyAt.sol, buy, record.worthHigh, record.worthLow)
  }
  addPrice(cells, at + moneyAt.usd, record.price, key)
  addPrice(cells, at + moneyAt.sol, record.priceSol, key)
}

export const copyBar = (from: Float64Array, fromAt: number, to: Float64Array, toAt: number): void => {
  for (let cell = 0; cell < BAR; cell++) {
    to[toAt + cell] = from[fromAt + cell] ?? 0
  }
}

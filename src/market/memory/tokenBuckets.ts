/** The sums of a token: in one window, and in one bucket of it. */
import type { Records } from "../columnar/Records.ts"
import type { TradeRecord } from "../model/TradeRecord.ts"
import { addWide } from "../columnar/wide.ts"
import { BUCKET, BUCKET_WORDS } from "./Buckets.ts"

/** Cells of a sum: trades, buys, trades of unknown volume, and two cells of volume. */
export const TRADES = 0
export const BUYS = 1
export const UNPRICED = 2
export const VOLUME = 3
export const SUM = 5

/** Cells after the sum of what has left a window: the price in force when the window begins, and its order key. */
export const START_PRICE = 5
export const START_KEY = 6
export const LEFT_CELLS = 7

/** Words of a bucket, then its cells: volume, last price, and the order key of that price. */
const COUNT_WORDS = BUCKET_WORDS
const BUY_WORDS = 3
const UNPRICED_WORDS = 4
const BUCKET_VOLUME = 3
const PRICE = 5
const KEY = 6
export const TOKEN_BUCKET = 7

export const addSum = (cells: Float64Array, at: number, record: TradeRecord): void => {
  cells[at + TRADES] = (cells[at + TRADES] ?? 0) + 1
  if (record.buy) {
    cells[at + BUYS] = (cells[at + BUYS] ?? 0) + 1
  }
  if (record.usdKnown) {
    addWide(cells, at + VOLUME, record.usdHigh, record.usdLow)
  } else {
    cells[at + UNPRICED] = (cells[at + UNPRICED] ?? 0) + 1
  }
}

const leavePrice = (cells: Float64Array, at: number, price: number, key: number): void => {
  if (!Number.isNaN(price) && key > (cells[at + START_KEY] ?? 0)) {
    cells[at + START_PRICE] = price
    cells[at + START_KEY] = key
  }
}

/** Adds a trade to what has left a window. */
export const leaveTrade = (cells: Float64Array, at: number, record: TradeRecord): void => {
  addSum(cells, at, record)
  leavePrice(cells, at, record.price, record.key)
}

/** Makes a record the bucket of this one trade. */
export const fillBucket = (records: Records, id: number, bucket: number, record: TradeRecord): void => {
  const words = records.words(id)
  const at = records.wordsAt(id)
  words[at + BUCKET] = bucket
  words[at + COUNT_WORDS] = 1
  words[at + BUY_WORDS] = record.buy ? 1 : 0
  words[at + UNPRICED_WORDS] = record.usdKnown ? 0 : 1
  const cells = records.page(id)
  const start = records.at(id)
  cells[start + BUCKET_VOLUME] = record.usdHigh
  cells[start + BUCKET_VOLUME + 1] = record.usdLow
  cells[start + PRICE] = record.price
  cells[start + KEY] = Number.isNaN(record.price) ? -1 : record.key
}

/** Adds the sums of one bucket to another. They always fit. */
export const mergeBuckets = (records: Records, to: number, from: number): true => {
  const words = records.words(to)
  const at = records.wordsAt(to)
  const added = records.words(from)
  const addedAt = records.wordsAt(from)
  for (let word = COUNT_WORDS; word <= UNPRICED_WORDS; word++) {
    words[at + word] = (words[at + word] ?? 0) + (added[addedAt + word] ?? 0)
  }
  const cells = records.page(to)
  const start = records.at(to)
  const more = records.page(from)
  const moreAt = records.at(from)
  addWide(cells, start + BUCKET_VOLUME, more[moreAt + BUCKET_VOLUME] ?? 0, more[moreAt + BUCKET_VOLUME + 1] ?? 0)
  if ((more[moreAt + KEY] ?? 0) > (cells[start + KEY] ?? 0)) {
    cells[start + PRICE] = more[moreAt + PRICE] ?? 0
    cells[start + KEY] = more[moreAt + KEY] ?? 0
  }
  return true
}

/** Adds a bucket to what has left a window. */
export const leaveBucket = (records: Records, id: number, cells: Float64Array, at: number): void => {
  const words = records.words(id)
  const from = records.wordsAt(id)
  cells[at + TRADES] = (cells[at + TRADES] ?? 0) + (words[from + COUNT_WORDS] ?? 0)
  cells[at + BUYS] = (cells[at + BUYS] ?? 0) + (words[from + BUY_WORDS] ?? 0)
  cells[at + UNPRICED] = (cells[at + UNPRICED] ?? 0) + (words[from + UNPRICED_WORDS] ?? 0)
  const bucket = records.page(id)
  const start = records.at(id)
  addWide(cells, at + VOLUME, bucket[start + BUCKET_VOLUME] ?? 0, bucket[start + BUCKET_VOLUME + 1] ?? 0)
  leavePrice(cells, at, bucket[start + PRICE] ?? Number.NaN, bucket[start + KEY] ?? -1)
}

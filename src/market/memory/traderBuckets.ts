/**
 * The sums of one wallet's trades in one token and one time bucket, in sixteen words: small, because there are more of
 * them than of anything else. A sum that does not fit gets a second record of the same bucket.
 */
import type { Records } from "../columnar/Records.ts"
import { addWide } from "../columnar/wide.ts"
import type { TradeRecord } from "../model/TradeRecord.ts"
import { BUCKET, BUCKET_WORDS } from "./Buckets.ts"
import { BOUGHT } from "./traderSums.ts"

/** Buys in the low half, sells in the high half. */
const TRADED = BUCKET_WORDS
/** One byte each: buys and sells of unknown volume, sales of unknown cost, and sales of unknown result. */
const UNKNOWN = 3
/**
 * The low and the high words of the six amounts of `traderSums.ts`, in that order. The high word of the gain is signed.
 */
const LOW = 4
const HIGH = 10
const AMOUNTS = 6
const SOLD = 1
const BOUGHT_USD = 2
const SOLD_USD = 3
const COST = 4
const GAIN = 5

export const TRADER_BUCKET = 8

const LIMB = 2 ** 32
const SIGNED = 2 ** 31
const HALF = 0xffff
const BYTE = 0xff

const fillSale = (words: Uint32Array, at: number, record: TradeRecord): void => {
  words[at + TRADED] = HALF + 1
  words[at + UNKNOWN] =
    (record.usdKnown ? 0 : 1 << 8) | (record.costKnown ? 0 : 1 << 16) | (record.gainKnown ? 0 : 1 << 24)
  words[at + LOW + SOLD] = record.amountLow
  words[at + HIGH + SOLD] = record.amountHigh
  words[at + LOW + SOLD_USD] = record.usdLow
  words[at + HIGH + SOLD_USD] = record.usdHigh
  if (record.costKnown) {
    words[at + LOW + COST] = record.costLow
    words[at + HIGH + COST] = record.costHigh
  }
  if (record.gainKnown) {
    words[at + LOW + GAIN] = record.gainLow
    words[at + HIGH + GAIN] = record.gainHigh
  }
}

/** Makes a record the bucket of this one trade. */
export const fillBucket = (records: Records, id: number, bucket: number, record: TradeRecord): void => {
  const words = records.words(id)
  const at = records.wordsAt(id)
  words.fill(0, at, at + HIGH + AMOUNTS)
  words[at + BUCKET] = bucket
  if (!record.buy) {
    fillSale(words, at, record)
    return
  }
  words[at + TRADED] = 1
  words[at + UNKNOWN] = record.usdKnown ? 0 : 1
  words[at + LOW] = record.amountLow
  words[at + HIGH] = record.amountHigh
  words[at + LOW + BOUGHT_USD] = record.usdLow
  words[at + HIGH + BOUGHT_USD] = record.usdHigh
}

const highOf = (words: Uint32Array, at: number, amount: number): number => {
  const word = words[at + HIGH + amount] ?? 0
  return amount === GAIN ? word | 0 : word
}

const countsFit = (a: number, b: number, c: number, d: number): boolean =>
  (a & HALF) + (b & HALF) <= HALF &&
  (a >>> 16) + (b >>> 16) <= HALF &&
  (c & BYTE) + (d & BYTE) <= BYTE &&
  ((c >>> 8) & BYTE) + ((d >>> 8) & BYTE) <= BYTE &&
  ((c >>> 16) & BYTE) + ((d >>> 16) & BYTE) <= BYTE &&
  (c >>> 24) + (d >>> 24) <= BYTE

const amountsFit = (words: Uint32Array, at: number, more: Uint32Array, moreAt: number): boolean => {
  for (let amount = 0; amount < AMOUNTS; amount++) {
    const high = highOf(words, at, amount) + highOf(more, moreAt, amount)
    // One less, to leave room for the carry of the low words.
    if (amount === GAIN ? high < -SIGNED || high >= SIGNED - 1 : high >= LIMB - 1) {
      return false
    }
  }
  return true
}

/** Adds the sums of one bucket to another. Returns false and adds nothing when they do not fit. */
export const mergeBuckets = (records: Records, to: number, from: number): boolean => {
  const words = records.words(to)
  const at = records.wordsAt(to)
  const more = records.words(from)
  const moreAt = records.wordsAt(from)
  const traded = more[moreAt + TRADED] ?? 0
  const unknown = more[moreAt + UNKNOWN] ?? 0
  if (
    !countsFit(words[at + TRADED] ?? 0, traded, words[at + UNKNOWN] ?? 0, unknown) ||
    !amountsFit(words, at, more, moreAt)
  ) {
    return false
  }
  words[at + TRADED] = (words[at + TRADED] ?? 0) + traded
  words[at + UNKNOWN] = (words[at + UNKNOWN] ?? 0) + unknown
  for (let amount = 0; amount < AMOUNTS; amount++) {
    const low = (words[at + LOW + amount] ?? 0) + (more[moreAt + LOW + amount] ?? 0)
    words[at + LOW + amount] = low
    words[at + HIGH + amount] = highOf(words, at, amount) + highOf(more, moreAt, amount) + (low >= LIMB ? 1 : 0)
  }
  return true
}

/** Adds a bucket to the sums of `traderSums.ts` at `to`. */
export const addBucket = (records: Records, id: number, sums: Float64Array, to: number): void => {
  const words = records.words(id)
  const at = records.wordsAt(id)
  const [traded, unknown] = [words[at + TRADED] ?? 0, words[at + UNKNOWN] ?? 0]
  const counts = [traded & HALF, traded >>> 16, unknown & BYTE, (unknown >>> 8) & BYTE, (unknown >>> 16) & BYTE]
  for (const [cell, count] of [...counts, unknown >>> 24].entries()) {
    sums[to + cell] = (sums[to + cell] ?? 0) + count
  }
  for (let amount = 0; amount < AMOUNTS; amount++) {
    addWide(sums, to + BOUGHT + 2 * amount, highOf(words, at, amount), words[at + LOW + amount] ?? 0)
  }
}

/** Adds the known USD volume of a bucket, bought and sold, to the two cells at `to`. `sign` -1 subtracts it. */
export const addBucketVolume = (records: Records, id: number, to: Float64Array, toAt: number, sign: 1 | -1): void => {
  const words = records.words(id)
  const at = records.wordsAt(id)
  for (let amount = BOUGHT_USD; amount <= SOLD_USD; amount++) {
    addWide(to, toAt, sign * (words[at + HIGH + amount] ?? 0), sign * (words[at + LOW + amount] ?? 0))
  }
}

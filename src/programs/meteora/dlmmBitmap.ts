/**
 * Bitmap of the bin arrays that hold liquidity in a DLMM pair, one bit each. Arrays -512 to 511 are in the pair
 * account, arrays further out in an extension account. MeteoraAg/dlmm-sdk, commons/src/extensions/bin_array_bitmap.rs
 * at fb02e51.
 */
import { hasDiscriminator } from "../layout/bytes.ts"
import { dlmmPairAt } from "./dlmmPair.ts"

/** How many arrays on either side of zero the pair account itself records. */
export const INTERNAL_ARRAYS = 512
const PAGES = 12
const PAGE_BYTES = 64
const EXTENSION_LENGTH = 1576
const DISCRIMINATOR = "506f7c7137ed1205"
const POSITIVE_AT = 40
const NEGATIVE_AT = POSITIVE_AT + PAGES * PAGE_BYTES

/** True for the data of a bitmap extension. */
export const isBitmapExtension = (data: Uint8Array): boolean =>
  data.length >= EXTENSION_LENGTH && hasDiscriminator(data, DISCRIMINATOR)

const setBits = (data: Uint8Array, at: number, bytes: number): ReadonlyArray<number> => {
  const bits: Array<number> = []
  for (let i = 0; i < bytes; i++) {
    for (let byte = data[at + i] ?? 0, bit = 8 * i; byte !== 0; byte >>= 1, bit++) {
      if ((byte & 1) === 1) {
        bits.push(bit)
      }
    }
  }
  return bits
}

/** Arrays with liquidity in the pair's own bitmap, ascending. */
const inside = (pair: Uint8Array): ReadonlyArray<number> =>
  setBits(pair, dlmmPairAt.bitmap, (2 * INTERNAL_ARRAYS) / 8).map((bit) => bit - INTERNAL_ARRAYS)

/**
 * Arrays with liquidity further out, ascending. The first bit below zero is array -513, the first above is array 512.
 */
const outside = (extension: Uint8Array): ReadonlyArray<number> => [
  ...setBits(extension, NEGATIVE_AT, PAGES * PAGE_BYTES)
    .map((bit) => -bit - INTERNAL_ARRAYS - 1)
    .toReversed(),
  ...setBits(extension, POSITIVE_AT, PAGES * PAGE_BYTES).map((bit) => bit + INTERNAL_ARRAYS)
]

/**
 * The arrays that a swap meets, nearest first, and whether an unread extension may name more arrays before or behind
 * them.
 */
export interface BinArraysAhead {
  readonly indexes: ReadonlyArray<number>
  readonly needsExtension: boolean
}

/**
 * Up to `count` arrays with liquidity from array `from` on, downwards or upwards. `extension` is undefined while it
 * has not been read, and null when it does not exist.
 */
export const binArraysAhead = (
  pair: Uint8Array,
  extension: Uint8Array | null | undefined,
  from: number,
  down: boolean,
  count: number
): BinArraysAhead => {
  const known = extension ? [...inside(pair), ...outside(extension)] : inside(pair)
  const ahead = known.filter((index) => (down ? index <= from : index >= from))
  const indexes = ahead.toSorted((a, b) => (down ? b - a : a - b)).slice(0, count)
  const leavesPair = from < -INTERNAL_ARRAYS || from >= INTERNAL_ARRAYS || indexes.length < count
  return { indexes, needsExtension: extension === undefined && leavesPair }
}

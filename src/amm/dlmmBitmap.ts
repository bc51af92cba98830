/**
 * Which bin arrays of a DLMM pair hold liquidity: one bit each, of arrays -512 to 511 in the pair, of those further out in
 * an extension account. MeteoraAg/dlmm-sdk, commons/src/extensions/bin_array_bitmap.rs at fb02e51.
 */
import { hasDiscriminator } from "./bytes.ts"
import { dlmmPairAt } from "./dlmmPair.ts"

/** Arrays on either side of zero that the pair itself keeps track of. */
export const INTERNAL_ARRAYS = 512
const PAGES = 12
/** One more than the furthest array that has a bit, on either side. */
export const TRACKED_ARRAYS = INTERNAL_ARRAYS * (PAGES + 1)

const PAGE_BYTES = 64
const EXTENSION_LENGTH = 1576
const DISCRIMINATOR = "506f7c7137ed1205"
const POSITIVE_AT = 40
const NEGATIVE_AT = POSITIVE_AT + PAGES * PAGE_BYTES

const bitAt = (data: Uint8Array, at: number, bit: number): boolean =>
  (((data[at + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) === 1

/** Whether the account is a bitmap extension. */
export const isBitmapExtension = (data: Uint8Array): boolean =>
  data.length >= EXTENSION_LENGTH && hasDiscriminator(data, DISCRIMINATOR)

/** Whether the array's bit is in the pair account. */
export const isInternal = (index: number): boolean => index >= -INTERNAL_ARRAYS && index < INTERNAL_ARRAYS

/** Whether an array holds liquidity. Arrays further out than `isInternal` need the extension. */
export const hasBinArray = (pair: Uint8Array, extension: Uint8Array | null, index: number): boolean => {
  if (isInternal(index)) {
    return bitAt(pair, dlmmPairAt.bitmap, index + INTERNAL_ARRAYS)
  }
  if (extension === null) {
    return false
  }
  // Array -513 is the first bit on the negative side, as array 512 is on the positive one.
  const distance = index < 0 ? -index - 1 : index
  const page = Math.floor(distance / INTERNAL_ARRAYS) - 1
  return (
    page < PAGES &&
    bitAt(extension, (index < 0 ? NEGATIVE_AT : POSITIVE_AT) + page * PAGE_BYTES, distance % INTERNAL_ARRAYS)
  )
}

/** The arrays a swap comes to, nearest first, and whether more may follow in an extension that has not been read. */
export interface BinArraysAhead {
  readonly indexes: ReadonlyArray<number>
  readonly needsExtension: boolean
}

/**
 * Up to `count` arrays with liquidity from array `from` on, downwards or upwards. Pass an extension of undefined while it has
 * not been read, null when it does not exist.
 */
export const binArraysAhead = (
  pair: Uint8Array,
  extension: Uint8Array | null | undefined,
  from: number,
  down: boolean,
  count: number
): BinArraysAhead => {
  const indexes: Array<number> = []
  const reach = extension === null ? INTERNAL_ARRAYS : TRACKED_ARRAYS
  for (let index = from; indexes.length < count && index >= -reach && index < reach; index += down ? -1 : 1) {
    if (extension === undefined && !isInternal(index)) {
      return { indexes, needsExtension: true }
    }
    if (hasBinArray(pair, extension ?? null, index)) {
      indexes.push(index)
    }
  }
  return { indexes, needsExtension: false }
}

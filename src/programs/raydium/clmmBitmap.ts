/**
 * Raydium CLMM's bitmap of tick arrays with initialized ticks: 1024 bits are in the pool, the rest in an extension
 * account.
 */
import { hasDiscriminator } from "../layout/bytes.ts"
import {
  BITMAP_EXTENSION_DISCRIMINATOR,
  BITMAP_EXTENSION_SIZE,
  bitmapExtensionOffsets,
  CLMM_ARRAYS_IN_POOL,
  clmmArraySpan,
  clmmArrayStart,
  clmmPoolOffsets
} from "./clmmLayout.ts"
import { floorDiv, MAX_TICK, MIN_TICK } from "../math/ticks.ts"

/** True when the pool account's bits do not cover every tick. */
export const bitmapOverflows = (spacing: number): boolean => clmmArraySpan(spacing) * CLMM_ARRAYS_IN_POOL < MAX_TICK

/** The bitmap's byte for eight arrays, by the number of the first one. Zero when nothing is recorded. */
const byteAt = (pool: Uint8Array, extension: Uint8Array | null, first: number): number => {
  if (first >= -CLMM_ARRAYS_IN_POOL && first < CLMM_ARRAYS_IN_POOL) {
    return pool[clmmPoolOffsets.arrayBitmap + (first + CLMM_ARRAYS_IN_POOL) / 8] ?? 0
  }
  if (extension === null) {
    return 0
  }
  if (first > 0) {
    return extension[bitmapExtensionOffsets.positive + (first - CLMM_ARRAYS_IN_POOL) / 8] ?? 0
  }
  // Each block of 512 counts upwards from its lowest array, and the blocks follow each other downwards.
  const block = floorDiv(-first - 1, CLMM_ARRAYS_IN_POOL) - 1
  const bit = first + CLMM_ARRAYS_IN_POOL * (block + 2)
  return extension[bitmapExtensionOffsets.negative + (block * CLMM_ARRAYS_IN_POOL + bit) / 8] ?? 0
}

/** The bytes of an extension account; null when they are not one. */
export const asBitmapExtension = (data: Uint8Array): Uint8Array | null =>
  data.length >= BITMAP_EXTENSION_SIZE && hasDiscriminator(data, BITMAP_EXTENSION_DISCRIMINATOR) ? data : null

/** Numbers of the first and last array that have a bit. */
const recorded = (spacing: number, extended: boolean): readonly [number, number] => {
  const span = clmmArraySpan(spacing)
  const lowest = clmmArrayStart(MIN_TICK, spacing) / span
  const highest = clmmArrayStart(MAX_TICK, spacing) / span
  return extended
    ? [lowest, highest]
    : [Math.max(lowest, -CLMM_ARRAYS_IN_POOL), Math.min(highest, CLMM_ARRAYS_IN_POOL - 1)]
}

/**
 * Starts of the arrays with initialized ticks that a swap from this tick meets: nearest first, at most `count`. The
 * array of the tick itself belongs to both directions.
 */
export const initializedArrays = (
  pool: Uint8Array,
  extension: Uint8Array | null,
  search: { readonly tick: number; readonly spacing: number; readonly down: boolean; readonly count: number }
): ReadonlyArray<number> => {
  const { count, down, spacing, tick } = search
  const span = clmmArraySpan(spacing)
  const [lowest, highest] = recorded(spacing, extension !== null)
  const found: Array<number> = []
  for (let n = clmmArrayStart(tick, spacing) / span; n >= lowest && n <= highest && found.length < count;) {
    const first = floorDiv(n, 8) * 8
    const byte = byteAt(pool, extension, first)
    if (byte === 0) {
      n = down ? first - 1 : first + 8
      continue
    }
    if ((byte & (1 << (n - first))) !== 0) {
      found.push(n * span)
    }
    n += down ? -1 : 1
  }
  return found
}

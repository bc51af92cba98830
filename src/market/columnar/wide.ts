/**
 * Exact sums past 2^53 without a bigint for each trade. An integer is held in two cells as `high * 2^32 + low`: the low
 * cell stays between 0 and 2^32, and the high cell carries the sign. Exact to 2^85.
 */

const LIMB = 2 ** 32
const LIMB_BITS = 32n
const LOW_MASK = 0xffff_ffffn

/** The high part of a non-negative integer. */
export const highOf = (value: bigint): number => {
  const near = Number(value)
  return near <= Number.MAX_SAFE_INTEGER ? Math.floor(near / LIMB) : Number(value >> LIMB_BITS)
}

/** The low part of a non-negative integer, below 2^32. `high` is its high part. */
export const lowOf = (value: bigint, high: number): number => {
  const near = Number(value)
  return near <= Number.MAX_SAFE_INTEGER ? near - high * LIMB : Number(value & LOW_MASK)
}

/** The integer that two cells hold. */
export const wideValue = (high: number, low: number): bigint => (BigInt(high) << LIMB_BITS) + BigInt(low)

/** Adds a high and a low part to the two cells at `at`. Negative parts subtract. */
export const addWide = (cells: Float64Array, at: number, high: number, low: number): void => {
  const sum = (cells[at + 1] ?? 0) + low
  const carry = sum >= LIMB ? 1 : sum < 0 ? -1 : 0
  cells[at + 1] = sum - carry * LIMB
  cells[at] = (cells[at] ?? 0) + high + carry
}

export const readWide = (cells: Float64Array, at: number): bigint => wideValue(cells[at] ?? 0, cells[at + 1] ?? 0)

/** Writes an integer of either sign into the two cells at `at`. */
export const writeWide = (cells: Float64Array, at: number, value: bigint): void => {
  cells[at] = Number(value >> LIMB_BITS)
  cells[at + 1] = Number(value & LOW_MASK)
}

/** The integer in the two cells at `at` as the nearest number. Exact below 2^53. */
export const wideNumber = (cells: Float64Array, at: number): number => (cells[at] ?? 0) * LIMB + (cells[at + 1] ?? 0)

/**
 * The integer at `at` less the integer at `less`, as the nearest number. Exact when the difference is below 2^53,
 * however large the two integers are.
 */
export const wideDifference = (cells: Float64Array, at: number, less: number): number =>
  ((cells[at] ?? 0) - (cells[less] ?? 0)) * LIMB + ((cells[at + 1] ?? 0) - (cells[less + 1] ?? 0))

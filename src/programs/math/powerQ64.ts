/** Powers in Q64.64 as Meteora's programs compute them: square and multiply, truncating after every product. */

const ONE = 1n << 64n
const SCALE = 64n
const MAX_U128 = (1n << 128n) - 1n
// The programs read nineteen bits of the exponent.
const EXPONENT_LIMIT = 0x80000

/**
 * `base` to the `exponent`, both sides in Q64.64; the exponent is a whole number. Null where the programs fail:
 * exponents past nineteen bits, and powers too small for 64 fractional bits.
 */
export const powerQ64 = (base: bigint, exponent: number): bigint | null => {
  if (exponent === 0) {
    return ONE
  }
  let rest = Math.abs(exponent)
  if (rest >= EXPONENT_LIMIT || base === 0n) {
    return null
  }
  // Powers of numbers below one stay within 128 bits, so larger bases are inverted first and the result afterwards.
  const inverted = base >= ONE
  let square = inverted ? MAX_U128 / base : base
  let result = ONE
  for (; rest > 0; rest >>>= 1) {
    if ((rest & 1) === 1) {
      result = (result * square) >> SCALE
    }
    square = (square * square) >> SCALE
  }
  if (result === 0n) {
    return null
  }
  return inverted === exponent > 0 ? MAX_U128 / result : result
}

/** Powers in Q64.64 as Meteora's programs compute them: square and multiply, truncating after each product. */

const ONE = 1n << 64n
const SCALE = 64n
const MAX_U128 = (1n << 128n) - 1n
// The programs read nineteen bits of the exponent.
const EXPONENT_LIMIT = 0x80000

/**
 * `base` to the whole number `exponent`. Base and result are Q64.64. Null where the programs fail: for exponents with
 * more than nineteen bits, and for powers too small for 64 fractional bits.
 */
export const powerQ64 = (base: bigint, exponent: number): bigint | null => {
  if (exponent === 0) {
    return ONE
  }
  let rest = Math.abs(exponent)
  if (rest >= EXPONENT_LIMIT || base === 0n) {
    return null
  }
  // Powers of numbers below one fit into 128 bits, so a larger base is inverted first, and the result is inverted
  // back.
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

/** Integer divisions, rounded as the programs do. Operands are non-negative and divisors positive. */

export const ceilDiv = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

export const minBigInt = (a: bigint, b: bigint): bigint => (a < b ? a : b)

export const maxBigInt = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** The square root, rounded down. */
export const squareRoot = (value: bigint): bigint => {
  if (value < 2n) {
    return value
  }
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (let next = (root + value / root) >> 1n; next < root; next = (root + value / root) >> 1n) {
    root = next
  }
  return root
}

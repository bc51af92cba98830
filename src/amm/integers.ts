/** Integer divisions as the programs round them. Operands are non-negative and divisors positive. */

export const ceilDiv = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

export const minBigInt = (a: bigint, b: bigint): bigint => (a < b ? a : b)

export const maxBigInt = (a: bigint, b: bigint): bigint => (a > b ? a : b)

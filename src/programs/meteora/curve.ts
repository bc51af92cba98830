/**
 * One range of constant liquidity in square-root prices. DAMM v2 and the bonding curve share it. Square-root prices
 * are Q64.64 of token B (quote) per token A (base). Liquidity also has 64 fractional bits, hence the shifts by 128.
 * MeteoraAg/damm-v2, programs/cp-amm/src/liquidity_handler/concentrated_liquidity.rs at a3d3827.
 */
import { ceilDiv } from "../math/integers.ts"

const SCALE = 128n
const BELOW_ONE = (1n << SCALE) - 1n

/** Units of A between two square-root prices: L·(upper - lower) / (lower·upper), rounded down or up. */
export const amountA = (lower: bigint, upper: bigint, liquidity: bigint, roundUp: boolean): bigint => {
  const product = liquidity * (upper - lower)
  return roundUp ? ceilDiv(product, lower * upper) : product / (lower * upper)
}

/** Units of B between two square-root prices: L·(upper - lower) / 2^128, rounded down or up. */
export const amountB = (lower: bigint, upper: bigint, liquidity: bigint, roundUp: boolean): bigint => {
  const product = liquidity * (upper - lower)
  return (roundUp ? product + BELOW_ONE : product) >> SCALE
}

/** The square-root price after `amount` of A came in, rounded up: L·s / (L + amount·s). */
export const priceAfterA = (sqrtPrice: bigint, liquidity: bigint, amount: bigint): bigint =>
  amount === 0n ? sqrtPrice : ceilDiv(liquidity * sqrtPrice, liquidity + amount * sqrtPrice)

/** The square-root price after `amount` of B came in, rounded down: s + amount·2^128 / L. */
export const priceAfterB = (sqrtPrice: bigint, liquidity: bigint, amount: bigint): bigint =>
  sqrtPrice + (amount << SCALE) / liquidity

/** Limit orders that wait at a tick and fill at its price, as in Raydium CLMM since 2026. */
import { ceilDiv } from "./integers.ts"

const ONE = 1n << 64n

/**
 * A price from its square root, in Q64.64 of B per A. It is rounded against the trader: down when A comes in, up when
 * B does.
 */
export const ordersPrice = (down: boolean, sqrtPrice: bigint): bigint =>
  down ? (sqrtPrice * sqrtPrice) / ONE : ceilDiv(sqrtPrice * sqrtPrice, ONE)

/** The output that an input buys at this price, rounded down. */
export const ordersOut = (down: boolean, price: bigint, amountIn: bigint): bigint =>
  down ? (amountIn * price) / ONE : (amountIn * ONE) / price

/** The input that buys `amountOut` at this price, rounded up. */
export const ordersIn = (down: boolean, price: bigint, amountOut: bigint): bigint =>
  down ? ceilDiv(amountOut * ONE, price) : ceilDiv(amountOut * price, ONE)

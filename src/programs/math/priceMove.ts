/** Computes how much input moves a pool's price by a share. The depth around a price is measured with it. */
import type { PriceMove, Rate } from "../interface/Program.ts"
import { amountOfA, amountOfB, feeOnTop } from "./concentrated.ts"
import { maxBigInt, minBigInt, squareRoot } from "./integers.ts"
import { ordersIn, ordersPrice } from "./limitOrders.ts"
import { liquidityRanges, type LiquidityRange, type SwapPath } from "./swapPath.ts"

/** The square-root price at which the sold mint has this share of its current price. Down sells A. */
export const sqrtPriceTo = (sqrtPrice: bigint, down: boolean, { denominator, numerator }: Rate): bigint => {
  const square = sqrtPrice * sqrtPrice
  return down
    ? minBigInt(squareRoot((square * numerator) / denominator) + 1n, sqrtPrice)
    : maxBigInt(squareRoot((square * denominator) / numerator), sqrtPrice)
}

/**
 * The net input that moves a constant-product price to the share: `reserveIn` times 1/sqrt(share) - 1, rounded down.
 */
export const productInputTo = (reserveIn: bigint, { denominator, numerator }: Rate): bigint =>
  squareRoot((reserveIn * reserveIn * denominator) / numerator) - reserveIn

/** The largest net input for which a constant-product pool pays at most `most`. `most` is less than `reserveOut`. */
export const productInputFor = (most: bigint, reserveIn: bigint, reserveOut: bigint): bigint =>
  (most * reserveIn) / (reserveOut - most)

const rangeInput = (
  { down, feeOnInput }: SwapPath,
  { feeRate, liquidity }: LiquidityRange,
  from: bigint,
  to: bigint,
  isWhole: boolean
): bigint => {
  const net = down ? amountOfA(liquidity, to, from, isWhole) : amountOfB(liquidity, from, to, isWhole)
  return net + (feeOnInput ? feeOnTop(net, feeRate) : 0n)
}

const ordersInput = ({ down, feeOnInput }: SwapPath, { feeRate, orders, target }: LiquidityRange): bigint => {
  const net = orders === 0n ? 0n : ordersIn(down, ordersPrice(down, target), orders)
  return net + (feeOnInput ? feeOnTop(net, feeRate) : 0n)
}

/**
 * The input that moves a concentrated pool's price along the path to the share, including limit orders on the way.
 */
export const pathInputTo = (swapPath: SwapPath, share: Rate): PriceMove => {
  const { down } = swapPath
  const target = sqrtPriceTo(swapPath.sqrtPrice, down, share)
  let { sqrtPrice } = swapPath
  let amountIn = 0n
  for (const range of liquidityRanges(swapPath)) {
    const isLast = down ? range.target <= target : range.target >= target
    const to = isLast ? target : range.target
    amountIn += rangeInput(swapPath, range, sqrtPrice, to, !isLast)
    if (isLast) {
      return { amountIn, complete: true }
    }
    amountIn += ordersInput(swapPath, range)
    sqrtPrice = to
  }
  return { amountIn, complete: swapPath.isWhole === true }
}

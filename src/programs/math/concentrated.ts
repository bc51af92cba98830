/**
 * One step of a concentrated-liquidity swap, to the unit, with the arithmetic that Raydium CLMM and Orca Whirlpool
 * share. Prices are square roots of token B (1) per token A (0) in Q64.64. Down is A to B: A comes in and the price
 * falls. Formulas: Uniswap v3 white paper, 6.2.3, rounded like the two programs.
 */
import { MAX_U64 } from "../../domain/Amount.ts"
import { ceilDiv, minBigInt } from "./integers.ts"

/** Denominator of fee rates. */
export const FEE_DENOMINATOR = 1_000_000n

const Q64 = 64n
const WORD_MASK = 2n ** 64n - 1n
const WIDE_PRODUCT = 2n ** 192n
const WIDE_LIQUIDITY = 2n ** 96n

/** A program's tick prices and its limits. */
export interface PriceGrid {
  readonly sqrtPriceAt: (tick: number) => bigint
  /** The lowest and highest price that a swap without a price limit can reach. */
  readonly lowestSqrtPrice: bigint
  readonly highestSqrtPrice: bigint
  /** True when the program refuses a swap because a product of liquidity and price reaches 2^192. */
  readonly overflowsAt192Bits: boolean
}

/** A range with constant liquidity and fee, from the current price to `target`. */
export interface StepRange {
  readonly down: boolean
  readonly sqrtPrice: bigint
  readonly target: bigint
  readonly liquidity: bigint
  /** Millionths of the input, or of the output when `feeOnInput` is false. */
  readonly feeRate: bigint
  readonly feeOnInput: boolean
}

/**
 * Amounts and end price of one step. The output is net of a fee on the output. The input excludes a fee on the input.
 */
export interface SwapStep {
  readonly sqrtPrice: bigint
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly fee: bigint
}

/** True when this liquidity times a price can reach 2^192. Prices are below 2^96. */
export const isWide = (grid: PriceGrid, liquidity: bigint): boolean =>
  grid.overflowsAt192Bits && liquidity > WIDE_LIQUIDITY

/** True when the product, shifted by 64 bits, overflows the program's integers. */
export const overflows = (product: bigint): boolean => product >= WIDE_PRODUCT

/** Units of A between two prices: L·(high - low)·2^64 / (low·high). */
export const amountOfA = (liquidity: bigint, low: bigint, high: bigint, roundUp: boolean): bigint => {
  const dividend = (liquidity * (high - low)) << Q64
  return roundUp ? ceilDiv(dividend, low * high) : dividend / (low * high)
}

/** Units of B between two prices: L·(high - low) / 2^64. */
export const amountOfB = (liquidity: bigint, low: bigint, high: bigint, roundUp: boolean): bigint =>
  (liquidity * (high - low) + (roundUp ? WORD_MASK : 0n)) >> Q64

/** Price after `amount` of A came in, rounded up: L·s / (L + amount·s). */
export const priceAfterAIn = (liquidityX64: bigint, sqrtPrice: bigint, amount: bigint): bigint =>
  ceilDiv(liquidityX64 * sqrtPrice, liquidityX64 + amount * sqrtPrice)

/** Price after `amount` of B came in, rounded down: s + amount / L. */
export const priceAfterBIn = (liquidity: bigint, sqrtPrice: bigint, amount: bigint): bigint =>
  sqrtPrice + (amount << Q64) / liquidity

/** The input that is left for the curve after the fee, rounded down. */
export const lessFee = (amount: bigint, feeRate: bigint): bigint =>
  (amount * (FEE_DENOMINATOR - feeRate)) / FEE_DENOMINATOR

/** The fee to add to a net input, rounded up. */
export const feeOnTop = (amount: bigint, feeRate: bigint): bigint =>
  ceilDiv(amount * feeRate, FEE_DENOMINATOR - feeRate)

/** The fee inside a gross amount, rounded up. */
export const feeWithin = (amount: bigint, feeRate: bigint): bigint => ceilDiv(amount * feeRate, FEE_DENOMINATOR)

const amountAcross = (range: StepRange, to: bigint, input: boolean): bigint => {
  const low = range.down ? to : range.sqrtPrice
  const high = range.down ? range.sqrtPrice : to
  return range.down === input
    ? amountOfA(range.liquidity, low, high, input)
    : amountOfB(range.liquidity, low, high, input)
}

/** True when the amount of A between the price and `to` overflows in the program. */
const overflowsTo = (range: StepRange, to: bigint): boolean => {
  const distance = range.down ? range.sqrtPrice - to : to - range.sqrtPrice
  return overflows(range.liquidity * distance)
}

const priceAfterInput = (range: StepRange, wide: boolean, amount: bigint): bigint | null => {
  const { liquidity, sqrtPrice } = range
  if (amount === 0n) {
    return sqrtPrice
  }
  if (!range.down) {
    return priceAfterBIn(liquidity, sqrtPrice, amount)
  }
  return wide && overflows(liquidity * sqrtPrice) ? null : priceAfterAIn(liquidity << Q64, sqrtPrice, amount)
}

/** Rounds against the trader: A out rounds the price up, B out rounds it down. */
const priceAfterOutput = (grid: PriceGrid, range: StepRange, wide: boolean, amount: bigint): bigint | null => {
  const { liquidity, sqrtPrice } = range
  if (amount === 0n) {
    return sqrtPrice
  }
  if (range.down) {
    const price = sqrtPrice - ceilDiv(amount << Q64, liquidity)
    return price < 0n ? null : price
  }
  const liquidityX64 = liquidity << Q64
  const rest = liquidityX64 - amount * sqrtPrice
  if (rest <= 0n || (wide && overflows(liquidity * sqrtPrice))) {
    return null
  }
  const price = ceilDiv(liquidityX64 * sqrtPrice, rest)
  return price > grid.highestSqrtPrice ? null : price
}

const stepExactIn = (grid: PriceGrid, range: StepRange, remaining: bigint): SwapStep | null => {
  const { down, feeOnInput, feeRate, target } = range
  const wide = isWide(grid, range.liquidity)
  if (wide && down && overflowsTo(range, target)) {
    return null
  }
  const usable = feeOnInput ? lessFee(remaining, feeRate) : remaining
  const whole = amountAcross(range, target, true)
  const reached = usable >= whole
  const sqrtPrice = reached ? target : priceAfterInput(range, wide, usable)
  if (sqrtPrice === null || (wide && !down && overflowsTo(range, sqrtPrice))) {
    return null
  }
  const gross = amountAcross(range, sqrtPrice, false)
  if (gross > MAX_U64) {
    return null
  }
  const amountIn = reached ? whole : amountAcross(range, sqrtPrice, true)
  if (!feeOnInput) {
    const fee = feeWithin(gross, feeRate)
    return { sqrtPrice, amountIn: reached ? whole : remaining, amountOut: gross - fee, fee }
  }
  return { sqrtPrice, amountIn, amountOut: gross, fee: reached ? feeOnTop(whole, feeRate) : remaining - amountIn }
}

/** The output before its fee, such that `net` remains afterwards. Rounded up. */
export const grossOf = (net: bigint, feeRate: bigint): bigint =>
  ceilDiv(net * FEE_DENOMINATOR, FEE_DENOMINATOR - feeRate)

const stepExactOut = (grid: PriceGrid, range: StepRange, remaining: bigint): SwapStep | null => {
  const { down, feeOnInput, feeRate, target } = range
  const wide = isWide(grid, range.liquidity)
  if (wide && !down && overflowsTo(range, target)) {
    return null
  }
  const wanted = feeOnInput ? remaining : grossOf(remaining, feeRate)
  const sqrtPrice = wanted >= amountAcross(range, target, false) ? target : priceAfterOutput(grid, range, wide, wanted)
  if (sqrtPrice === null || wanted > MAX_U64 || (wide && down && overflowsTo(range, sqrtPrice))) {
    return null
  }
  const amountIn = amountAcross(range, sqrtPrice, true)
  const gross = amountAcross(range, sqrtPrice, false)
  const fee = feeOnInput ? feeOnTop(amountIn, feeRate) : feeWithin(gross, feeRate)
  if (amountIn > MAX_U64 || gross > MAX_U64 || fee > MAX_U64) {
    return null
  }
  // The pool keeps the rounding remainder, as a fee if the fee comes out of the output.
  const amountOut = minBigInt(feeOnInput ? gross : gross - fee, remaining)
  return { sqrtPrice, amountIn, amountOut, fee: feeOnInput ? fee : gross - amountOut }
}

/**
 * Moves the price along the range by at most `remaining` units in (or out), as the programs do. Null when they
 * refuse.
 */
export const swapStep = (grid: PriceGrid, range: StepRange, remaining: bigint, exactIn: boolean): SwapStep | null =>
  exactIn ? stepExactIn(grid, range, remaining) : stepExactOut(grid, range, remaining)

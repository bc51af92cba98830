/**
 * One step of a concentrated-liquidity swap, to the unit: the arithmetic that Raydium CLMM and Orca Whirlpool share.
 * Prices are square roots of token B (1) per token A (0) in Q64.64. Down is A to B: A comes in, the price falls.
 * Formulas: Uniswap v3 white paper, 6.2.3, with the roundings of the two programs.
 */
import { MAX_U64 } from "../../domain/Amount.ts"
import { ceilDiv, minBigInt } from "./integers.ts"

/** Fee rates are in millionths. */
export const FEE_DENOMINATOR = 1_000_000n

const Q64 = 64n
const WORD_MASK = 2n ** 64n - 1n
const WIDE_PRODUCT = 2n ** 192n
const WIDE_LIQUIDITY = 2n ** 96n

/** What differs between the programs that share the step. */
export interface StepRules {
  readonly sqrtPriceAt: (tick: number) => bigint
  /** Where the price of a swap without a price limit has to stop. */
  readonly lowestSqrtPrice: bigint
  readonly highestSqrtPrice: bigint
  /** Whether products of liquidity and price from 2^192 on overflow the program's integers, so that it refuses. */
  readonly overflowsAt192Bits: boolean
}

/** A stretch of constant liquidity and constant fee, from where the price stands to `target`. */
export interface Stretch {
  readonly down: boolean
  readonly sqrtPrice: bigint
  readonly target: bigint
  readonly liquidity: bigint
  /** Millionths of the input, or of the output when `feeOnInput` is false. */
  readonly feeRate: bigint
  readonly feeOnInput: boolean
}

/** What one step moved. Output is net of a fee taken from it; input excludes a fee taken on top of it. */
export interface Step {
  readonly sqrtPrice: bigint
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly fee: bigint
}

/** Whether the liquidity is so large that products with a price can reach 2^192: prices stay below 2^96. */
export const isWide = (rules: StepRules, liquidity: bigint): boolean =>
  rules.overflowsAt192Bits && liquidity > WIDE_LIQUIDITY

/** Whether this product is past what the program's integers hold once they shift it by a word. */
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

/** Input left for the curve once the fee is set aside, rounded down. */
export const lessFee = (amount: bigint, feeRate: bigint): bigint =>
  (amount * (FEE_DENOMINATOR - feeRate)) / FEE_DENOMINATOR

/** Fee on top of a net input, rounded up. */
export const feeOnTop = (amount: bigint, feeRate: bigint): bigint =>
  ceilDiv(amount * feeRate, FEE_DENOMINATOR - feeRate)

/** Fee inside a gross amount, rounded up. */
export const feeWithin = (amount: bigint, feeRate: bigint): bigint => ceilDiv(amount * feeRate, FEE_DENOMINATOR)

const between = (stretch: Stretch, to: bigint, input: boolean): bigint => {
  const low = stretch.down ? to : stretch.sqrtPrice
  const high = stretch.down ? stretch.sqrtPrice : to
  return stretch.down === input
    ? amountOfA(stretch.liquidity, low, high, input)
    : amountOfB(stretch.liquidity, low, high, input)
}

/** Whether the amount of A between the price and `to` overflows the program. */
const overflowsTo = (stretch: Stretch, to: bigint): boolean => {
  const distance = stretch.down ? stretch.sqrtPrice - to : to - stretch.sqrtPrice
  return overflows(stretch.liquidity * distance)
}

const priceAfterInput = (stretch: Stretch, wide: boolean, amount: bigint): bigint | null => {
  const { liquidity, sqrtPrice } = stretch
  if (amount === 0n) {
    return sqrtPrice
  }
  if (!stretch.down) {
    return priceAfterBIn(liquidity, sqrtPrice, amount)
  }
  return wide && overflows(liquidity * sqrtPrice) ? null : priceAfterAIn(liquidity << Q64, sqrtPrice, amount)
}

/** Rounded against the trader: A out rounds the price up, B out rounds it down. */
const priceAfterOutput = (rules: StepRules, stretch: Stretch, wide: boolean, amount: bigint): bigint | null => {
  const { liquidity, sqrtPrice } = stretch
  if (amount === 0n) {
    return sqrtPrice
  }
  if (stretch.down) {
    const price = sqrtPrice - ceilDiv(amount << Q64, liquidity)
    return price < 0n ? null : price
  }
  const liquidityX64 = liquidity << Q64
  const rest = liquidityX64 - amount * sqrtPrice
  if (rest <= 0n || (wide && overflows(liquidity * sqrtPrice))) {
    return null
  }
  const price = ceilDiv(liquidityX64 * sqrtPrice, rest)
  return price > rules.highestSqrtPrice ? null : price
}

const stepIn = (rules: StepRules, stretch: Stretch, remaining: bigint): Step | null => {
  const { down, feeOnInput, feeRate, target } = stretch
  const wide = isWide(rules, stretch.liquidity)
  if (wide && down && overflowsTo(stretch, target)) {
    return null
  }
  const usable = feeOnInput ? lessFee(remaining, feeRate) : remaining
  const whole = between(stretch, target, true)
  const reached = usable >= whole
  const sqrtPrice = reached ? target : priceAfterInput(stretch, wide, usable)
  if (sqrtPrice === null || (wide && !down && overflowsTo(stretch, sqrtPrice))) {
    return null
  }
  const gross = between(stretch, sqrtPrice, false)
  if (gross > MAX_U64) {
    return null
  }
  const amountIn = reached ? whole : between(stretch, sqrtPrice, true)
  if (!feeOnInput) {
    const fee = feeWithin(gross, feeRate)
    return { sqrtPrice, amountIn: reached ? whole : remaining, amountOut: gross - fee, fee }
  }
  return { sqrtPrice, amountIn, amountOut: gross, fee: reached ? feeOnTop(whole, feeRate) : remaining - amountIn }
}

/** What the curve must pay so that `net` is left once the fee is taken from it, rounded up. */
export const grossOf = (net: bigint, feeRate: bigint): bigint =>
  ceilDiv(net * FEE_DENOMINATOR, FEE_DENOMINATOR - feeRate)

const stepOut = (rules: StepRules, stretch: Stretch, remaining: bigint): Step | null => {
  const { down, feeOnInput, feeRate, target } = stretch
  const wide = isWide(rules, stretch.liquidity)
  if (wide && !down && overflowsTo(stretch, target)) {
    return null
  }
  const wanted = feeOnInput ? remaining : grossOf(remaining, feeRate)
  const sqrtPrice = wanted >= between(stretch, target, false) ? target : priceAfterOutput(rules, stretch, wide, wanted)
  if (sqrtPrice === null || wanted > MAX_U64 || (wide && down && overflowsTo(stretch, sqrtPrice))) {
    return null
  }
  const amountIn = between(stretch, sqrtPrice, true)
  const gross = between(stretch, sqrtPrice, false)
  const fee = feeOnInput ? feeOnTop(amountIn, feeRate) : feeWithin(gross, feeRate)
  if (amountIn > MAX_U64 || gross > MAX_U64 || fee > MAX_U64) {
    return null
  }
  // What the roundings leave over is kept by the pool, as fee where the fee is part of the output.
  const amountOut = minBigInt(feeOnInput ? gross : gross - fee, remaining)
  return { sqrtPrice, amountIn, amountOut, fee: feeOnInput ? fee : gross - amountOut }
}

/** Moves the price along the stretch by at most `remaining` units in (or out), as the programs do; null when they refuse. */
export const step = (rules: StepRules, stretch: Stretch, remaining: bigint, exactIn: boolean): Step | null =>
  exactIn ? stepIn(rules, stretch, remaining) : stepOut(rules, stretch, remaining)

/**
 * Fees that DAMM v2 and the bonding curve compute in the same way. Rates are numerators over 1e9. MeteoraAg/damm-v2,
 * programs/cp-amm/src/{base_fee,math,state/fee.rs} at a3d3827; MeteoraAg/dynamic-bonding-curve,
 * programs/dynamic-bonding-curve/src/{base_fee,state} at b4f9547.
 */
import { MAX_U64 } from "../../domain/Amount.ts"
import { BPS } from "../../domain/units.ts"
import { ceilDiv, minBigInt, squareRoot } from "../math/integers.ts"
import { powerQ64 } from "../math/powerQ64.ts"

export const FEE_DENOMINATOR = 1_000_000_000n

const ONE_Q64 = 1n << 64n
// Accumulator and bin step are in basis points, so a squared product must be divided by 1e20 to become a multiple of
// 1e-9.
const VARIABLE_FEE_SCALE = 100_000_000_000n

/** The amount less its fee. The fee is rounded up. */
export const withoutFee = (amount: bigint, rate: bigint): bigint => amount - ceilDiv(amount * rate, FEE_DENOMINATOR)

/** The smallest amount that leaves at least `amount` after its fee. */
export const withFee = (amount: bigint, rate: bigint): bigint =>
  ceilDiv(amount * FEE_DENOMINATOR, FEE_DENOMINATOR - rate)

/** The part of the rate that follows volatility: ceil(control·(accumulator·binStep)² / 1e11). */
export const variableRate = (accumulator: bigint, binStep: bigint, control: bigint): bigint => {
  const swing = accumulator * binStep
  return ceilDiv(swing * swing * control, VARIABLE_FEE_SCALE)
}

/** A rate that falls once per period, by a fixed step or by a share. */
export interface Schedule {
  readonly cliff: bigint
  readonly periods: bigint
  /** Subtracted per period. When `exponential`, the basis points lost per period. */
  readonly reduction: bigint
  readonly exponential: boolean
}

/**
 * The scheduled rate after `passed` periods, or after the last period if that is earlier. Null when the programs
 * overflow.
 */
export const scheduledRate = (schedule: Schedule, passed: bigint): bigint | null => {
  const { cliff, exponential, reduction } = schedule
  const periods = minBigInt(passed, schedule.periods)
  if (!exponential) {
    const rate = cliff - reduction * periods
    return rate < 0n ? null : rate
  }
  if (reduction === 0n) {
    return cliff
  }
  const kept = ONE_Q64 - (reduction << 64n) / BPS
  const power = kept < 0n ? null : powerQ64(kept, Number(periods))
  return power === null ? null : (power * cliff) >> 64n
}

/** A rate that grows with the amount: one `increment` for every `reference` beyond the first. */
export interface RateLimiter {
  readonly cliff: bigint
  readonly increment: bigint
  /** Units of the input, including fees. */
  readonly reference: bigint
  readonly maximum: bigint
}

/** How many whole references still raise the rate. Beyond them the maximum applies. */
const rises = ({ cliff, increment, maximum }: RateLimiter): bigint => (maximum - cliff) / increment

/** The average rate for an input that includes fees. Null when the programs overflow. */
export const limitedRate = (limiter: RateLimiter, amount: bigint): bigint | null => {
  const { cliff, increment, maximum, reference } = limiter
  if (amount <= reference) {
    return cliff
  }
  if (increment === 0n || reference === 0n || maximum < cliff) {
    return null
  }
  const beyond = amount - reference
  const top = rises(limiter)
  const whole = minBigInt(beyond / reference, top)
  const rest = beyond - whole * reference
  const restRate = whole < top ? cliff + increment * (whole + 1n) : maximum
  // Sum of the rates of the first `whole + 1` references, an arithmetic series.
  const series = cliff * (whole + 1n) + (increment * whole * (whole + 1n)) / 2n
  const fee = ceilDiv(reference * series + rest * restRate, FEE_DENOMINATOR)
  const rate = ceilDiv(fee * FEE_DENOMINATOR, amount)
  return fee > MAX_U64 || rate > MAX_U64 ? null : rate
}

const leftBy = (limiter: RateLimiter, amount: bigint): bigint | null => {
  const rate = limitedRate(limiter, amount)
  return rate === null ? null : withoutFee(amount, rate)
}

/**
 * The input, within the rising part, that leaves `net`: the smaller root of increment·x² - y·x + 2·net·1e9·reference
 * = 0.
 */
const inputOnTheRise = (limiter: RateLimiter, net: bigint): bigint | null => {
  const { cliff, increment, reference } = limiter
  const y = (2n * FEE_DENOMINATOR + increment - 2n * cliff) * reference
  const discriminant = y * y - 8n * increment * net * FEE_DENOMINATOR * reference
  if (discriminant < 0n) {
    return null
  }
  const whole = (y - squareRoot(discriminant)) / (2n * increment)
  const left = leftBy(limiter, whole)
  const rate = cliff + increment * (whole / reference)
  return left === null || left > net || rate >= FEE_DENOMINATOR ? null : whole + withFee(net - left, rate)
}

/** The average rate for the input that leaves `net` after its fee, as the programs solve it. Null when they fail. */
export const limitedRateOfNet = (limiter: RateLimiter, net: bigint): bigint | null => {
  const { cliff, increment, maximum, reference } = limiter
  if (net <= withoutFee(reference, cliff)) {
    return cliff
  }
  if (increment === 0n || reference === 0n || maximum < cliff) {
    return null
  }
  const top = (rises(limiter) + 1n) * reference
  const full = minBigInt(top, MAX_U64)
  const leftByFull = leftBy(limiter, full)
  if (leftByFull === null || net === leftByFull) {
    return limitedRate(limiter, full)
  }
  if (net > leftByFull && top > MAX_U64) {
    return null
  }
  const input = net < leftByFull ? inputOnTheRise(limiter, net) : full + withFee(net - leftByFull, maximum)
  if (input === null || input > MAX_U64) {
    return null
  }
  const rate = ceilDiv((input - net) * FEE_DENOMINATOR, input)
  return rate < cliff ? null : rate
}

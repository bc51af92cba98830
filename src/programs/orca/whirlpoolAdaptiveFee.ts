/** The adaptive fee of an Orca Whirlpool during a swap. */
import {
  accumulatorAt,
  adaptiveRate,
  coreRadius,
  type Reference,
  type Regime,
  regimeAfter,
  type Volatility
} from "../math/adaptiveFee.ts"
import type { FeeSchedule } from "../math/swapPath.ts"
import { floorDiv, MAX_TICK, MIN_TICK } from "../math/ticks.ts"
import type { OracleState } from "./whirlpoolLayout.ts"
import { whirlpoolSqrtPriceAt, whirlpoolTickAt } from "./whirlpoolTicks.ts"

/** A reference is reset after this many seconds, however frequent swaps were. */
const MAX_REFERENCE_AGE = 3600

/**
 * The regime of a swap at this second. If the clock is behind the oracle's last write, the time of that write is
 * used, because the program never sees an earlier time.
 */
export const whirlpoolRegime = (oracle: OracleState, now: number): Regime => {
  const last = Math.max(oracle.referenceUpdatedAt, oracle.majorSwapAt)
  const at = Math.max(now, last)
  return at - oracle.referenceUpdatedAt > MAX_REFERENCE_AGE ? "reset" : regimeAfter(oracle, at - last)
}

interface Bound {
  readonly group: number
  readonly sqrtPrice: bigint
}

const boundOf = (group: number, tick: number): Bound | null =>
  tick > MIN_TICK && tick < MAX_TICK ? { group, sqrtPrice: whirlpoolSqrtPriceAt(tick) } : null

/**
 * The outermost groups where the accumulator still changes, with the prices at their far ends. Null beyond the last
 * ticks.
 */
const coreOf = (volatility: Volatility, reference: Reference) => {
  const radius = coreRadius(volatility, reference)
  const { groupSize } = volatility
  const [low, high] = [reference.group - radius, reference.group + radius]
  return { lower: boundOf(low, low * groupSize), upper: boundOf(high, (high + 1) * groupSize) }
}

/** Returns the price that the swap meets first. */
const nearer = (down: boolean, a: bigint, b: bigint): bigint => (a > b === down ? a : b)

const clamp = (tick: number): number => Math.max(MIN_TICK, Math.min(MAX_TICK, tick))

/**
 * The fee of a swap that starts at `tick`. A step ends with the group, unless that changes nothing: without
 * liquidity, and outside the groups where the accumulator changes.
 */
export const whirlpoolAdaptiveFee =
  (base: bigint, volatility: Volatility, reference: Reference, tick: number, down: boolean): (() => FeeSchedule) =>
  () => {
    const { control, groupSize } = volatility
    const { lower, upper } = coreOf(volatility, reference)
    let group = floorDiv(tick, groupSize)
    let skips = false

    /** The price up to which groups can be skipped; null when they must be counted. */
    const skipTo = (target: bigint, liquidity: bigint): bigint | null => {
      if (control === 0n || liquidity === 0n) {
        return target
      }
      if (lower !== null && group < lower.group) {
        return down ? target : nearer(down, target, lower.sqrtPrice)
      }
      if (upper !== null && group > upper.group) {
        return down ? nearer(down, target, upper.sqrtPrice) : target
      }
      return null
    }

    return {
      rateToward: (target, liquidity) => {
        const feeRate = adaptiveRate(base, volatility, accumulatorAt(volatility, reference, group))
        const skip = skipTo(target, liquidity)
        skips = skip !== null
        const end = whirlpoolSqrtPriceAt(clamp((down ? group : group + 1) * groupSize))
        return { feeRate, until: skip ?? nearer(down, target, end) }
      },
      priceMoved: (sqrtPrice, next, nextPrice) => {
        if (skips) {
          group = floorDiv(sqrtPrice === nextPrice ? next : whirlpoolTickAt(sqrtPrice), groupSize)
          group -= down ? 1 : 0
        } else {
          group += down ? -1 : 1
        }
      }
    }
  }

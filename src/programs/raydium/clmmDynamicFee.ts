/** The dynamic fee of a Raydium CLMM pool during a swap. Its groups are one tick spacing wide. */
import { accumulatorAt, adaptiveRate, type Reference, type Volatility } from "../math/adaptiveFee.ts"
import type { FeeSchedule } from "../math/swapPath.ts"
import { raydiumSqrtPriceAt } from "./clmmTicks.ts"
import { floorDiv, MAX_TICK, MIN_TICK } from "../math/ticks.ts"

const clamp = (tick: number): number => Math.max(MIN_TICK, Math.min(MAX_TICK, tick))

/**
 * The fee of a swap that starts at `tick`. A step ends with the group, except when there is no liquidity and once the
 * accumulator is at its maximum. Such a step ends at a tick, where the group is computed again.
 */
export const clmmDynamicFee =
  (base: bigint, volatility: Volatility, reference: Reference, tick: number, down: boolean): (() => FeeSchedule) =>
  () => {
    const { groupSize, maxAccumulator } = volatility
    let group = floorDiv(tick, groupSize)
    let skips = false
    return {
      rateToward: (target, liquidity) => {
        const accumulator = accumulatorAt(volatility, reference, group)
        const feeRate = adaptiveRate(base, volatility, accumulator)
        skips = liquidity === 0n || accumulator === maxAccumulator
        if (skips) {
          return { feeRate, until: target }
        }
        const end = raydiumSqrtPriceAt(clamp((down ? group : group + 1) * groupSize))
        return { feeRate, until: target > end === down ? target : end }
      },
      priceMoved: (sqrtPrice, next, nextPrice) => {
        // A step that skipped groups without reaching its tick was the last one.
        if (skips && sqrtPrice === nextPrice) {
          group = floorDiv(next, groupSize)
          group -= !down && next % groupSize === 0 ? 1 : 0
        }
        group += down ? -1 : 1
      }
    }
  }

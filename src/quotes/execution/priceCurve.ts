/** A sample of what a pool pays, by which routes are chosen. Amounts between two samples are estimates. */
import type { Rate } from "../../programs/interface/Program.ts"
import type { SwapOrder, SwapResult } from "./executeSwap.ts"

/** How far below the input vault's balance each sampled amount is, in powers of two. */
const SHIFTS: ReadonlyArray<bigint> = [22n, 19n, 16n, 13n, 10n, 7n, 4n, 1n]
/** The balance that samples assume when the vault is empty. */
const ASSUMED = 2n ** 40n

/** The amounts that are sampled against a vault with this balance: eight, ascending. */
export const sampledAmounts = (balance: bigint): ReadonlyArray<bigint> =>
  SHIFTS.map((shift) => (balance > 0n ? balance : ASSUMED) >> shift).filter(
    (amount, index, all) => amount > 0n && amount !== all[index - 1]
  )

/** What a pool paid for the sampled amounts in one direction. Amounts ascend. */
export interface PriceCurve {
  readonly points: ReadonlyArray<{ readonly amountIn: bigint; readonly amountOut: bigint }>
  /** The program's error where it paid nothing at all; null when it paid for some amount. */
  readonly error: string | null
}

export const curveOf = (orders: ReadonlyArray<SwapOrder>, results: ReadonlyArray<SwapResult>): PriceCurve => {
  const points = results.flatMap((result) =>
    "error" in result || result.amountOut <= 0n || result.amountIn <= 0n ? [] : [result]
  )
  const failed = results.find((result) => "error" in result)
  return {
    points: points
      .map(({ amountIn, amountOut }) => ({ amountIn, amountOut }))
      .toSorted((a, b) => (a.amountIn < b.amountIn ? -1 : 1)),
    error:
      points.length > 0
        ? null
        : failed !== undefined && "error" in failed
          ? failed.error
          : `it pays nothing for ${orders.length} amounts`
  }
}

/** What the pool probably pays for an amount, rounded down. Beyond the last sample, what it paid there. */
export const estimate = ({ points }: PriceCurve, amountIn: bigint): bigint => {
  let before = { amountIn: 0n, amountOut: 0n }
  for (const point of points) {
    if (amountIn <= point.amountIn) {
      const width = point.amountIn - before.amountIn
      return width === 0n
        ? point.amountOut
        : before.amountOut + ((point.amountOut - before.amountOut) * (amountIn - before.amountIn)) / width
    }
    before = point
  }
  return before.amountOut
}

/**
 * The most that the pool may pay for an amount: the rate of the next smaller sample, because rates fall with the
 * amount. Below the first sample, one percent more than its rate.
 */
export const mostFor = ({ points }: PriceCurve, amountIn: bigint): bigint => {
  const smaller = points.findLast((point) => point.amountIn <= amountIn)
  const [first] = points
  if (smaller !== undefined) {
    // The sample was rounded down to whole units.
    return ((smaller.amountOut + 1n) * amountIn) / smaller.amountIn
  }
  return first === undefined ? 0n : ((first.amountOut + 1n) * amountIn * 101n) / (first.amountIn * 100n) + 1n
}

/** The rate of the smallest sample; 0/0 without one. */
export const smallestRate = ({ points: [first] }: PriceCurve): Rate =>
  first === undefined ? { numerator: 0n, denominator: 0n } : { numerator: first.amountOut, denominator: first.amountIn }

/**
 * Quotes one direction of a DLMM pair with one binary search and one partial bin.
 *
 * Passing a bin costs the same whatever the amount, because its fee depends only on its distance from the reference
 * bin. A swap goes on to the next bin when more than the bin's capacity is left after the fee. So cumulative sums of
 * cost and payout price every amount exactly. The table grows only as far as amounts have needed.
 */
import { MAX_U64 } from "../../domain/Amount.ts"
import type { Bin } from "./dlmmBins.ts"
import { dlmmRate, type DlmmReference } from "./dlmmFees.ts"
import type { DlmmPair } from "./dlmmPair.ts"
import { dlmmFeeOnInput, fillBin, inputFor } from "./dlmmSwap.ts"
import { withFee, withoutFee } from "./fees.ts"

/** A bin, with what it costs to empty it and what it pays, before fees. */
interface Rung {
  readonly bin: Bin
  readonly wholeIn: bigint
  readonly wholeOut: bigint
}

/** The bins of one direction, as far as they have been read. */
export interface Ladder {
  readonly sellsX: boolean
  readonly rungAt: (position: number) => Rung | undefined
}

const rungOf = (bin: Bin, sellsX: boolean): Rung | undefined => {
  let wholeIn = 0n
  let wholeOut = 0n
  for (const layer of bin.layers) {
    const layerIn = inputFor(layer, bin.price, sellsX)
    // The program cannot hold such an amount, so the bins end here.
    if (layerIn > MAX_U64) {
      return undefined
    }
    wholeIn += layerIn
    wholeOut += layer
  }
  return { bin, wholeIn, wholeOut }
}

/** Makes a ladder from bins in the order that a swap meets them. */
export const makeLadder = (sellsX: boolean, bins: Iterator<Bin, void>): Ladder => {
  const rungs: Array<Rung> = []
  let ended = false
  const grow = (): boolean => {
    const next = ended ? undefined : bins.next()
    const rung = next === undefined || next.done === true ? undefined : rungOf(next.value, sellsX)
    if (rung === undefined) {
      ended = true
      return false
    }
    rungs.push(rung)
    return true
  }
  return {
    sellsX,
    rungAt: (position) => {
      let grown = true
      while (grown && rungs.length <= position) {
        grown = grow()
      }
      return rungs[position]
    }
  }
}

/** A swap on a pair without transfer fees: what it took, what it paid, and whether it took everything. */
export interface DlmmTotals {
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly complete: boolean
}

interface Step {
  readonly bin: Bin
  readonly rate: bigint
  /** The smallest total input that passes this bin. */
  readonly passes: bigint
  /** Totals of a swap when it reaches this bin. */
  readonly startIn: bigint
  readonly startOut: bigint
}

const firstNotPassed = (steps: ReadonlyArray<Step>, amountIn: bigint): Step | undefined => {
  let low = 0
  let high = steps.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const step = steps[middle]
    if (step !== undefined && step.passes <= amountIn) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return steps[low]
}

/** Quotes inputs against one reference. Valid as long as neither the pair nor the reference changes. */
export const makeTable = (pair: DlmmPair, reference: DlmmReference, ladder: Ladder) => {
  const { sellsX } = ladder
  const feeOnInput = dlmmFeeOnInput(pair, sellsX)
  const steps: Array<Step> = []
  let endIn = 0n
  let endOut = 0n
  let passes = 0n

  /** Adds a bin. Returns the smallest input that passes the table; null when there is no further bin. */
  const grow = (): bigint | null => {
    const rung = ladder.rungAt(steps.length)
    if (rung === undefined) {
      return null
    }
    const { bin, wholeIn, wholeOut } = rung
    const rate = dlmmRate(pair, reference, bin.id)
    // An input passes when it exceeds the capacity by at least one unit after the fee.
    passes = endIn + (feeOnInput ? withFee(wholeIn + 1n, rate) : wholeIn + 1n)
    steps.push({ bin, rate, passes, startIn: endIn, startOut: endOut })
    endIn += feeOnInput ? withFee(wholeIn, rate) : wholeIn
    endOut += feeOnInput ? wholeOut : withoutFee(wholeOut, rate)
    return passes
  }

  return (amountIn: bigint): DlmmTotals => {
    let reached: bigint | null = passes
    while (reached !== null && reached <= amountIn) {
      reached = grow()
    }
    const step = firstNotPassed(steps, amountIn)
    if (step === undefined) {
      return { amountIn: endIn, amountOut: endOut, complete: false }
    }
    const fill = fillBin(step.bin, step.rate, sellsX, feeOnInput, amountIn - step.startIn)
    return { amountIn, amountOut: step.startOut + fill.amountOut, complete: true }
  }
}

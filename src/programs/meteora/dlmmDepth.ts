/** Fee and depth of a DLMM pair around its price. */
import type { PriceMove, Rate } from "../interface/Program.ts"
import { binPrice } from "./dlmmBins.ts"
import { dlmmRate, type DlmmReference, dlmmReference } from "./dlmmFees.ts"
import type { DlmmPair } from "./dlmmPair.ts"
import { dlmmFeeOnInput } from "./dlmmSwap.ts"
import type { Ladder } from "./dlmmTable.ts"
import { FEE_DENOMINATOR, withFee } from "./fees.ts"

/** Fee of a swap in the active bin. */
export const dlmmFeeRate = (pair: DlmmPair, unixTimestamp: number): Rate => ({
  numerator: dlmmRate(pair, dlmmReference(pair, unixTimestamp), pair.activeId),
  denominator: FEE_DENOMINATOR
})

/**
 * The input that empties every bin where the sold token's price is at least this share of its price in the active
 * bin. `edge` is the last known bin; null when no liquidity lies beyond the ladder.
 */
export const dlmmInputTo = (
  pair: DlmmPair,
  ladder: Ladder,
  share: Rate,
  reference: DlmmReference,
  edge: number | null
): PriceMove => {
  const active = binPrice(pair.activeId, pair.binStep)
  if (active === null) {
    return { amountIn: 0n, complete: false }
  }
  const feeOnInput = dlmmFeeOnInput(pair, ladder.sellsX)
  const isWithin = (price: bigint) =>
    ladder.sellsX
      ? price * share.denominator >= active * share.numerator
      : active * share.denominator >= price * share.numerator
  let amountIn = 0n
  for (let position = 0; ; position++) {
    const rung = ladder.rungAt(position)
    if (rung === undefined) {
      const last = edge === null ? null : binPrice(edge, pair.binStep)
      return { amountIn, complete: edge === null || (last !== null && !isWithin(last)) }
    }
    if (!isWithin(rung.bin.price)) {
      return { amountIn, complete: true }
    }
    amountIn += feeOnInput ? withFee(rung.wholeIn, dlmmRate(pair, reference, rung.bin.id)) : rung.wholeIn
  }
}

/** The fee that a Token-2022 mint withholds from every transfer, by epoch. */
import { MAX_U64 } from "../../domain/Amount.ts"
import { BPS } from "../../domain/units.ts"
import { type Pool, refused, type Swap } from "../interface/Program.ts"
import type { PairFees, TransferFee, TransferFees } from "../layout/tokenAccount.ts"
import { ceilDiv, minBigInt } from "./integers.ts"

const feeIn = (fees: TransferFees, epoch: number): TransferFee =>
  BigInt(epoch) >= fees.newer.epoch ? fees.newer : fees.older

/** What arrives after a transfer of `amount`: min(maximum, ceil(amount·bps/10000)) is withheld. */
export const afterTransfer = (fees: TransferFees | null, amount: bigint, epoch: number): bigint => {
  if (fees === null) {
    return amount
  }
  const { bps, maximum } = feeIn(fees, epoch)
  return amount - minBigInt(ceilDiv(amount * bps, BPS), maximum)
}

/**
 * How many ten-thousandths of an infinitely small transfer arrive: the slope of `afterTransfer`, ignoring its cap.
 */
export const keptBps = (fees: TransferFees | null, epoch: number): bigint => {
  if (fees === null) {
    return BPS
  }
  const { bps, maximum } = feeIn(fees, epoch)
  return maximum === 0n ? BPS : BPS - bps
}

/** True when any setting of the mint withholds something. */
export const takesFee = (fees: TransferFees | null): boolean =>
  fees !== null && [fees.older, fees.newer].some(({ bps, maximum }) => bps > 0n && maximum > 0n)

/**
 * The amount to send so that `amount` arrives, computed as spl-token-2022 inverts its fee: the smaller of two
 * solutions.
 */
export const beforeTransfer = (fees: TransferFees | null, amount: bigint, epoch: number): bigint => {
  if (fees === null || amount === 0n) {
    return amount
  }
  const { bps, maximum } = feeIn(fees, epoch)
  if (bps === 0n) {
    return amount
  }
  return bps >= BPS ? amount + maximum : minBigInt(amount + maximum, ceilDiv(amount * BPS, BPS - bps))
}

/** The share of a small swap that remains when neither mint charges a fee. */
const WHOLE = BPS * BPS

const isAmount = (amount: bigint): boolean => amount > 0n && amount <= MAX_U64

/** A pool's quotes, in amounts that leave and reach the pool itself. */
type InnerPrices = Pick<Pool, "swap" | "marginalRate" | "swapExactOut" | "feeRate"> & Required<Pick<Pool, "inputTo">>

/**
 * A pool's quotes as traders see them: in amounts that leave and reach the trader's accounts.
 *
 * @param mints transfer fees of A and B
 * @param inner quotes without those fees; called with positive amounts of at most u64
 * @param refusesNothing true when the program refuses a swap because nothing reaches the trader
 */
export const withTransferFees = (
  { a, b }: Pick<PairFees, "a" | "b">,
  inner: InnerPrices,
  refusesNothing = false
): InnerPrices => {
  const { swapExactOut } = inner
  return {
    ...inner,
    swap: (aToB, amountIn, clock) => {
      const received = afterTransfer(aToB ? a : b, amountIn, clock.epoch)
      const swap = isAmount(received) ? inner.swap(aToB, received, clock) : refused
      if (swap.ending === "refused") {
        return refused
      }
      const amountOut = afterTransfer(aToB ? b : a, swap.amountOut, clock.epoch)
      if (swap.ending === "exhausted") {
        return { ending: "exhausted", amountIn: beforeTransfer(aToB ? a : b, swap.amountIn, clock.epoch), amountOut }
      }
      return refusesNothing && amountOut === 0n ? refused : { ending: "filled", amountIn, amountOut }
    },
    ...(swapExactOut !== undefined && {
      swapExactOut: (aToB, amountOut, clock): Swap => {
        const [input, output] = aToB ? [a, b] : [b, a]
        const gross = beforeTransfer(output, amountOut, clock.epoch)
        const swap = isAmount(gross) ? swapExactOut(aToB, gross, clock) : refused
        const sent = beforeTransfer(input, swap.amountIn, clock.epoch)
        return swap.ending === "refused" || sent > MAX_U64
          ? refused
          : { ending: swap.ending, amountIn: sent, amountOut: afterTransfer(output, swap.amountOut, clock.epoch) }
      }
    }),
    marginalRate: (aToB, clock) => {
      const { denominator, numerator } = inner.marginalRate(aToB, clock)
      const kept = keptBps(a, clock.epoch) * keptBps(b, clock.epoch)
      return { numerator: numerator * kept, denominator: denominator * WHOLE }
    },
    inputTo: (aToB, share, clock) => {
      const { amountIn, complete } = inner.inputTo(aToB, share, clock)
      return { amountIn: beforeTransfer(aToB ? a : b, amountIn, clock.epoch), complete }
    }
  }
}

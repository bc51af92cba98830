/** The transfer fee of Token-2022 that a mint withholds from every transfer, by epoch. */
import { BPS } from "../../domain/units.ts"
import { ceilDiv, minBigInt } from "./integers.ts"

/** One fee setting of a mint. */
export interface TransferFee {
  /** First epoch in which it may apply. */
  readonly epoch: bigint
  /** The most it takes of one transfer, in units of the mint. */
  readonly maximum: bigint
  readonly bps: bigint
}

/** The fee settings of a mint: `newer` from its epoch on, `older` before. */
export interface TransferFees {
  readonly older: TransferFee
  readonly newer: TransferFee
}

const feeIn = (fees: TransferFees, epoch: number): TransferFee =>
  BigInt(epoch) >= fees.newer.epoch ? fees.newer : fees.older

/** The amount that arrives of a transfer of `amount`: min(maximum, ceil(amount·bps/10000)) is withheld. */
export const afterTransfer = (fees: TransferFees | null, amount: bigint, epoch: number): bigint => {
  if (fees === null) {
    return amount
  }
  const { bps, maximum } = feeIn(fees, epoch)
  return amount - minBigInt(ceilDiv(amount * bps, BPS), maximum)
}

/** Ten-thousandths of a vanishingly small transfer that arrive: the slope of `afterTransfer`, without its cap. */
export const keptBps = (fees: TransferFees | null, epoch: number): bigint => {
  if (fees === null) {
    return BPS
  }
  const { bps, maximum } = feeIn(fees, epoch)
  return maximum === 0n ? BPS : BPS - bps
}

/** True when any setting of the mint takes something. */
export const takesFee = (fees: TransferFees | null): boolean =>
  fees !== null && [fees.older, fees.newer].some(({ bps, maximum }) => bps > 0n && maximum > 0n)

/** The transfer that lets `amount` arrive, as spl-token-2022 inverts its fee: the smaller of the two solutions. */
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

/** Both mints of a pool in one direction. */
export interface Transfers {
  /** The amount that the pool receives of an amount sent to it. */
  readonly received: (amount: bigint, epoch: number) => bigint
  /** The amount to send for the pool to receive an amount. */
  readonly sent: (amount: bigint, epoch: number) => bigint
  /** The amount that the trader receives of what the pool pays. */
  readonly paid: (amount: bigint, epoch: number) => bigint
  /** Share of in times out that both transfers leave, in 1e-8, for vanishingly small amounts. */
  readonly kept: (epoch: number) => bigint
}

/** The transfers of a swap that takes one mint and pays another. */
export const transfersOf = (input: TransferFees | null, output: TransferFees | null): Transfers => ({
  received: (amount, epoch) => afterTransfer(input, amount, epoch),
  sent: (amount, epoch) => beforeTransfer(input, amount, epoch),
  paid: (amount, epoch) => afterTransfer(output, amount, epoch),
  kept: (epoch) => keptBps(input, epoch) * keptBps(output, epoch)
})

/** `kept` of a pool whose mints charge nothing. */
export const WHOLE = BPS * BPS

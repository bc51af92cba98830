/** The transfer fee of Token-2022: what a mint withholds from every transfer, by epoch. */
import { BPS } from "../../domain/units.ts"

/** One fee setting of a mint. */
export interface TransferFee {
  /** First epoch in which it may apply. */
  readonly epoch: bigint
  /** The most it takes of one transfer, in units of the mint. */
  readonly maximum: bigint
  readonly bps: bigint
}

/** What a mint charges: `newer` from its epoch on, `older` before. */
export interface TransferFees {
  readonly older: TransferFee
  readonly newer: TransferFee
}

const feeIn = (fees: TransferFees, epoch: number): TransferFee =>
  BigInt(epoch) >= fees.newer.epoch ? fees.newer : fees.older

/** What arrives of a transfer of `amount`: min(maximum, ceil(amount·bps/10000)) is withheld. */
export const afterTransfer = (fees: TransferFees | null, amount: bigint, epoch: number): bigint => {
  if (fees === null) {
    return amount
  }
  const { bps, maximum } = feeIn(fees, epoch)
  const fee = (amount * bps + BPS - 1n) / BPS
  return amount - (fee < maximum ? fee : maximum)
}

/** Ten-thousandths of a vanishingly small transfer that arrive: the slope of `afterTransfer`, without its cap. */
export const keptBps = (fees: TransferFees | null, epoch: number): bigint => {
  if (fees === null) {
    return BPS
  }
  const { bps, maximum } = feeIn(fees, epoch)
  return maximum === 0n ? BPS : BPS - bps
}

/** Whether any setting the mint carries takes something. */
export const takesFee = (fees: TransferFees | null): boolean =>
  fees !== null && [fees.older, fees.newer].some(({ bps, maximum }) => bps > 0n && maximum > 0n)

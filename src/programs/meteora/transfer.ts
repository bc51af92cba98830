/** What Meteora pools need of Token-2022 transfer fees: read only where the pool says the mint may have one. */
import type { Mint } from "../../domain/Address.ts"
import { BPS } from "../../domain/units.ts"
import { ceilDiv, minBigInt } from "../math/integers.ts"
import type { Accounts, Unpriceable } from "../Program.ts"
import { readMint } from "../math/tokenAccount.ts"
import { afterTransfer, keptBps, type TransferFees } from "../math/transferFee.ts"
import { isFailure } from "../math/unpriceable.ts"

/** A mint's transfer fees and the slot they were read at; no fees and slot 0 where the mint cannot have any. */
export interface MintFees {
  readonly fees: TransferFees | null
  readonly slot: number
}

const WITHOUT: MintFees = { fees: null, slot: 0 }

/** Transfer fees of a mint. A mint of the classic Token program charges none, so it need not have been read. */
export const readMintFees = (accounts: Accounts, mint: Mint, isToken2022: boolean): MintFees | Unpriceable => {
  if (!isToken2022) {
    return WITHOUT
  }
  const read = readMint(accounts, mint)
  return isFailure(read) ? read : { fees: read.transferFees, slot: read.slot }
}

/** The transfer that lets `amount` arrive, as spl-token-2022 inverts its fee; the smaller of two answers. */
export const beforeTransfer = (fees: TransferFees | null, amount: bigint, epoch: number): bigint => {
  if (fees === null || amount === 0n) {
    return amount
  }
  const { bps, maximum } = BigInt(epoch) >= fees.newer.epoch ? fees.newer : fees.older
  if (bps === 0n) {
    return amount
  }
  return bps >= BPS ? amount + maximum : minBigInt(amount + maximum, ceilDiv(amount * BPS, BPS - bps))
}

/** Both mints of a pool in one direction. */
export interface Transfers {
  /** What the pool receives of an amount sent to it. */
  readonly received: (amount: bigint, epoch: number) => bigint
  /** What must be sent for the pool to receive an amount. */
  readonly sent: (amount: bigint, epoch: number) => bigint
  /** What the trader receives of an amount the pool pays. */
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

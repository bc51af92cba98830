/** Constant product, x·y = k, and the swap that Raydium's two constant-product programs share. */
import { ceilDiv } from "./integers.ts"
import { productInputTo } from "./priceMove.ts"
import type { PriceMove, Rate, Swap } from "../Program.ts"
import { afterTransfer, beforeTransfer, keptBps, type TransferFees } from "./transferFee.ts"

/** A swap that the program refuses: zero amounts. */
export const refused: Swap = { ending: "refused", amountIn: 0n, amountOut: 0n }

/** floor(reserveOut·net / (reserveIn + net)), the output for `net` units of input after fees. */
export const outputFor = (net: bigint, reserveIn: bigint, reserveOut: bigint): bigint =>
  (reserveOut * net) / (reserveIn + net)

/** One direction through a pool whose fees are a share of the input, of the output, or of both. */
export interface Side {
  readonly reserveIn: bigint
  readonly reserveOut: bigint
  /** Shares of `scale`; each fee is rounded up. */
  readonly feeOnInput: bigint
  readonly feeOnOutput: bigint
  readonly scale: bigint
  readonly transferFeesIn: TransferFees | null
  readonly transferFeesOut: TransferFees | null
}

/** Sells `amountIn`: transfer fee, swap fee, curve, output fee, transfer fee. A payout of zero is refused. */
export const sell = (side: Side, amountIn: bigint, epoch: number): Swap => {
  const received = afterTransfer(side.transferFeesIn, amountIn, epoch)
  const net = received - ceilDiv(received * side.feeOnInput, side.scale)
  const gross = outputFor(net, side.reserveIn, side.reserveOut)
  const paid = side.feeOnOutput === 0n ? gross : gross - ceilDiv(gross * side.feeOnOutput, side.scale)
  const amountOut = afterTransfer(side.transferFeesOut, paid, epoch)
  return amountOut > 0n ? { ending: "filled", amountIn, amountOut } : refused
}

/** The slope of `sell` at zero, exact. */
export const marginalRate = (side: Side, epoch: number): Rate => ({
  numerator:
    side.reserveOut *
    (side.scale - side.feeOnInput) *
    (side.scale - side.feeOnOutput) *
    keptBps(side.transferFeesIn, epoch) *
    keptBps(side.transferFeesOut, epoch),
  denominator: side.reserveIn * side.scale * side.scale * 100_000_000n
})

/** Share that both fees of the pool take of a vanishingly small swap. */
export const feeRateOf = ({ feeOnInput, feeOnOutput, scale }: Side): Rate => ({
  numerator: scale * scale - (scale - feeOnInput) * (scale - feeOnOutput),
  denominator: scale * scale
})

/** The input that carries the price of the sold mint to this share of what it is. */
export const inputTo = (
  { feeOnInput, reserveIn, scale, transferFeesIn }: Side,
  share: Rate,
  epoch: number
): PriceMove => {
  const received = (productInputTo(reserveIn, share) * scale) / (scale - feeOnInput)
  return { amountIn: beforeTransfer(transferFeesIn, received, epoch), complete: true }
}

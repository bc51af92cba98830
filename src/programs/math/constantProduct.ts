/** Constant product, x·y = k, with the price formulas that Raydium's two constant-product programs share. */
import { type Pool, type PriceMove, type Rate, refused, type Swap } from "../interface/Program.ts"
import { ceilDiv } from "./integers.ts"
import { productInputTo } from "./priceMove.ts"

/** floor(reserveOut·net / (reserveIn + net)): the output for `net` units of input after fees. */
export const outputFor = (net: bigint, reserveIn: bigint, reserveOut: bigint): bigint =>
  (reserveOut * net) / (reserveIn + net)

/** One direction of a pool. Fees are a share of the input, of the output, or of both. */
export interface Side {
  readonly reserveIn: bigint
  readonly reserveOut: bigint
  /** Units that the input vault can still take: a token account holds at most u64. */
  readonly roomIn: bigint
  /** Numerators over `scale`. Each fee is rounded up. */
  readonly feeOnInput: bigint
  readonly feeOnOutput: bigint
  readonly scale: bigint
}

const sell = (side: Side, amountIn: bigint): Swap => {
  if (amountIn > side.roomIn) {
    return refused
  }
  const net = amountIn - ceilDiv(amountIn * side.feeOnInput, side.scale)
  const gross = outputFor(net, side.reserveIn, side.reserveOut)
  const amountOut = side.feeOnOutput === 0n ? gross : gross - ceilDiv(gross * side.feeOnOutput, side.scale)
  return amountOut > 0n ? { ending: "filled", amountIn, amountOut } : refused
}

/** The exact slope of `sell` at zero. */
const marginalRate = ({ feeOnInput, feeOnOutput, reserveIn, reserveOut, scale }: Side): Rate => ({
  numerator: reserveOut * (scale - feeOnInput) * (scale - feeOnOutput),
  denominator: reserveIn * scale * scale
})

const feeRate = ({ feeOnInput, feeOnOutput, scale }: Side): Rate => ({
  numerator: scale * scale - (scale - feeOnInput) * (scale - feeOnOutput),
  denominator: scale * scale
})

const inputTo = ({ feeOnInput, reserveIn, scale }: Side, share: Rate): PriceMove => ({
  amountIn: (productInputTo(reserveIn, share) * scale) / (scale - feeOnInput),
  complete: true
})

/**
 * Prices of a constant-product pool, without transfer fees. A swap that pays nothing, or that overflows the vault, is
 * refused.
 *
 * @param aToB the direction that sells A
 * @param bToA the direction that sells B
 * @param opensAt Unix time in seconds before which swaps are refused
 */
export const productPrices = (aToB: Side, bToA: Side, opensAt = 0n) =>
  ({
    swap: (sellsA, amountIn, { unixTimestamp }) =>
      BigInt(unixTimestamp) < opensAt ? refused : sell(sellsA ? aToB : bToA, amountIn),
    marginalRate: (sellsA) => marginalRate(sellsA ? aToB : bToA),
    feeRate: (sellsA) => feeRate(sellsA ? aToB : bToA),
    inputTo: (sellsA, share) => inputTo(sellsA ? aToB : bToA, share)
  }) satisfies Partial<Pool>

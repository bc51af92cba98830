/**
 * Swaps of a DLMM pair, bin by bin: MeteoraAg/dlmm-sdk, commons/src/quote.rs at fb02e51. This plain loop must agree
 * with the table in `dlmmTable.ts`. It also computes the state after a swap.
 */
import { MAX_U64 } from "../../domain/Amount.ts"
import type { Bin } from "./dlmmBins.ts"
import { dlmmRate, type DlmmReference, dlmmVolatility } from "./dlmmFees.ts"
import type { DlmmPair } from "./dlmmPair.ts"
import { ceilDiv } from "../math/integers.ts"
import { withFee, withoutFee } from "./fees.ts"

const SCALE = 64n
const ONE = 1n << SCALE

/** The input that buys `amountOut` at a price of Y per X, rounded up. */
export const inputFor = (amountOut: bigint, price: bigint, sellsX: boolean): bigint =>
  sellsX ? ceilDiv(amountOut << SCALE, price) : ceilDiv(amountOut * price, ONE)

/** The output that `amountIn` buys at a price of Y per X, rounded down. */
const outputFor = (amountIn: bigint, price: bigint, sellsX: boolean): bigint =>
  sellsX ? (amountIn * price) >> SCALE : (amountIn << SCALE) / price

/** Takes up to `amountIn`, without fees, from a bin's layers in order. */
const takeFromBin = (bin: Bin, sellsX: boolean, amountIn: bigint) => {
  let left = amountIn
  let out = 0n
  for (const layer of bin.layers) {
    const whole = inputFor(layer, bin.price, sellsX)
    if (left < whole) {
      return { left: 0n, out: out + outputFor(left, bin.price, sellsX) }
    }
    left -= whole
    out += layer
  }
  return { left, out }
}

/** What a swap exchanges with one bin. */
export interface BinFill {
  readonly bin: Bin
  /** What the trader pays and receives, including fees. */
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** What enters and leaves the bin. */
  readonly netIn: bigint
  readonly grossOut: bigint
  /** In the input, or in Y if the pair takes its fees there. */
  readonly fee: bigint
}

/** What one bin contributes to a swap that has `left` of its input to spend. */
export const fillBin = (bin: Bin, rate: bigint, sellsX: boolean, feeOnInput: boolean, left: bigint): BinFill => {
  const net = feeOnInput ? withoutFee(left, rate) : left
  const taken = takeFromBin(bin, sellsX, net)
  const netIn = net - taken.left
  const used = feeOnInput ? withFee(netIn, rate) : netIn
  const amountIn = taken.left === 0n ? left : used
  const amountOut = feeOnInput ? taken.out : withoutFee(taken.out, rate)
  const fee = feeOnInput ? amountIn - netIn : taken.out - amountOut
  return { bin, amountIn, amountOut, netIn, grossOut: taken.out, fee }
}

/** A swap on a pair, without transfer fees. */
export interface DlmmFill {
  readonly fills: ReadonlyArray<BinFill>
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** True when the whole input was taken. */
  readonly complete: boolean
}

/** True when the fee is taken from the input. */
export const dlmmFeeOnInput = (pair: DlmmPair, sellsX: boolean): boolean => !pair.feesInY || !sellsX

/** Spends `amountIn` on the bins in order. When a bin is empty, the rest goes to the next one. */
export const fillDlmm = (
  pair: DlmmPair,
  reference: DlmmReference,
  sellsX: boolean,
  bins: Iterable<Bin>,
  amountIn: bigint
): DlmmFill => {
  const feeOnInput = dlmmFeeOnInput(pair, sellsX)
  const fills: Array<BinFill> = []
  let left = amountIn
  let amountOut = 0n
  for (const bin of bins) {
    if (left === 0n || bin.layers.some((layer) => inputFor(layer, bin.price, sellsX) > MAX_U64)) {
      break
    }
    const fill = fillBin(bin, dlmmRate(pair, reference, bin.id), sellsX, feeOnInput, left)
    fills.push(fill)
    left -= fill.amountIn
    amountOut += fill.amountOut
  }
  return { fills, amountIn: amountIn - left, amountOut, complete: left === 0n }
}

/** The pair after a swap at `unixTimestamp`. The last bin that the swap touched becomes the active bin. */
export const dlmmAfter = (
  pair: DlmmPair,
  reference: DlmmReference,
  fills: ReadonlyArray<BinFill>,
  unixTimestamp: number
): DlmmPair => {
  const activeId = fills.at(-1)?.bin.id ?? pair.activeId
  return {
    ...pair,
    activeId,
    indexReference: reference.index,
    volatilityReference: reference.volatility,
    volatilityAccumulator: fills.length === 0 ? pair.volatilityAccumulator : dlmmVolatility(pair, reference, activeId),
    volatilityUpdatedAt: unixTimestamp
  }
}

import { refused, type Swap } from "../interface/Program.ts"

/** One swap inside a DAMM v2 pool or a bonding curve, without transfer fees. */
export interface Fill {
  /** What the trader pays, including the fee. */
  readonly amountIn: bigint
  /** The part of the input that moves the price. */
  readonly netIn: bigint
  /** Output of the liquidity, before a fee on the output. */
  readonly grossOut: bigint
  readonly amountOut: bigint
  /** In token B, unless the fee is on an output in token A. */
  readonly fee: bigint
  readonly sqrtPrice: bigint
}

/** What a swap took and paid, and whether it took the whole input. */
interface Totals {
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly complete: boolean
}

/** Turns a fill into a swap. No fill means that the swap is refused. */
export const swapOf = (fill: Totals | null): Swap =>
  fill === null
    ? refused
    : { ending: fill.complete ? "filled" : "exhausted", amountIn: fill.amountIn, amountOut: fill.amountOut }

/** Raydium CPMM. Layout: raydium-cp-swap, programs/cp-swap/src/{instructions/swap_base_input,states/events}.rs. */
import { raydiumCpmm } from "./cpmm.ts"
import { readU64 } from "../math/bytes.ts"
import { type SwapDecoder, tagAt, taggedHops, tagOf } from "../SwapDecoder.ts"

const swap = [{ pool: 3, vaultA: 6, vaultB: 7 }]
const SWAP_EVENT = tagOf("40c6cde8260871e2")
/** Up to the transfer fee of the output. */
const EVENT_LENGTH = 88

/** Swaps of Raydium's CPMM. */
export const raydiumCpmmSwaps: SwapDecoder = {
  dex: raydiumCpmm.dex,
  programId: raydiumCpmm.programId,
  hops: taggedHops(
    new Map([
      [tagOf("8fbe5adac41e33de"), swap],
      [tagOf("37d96256a34ab4ad"), swap]
    ])
  ),
  // The input is told without its transfer fee, the output with it.
  logged: (payload) =>
    tagAt(payload, 0) === SWAP_EVENT && payload.length >= EVENT_LENGTH
      ? {
          amountIn: readU64(payload, 56) + readU64(payload, 72),
          amountOut: readU64(payload, 64),
          traderLamports: null
        }
      : null
}

/** Raydium CLMM. Layout: raydium-clmm, programs/amm/src/{instructions/swap,instructions/swap_v2,states/pool}.rs. */
import { raydiumClmm } from "../amm/raydiumClmm.ts"
import { readU64 } from "../amm/bytes.ts"
import { type SwapProgram, tagAt, taggedHops, tagOf } from "./SwapProgram.ts"

const swap = [{ pool: 2, vaultA: 5, vaultB: 6 }]
const SWAP_EVENT = tagOf("40c6cde8260871e2")
const EVENT_LENGTH = 8 + 161

/** Swaps of Raydium's concentrated pools. */
export const raydiumClmmSwaps: SwapProgram = {
  dex: raydiumClmm.dex,
  programId: raydiumClmm.programId,
  hops: taggedHops(
    new Map([
      [tagOf("f8c69e91e17587c8"), swap],
      [tagOf("2b04ed0b1ac91e62"), swap]
    ])
  ),
  logged: (payload) => {
    if (tagAt(payload, 0) !== SWAP_EVENT || payload.length < EVENT_LENGTH) {
      return null
    }
    const amount0 = readU64(payload, 136)
    const amount1 = readU64(payload, 152)
    const zeroForOne = payload[168] === 1
    return {
      amountIn: zeroForOne ? amount0 : amount1,
      amountOut: zeroForOne ? amount1 : amount0,
      traderLamports: null
    }
  }
}

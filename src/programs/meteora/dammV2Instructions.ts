/** Meteora DAMM v2. Layout: damm-v2, programs/cp-amm/src/{instructions/swap,event}.rs. */
import { meteoraDammV2 } from "./dammV2.ts"
import { readU64 } from "../math/bytes.ts"
import { type SwapDecoder, type SwapReport, taggedHops, tagOf } from "../SwapDecoder.ts"

const swap = [{ pool: 1, vaultA: 4, vaultB: 5 }]
const EVT_SWAP = tagOf("1b3c15d58aaabb93")
const EVT_SWAP_2 = tagOf("bd4233a826507599")

const report = (amountIn: bigint, amountOut: bigint): SwapReport => ({ amountIn, amountOut, traderLamports: null })

/** Swaps of Meteora's DAMM v2. */
export const meteoraDammV2Swaps: SwapDecoder = {
  dex: meteoraDammV2.dex,
  programId: meteoraDammV2.programId,
  hops: taggedHops(
    new Map([
      [tagOf("f8c69e91e17587c8"), swap],
      [tagOf("414b3f4ceb5b5b88"), swap]
    ])
  ),
  selfCall: (event, body) => {
    if (event === EVT_SWAP && body.length >= 114) {
      return report(readU64(body, 106), readU64(body, 50))
    }
    // What the trader sent, transfer fee included, stands behind the result; what the pool sent, inside of it.
    return event === EVT_SWAP_2 && body.length >= 140 ? report(readU64(body, 132), readU64(body, 76)) : null
  }
}

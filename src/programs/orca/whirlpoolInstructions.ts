/** Orca Whirlpool, two-hop swaps included. Layout: whirlpools, instructions/{swap,two_hop_swap}.rs and their v2 (Apache state). */
import { whirlpool } from "./whirlpool.ts"
import { readU64 } from "../math/bytes.ts"
import { type HopLayout, type SwapDecoder, tagAt, taggedHops, tagOf } from "../SwapDecoder.ts"

const swap: ReadonlyArray<HopLayout> = [{ pool: 2, vaultA: 4, vaultB: 6 }]
const swapV2: ReadonlyArray<HopLayout> = [{ pool: 4, vaultA: 8, vaultB: 10 }]
const twoHopSwap: ReadonlyArray<HopLayout> = [
  { pool: 2, vaultA: 5, vaultB: 7 },
  { pool: 3, vaultA: 9, vaultB: 11 }
]
/** The tokens in between go from vault to vault. */
const twoHopSwapV2: ReadonlyArray<HopLayout> = [
  { pool: 0, vaultA: 9, vaultB: 10 },
  { pool: 1, vaultA: 11, vaultB: 12 }
]

const TRADED = tagOf("e1ca49af932ba096")
/** Up to the output amount. */
const EVENT_LENGTH = 8 + 81

/** Swaps of Orca's concentrated pools. */
export const whirlpoolSwaps: SwapDecoder = {
  dex: whirlpool.dex,
  programId: whirlpool.programId,
  hops: taggedHops(
    new Map([
      [tagOf("f8c69e91e17587c8"), swap],
      [tagOf("2b04ed0b1ac91e62"), swapV2],
      [tagOf("c360ed6c44a2dbe6"), twoHopSwap],
      [tagOf("ba8fd11dfe02c275"), twoHopSwapV2]
    ])
  ),
  logged: (payload) =>
    tagAt(payload, 0) === TRADED && payload.length >= EVENT_LENGTH
      ? { amountIn: readU64(payload, 73), amountOut: readU64(payload, 81), traderLamports: null }
      : null
}

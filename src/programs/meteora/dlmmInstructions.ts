/** Meteora DLMM. Layout: dlmm-sdk, idls/dlmm.json. */
import { meteoraDlmm } from "./dlmm.ts"
import { readU64 } from "../math/bytes.ts"
import { type SwapDecoder, taggedHops, tagOf } from "../SwapDecoder.ts"

const swap = [{ pool: 0, vaultA: 2, vaultB: 3 }]
const SWAP_EVENT = tagOf("516ce3becdd00ac4")
const EVENT_LENGTH = 88

/** Swaps of Meteora's bins: by exact input, by exact output and within a price impact. */
export const meteoraDlmmSwaps: SwapDecoder = {
  dex: meteoraDlmm.dex,
  programId: meteoraDlmm.programId,
  hops: taggedHops(
    new Map([
      [tagOf("f8c69e91e17587c8"), swap],
      [tagOf("414b3f4ceb5b5b88"), swap],
      [tagOf("fa49652126cf4bb8"), swap],
      [tagOf("2bd7f784893cf351"), swap],
      [tagOf("38ade6d0ade49ccd"), swap],
      [tagOf("4a62c0d6b1334b33"), swap]
    ])
  ),
  selfCall: (event, body) =>
    event === SWAP_EVENT && body.length >= EVENT_LENGTH
      ? { amountIn: readU64(body, 72), amountOut: readU64(body, 80), traderLamports: null }
      : null
}

/** Meteora DBC. Layout: dynamic-bonding-curve, programs/dynamic-bonding-curve/src/{instructions/swap,event}.rs. */
import { meteoraDbc } from "./dbc.ts"
import { readU64 } from "../math/bytes.ts"
import { type SwapDecoder, type SwapReport, taggedHops, tagOf } from "../SwapDecoder.ts"

const swap = [{ pool: 2, vaultA: 5, vaultB: 6 }]
const EVT_SWAP = tagOf("1b3c15d58aaabb93")
/** The same layout under two names: of curves without and with a transfer hook. */
const evtSwap2: ReadonlySet<bigint> = new Set([tagOf("bd4233a826507599"), tagOf("863ba8785e3372e7")])

const report = (amountIn: bigint, amountOut: bigint): SwapReport => ({ amountIn, amountOut, traderLamports: null })

/** Swaps of Meteora's bonding curves. */
export const meteoraDbcSwaps: SwapDecoder = {
  dex: meteoraDbc.dex,
  programId: meteoraDbc.programId,
  hops: taggedHops(
    new Map([
      [tagOf("f8c69e91e17587c8"), swap],
      [tagOf("414b3f4ceb5b5b88"), swap],
      [tagOf("b75d992818e6c297"), swap]
    ])
  ),
  // One swap sends both events, the older one first.
  selfCall: (event, body) => {
    if (event === EVT_SWAP && body.length >= 146) {
      return report(readU64(body, 138), readU64(body, 90))
    }
    return evtSwap2.has(event) && body.length >= 115 ? report(readU64(body, 83), readU64(body, 107)) : null
  }
}

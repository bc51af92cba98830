/** Discriminators of names that several of Meteora's programs use, and their swap instructions in both directions. */
import { ANCHOR_SWAP } from "../anchor.ts"
import { pack, u64 } from "../math/pack.ts"
import { tagOf } from "../SwapDecoder.ts"

/** Instruction `swap`. */
export const SWAP = tagOf(ANCHOR_SWAP)

/** Instruction `swap2`. */
export const SWAP_2 = tagOf("414b3f4ceb5b5b88")

/** Events `EvtSwap` and `EvtSwap2`. */
export const EVT_SWAP = "1b3c15d58aaabb93"
export const EVT_SWAP_2 = "bd4233a826507599"

/** The data of `swap`: so much in, at least so much out. */
export const encodeSwap = (amountIn: bigint, minimumOut: bigint): Uint8Array =>
  pack(u64(SWAP), u64(amountIn), u64(minimumOut))

/** Discriminators of names that several Meteora programs share, and the swap instruction they share. */
import { ANCHOR_SWAP, tagOf } from "../layout/anchor.ts"
import { pack, u64 } from "../layout/pack.ts"

/** Instruction `swap`. */
export const SWAP = tagOf(ANCHOR_SWAP)

/** Instruction `swap2`. */
export const SWAP_2 = tagOf("414b3f4ceb5b5b88")

/** Events `EvtSwap` and `EvtSwap2`. */
export const EVT_SWAP = "1b3c15d58aaabb93"
export const EVT_SWAP_2 = "bd4233a826507599"

/** Data of `swap`: exact input, minimum output. */
export const encodeSwap = (amountIn: bigint, minimumOut: bigint): Uint8Array =>
  pack(u64(SWAP), u64(amountIn), u64(minimumOut))

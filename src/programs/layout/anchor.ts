/**
 * Discriminators that several Anchor programs share because they use the same name. Each is the first eight bytes of
 * the SHA-256 of `global:`, `event:` or `account:` plus the name, as 16 hex digits.
 */
import { readU64 } from "./bytes.ts"

/** Instruction `swap`. */
export const ANCHOR_SWAP = "f8c69e91e17587c8"

/** Instruction `swap_v2`. */
export const ANCHOR_SWAP_V2 = "2b04ed0b1ac91e62"

/** Event `SwapEvent`. */
export const ANCHOR_SWAP_EVENT = "40c6cde8260871e2"

/** Account `PoolState`. */
export const ANCHOR_POOL_STATE = "f7ede3f5d7c3de46"

/** Account `AmmConfig`. */
export const ANCHOR_AMM_CONFIG = "daf42168cbcb2b6f"

/**
 * First bytes of the instruction by which a program calls itself to emit an event. The event's own discriminator
 * follows.
 */
export const ANCHOR_SELF_CALL = "e445a52e51cb9a1d"

/** Account `Pool` of PumpSwap and of Meteora DAMM v2. The owner tells them apart. */
export const ANCHOR_POOL = "f19a6d0411b16dbc"

/** A discriminator as u64, from 16 hex digits. */
export const tagOf = (hex: string): bigint => Buffer.from(hex, "hex").readBigUInt64LE()

/** The discriminator at this offset; -1 when the data is too short. */
export const tagAt = (data: Uint8Array, offset: number): bigint =>
  data.length < offset + 8 ? -1n : readU64(data, offset)

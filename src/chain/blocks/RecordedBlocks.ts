import type { Option } from "effect"

/**
 * Blocks of the chain that are at hand, so that no node is asked for them: a range of slots without a gap. Slots after the
 * newest one of the node are not on the chain yet.
 */
export interface RecordedBlocks<Block> {
  readonly first: number
  readonly last: number
  /** Time of the first block, in milliseconds since the Unix epoch. */
  readonly firstMs: number
  /** The first slots from this one on with a block, lowest first, at most `limit`. */
  readonly list: (from: number, limit: number) => ReadonlyArray<number>
  /** The block of a slot between the first and the last one. None when the slot was skipped. */
  readonly read: (slot: number) => Option.Option<Block>
}

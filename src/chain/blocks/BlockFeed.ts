import { type Effect, Schema, type Stream } from "effect"
import type { Freshness } from "../ChainFeed.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"

/** The position of a block in the chain. Decoders add what they read from the block. */
export interface BlockHead {
  readonly slot: number
  /** The slot of the previous block. Further back than one when slots were skipped. */
  readonly parentSlot: number
  /** Block time in milliseconds since the Unix epoch; null when the node does not report it. */
  readonly blockTimeMs: number | null
  /** True when the time is estimated from the clock sysvar, because the node's own is missing or contradicts it. */
  readonly blockTimeEstimated?: boolean | undefined
}

/**
 * Why blocks are missing. `behind`: more slots than may be caught up with. `cleaned_up`: the node no longer has them.
 * `missing`: the node reported the slot as skipped, but a later block was built on it. `unreadable`: the node's answer
 * cannot be decoded. `forked`: the blocks of these slots came from a stream that followed another fork than the node;
 * some or all of them were emitted before it was known. `unavailable`: the node answers, but not with this block.
 */
export const GapReason = Schema.Literals(["behind", "cleaned_up", "missing", "unreadable", "forked", "unavailable"])
export type GapReason = typeof GapReason.Type

/** Slots without a block event, both ends included. */
export interface BlockGap {
  readonly from: number
  readonly to: number
  readonly reason: GapReason
}

/** The next block, or a gap in its place. */
export type BlockEvent<Block extends BlockHead> =
  | { readonly _tag: "Block"; readonly block: Block }
  | ({ readonly _tag: "Gap" } & BlockGap)

/** The content of a slot. `Skipped` is what the node says; the next block may prove it wrong. */
export type SlotContent<Block extends BlockHead> =
  | BlockEvent<Block>
  | { readonly _tag: "Skipped"; readonly slot: number }

/** The chain as a sequence of blocks, in the form that a decoder gives them. Decoding runs off the main thread. */
export interface BlockFeed<Block extends BlockHead> {
  /**
   * Every block after this slot, or from the newest block on when it is null. Blocks arrive in order of slot, each
   * once, with a `Gap` in place of missing blocks. A gap with the reason `forked` may follow blocks that it contains.
   * After slot 0 it begins as far back as may be caught up with, and the earlier slots are not a gap. For one consumer,
   * at its pace. Never fails: it waits while no node can be reached.
   * Ends when the nodes serve another chain, which `genesis` then identifies.
   */
  follow(after: number | null): Stream.Stream<BlockEvent<Block>>
  /** Reads one slot, independent of the blocks that are followed. Never fails. */
  readonly read: (slot: number) => Effect.Effect<SlotContent<Block>>
  /** The first slots from this one on with a block, lowest first, at most `limit`. Empty without an answer. */
  readonly list: (from: number, limit: number) => Effect.Effect<ReadonlyArray<number>>
  /** The hash of the chain's first block, which identifies the chain. */
  readonly genesis: Effect.Effect<string, ChainUnavailable>
  /** The state of the newest blocks, independent of the freshness of accounts. `slot` is the newest block emitted. */
  readonly freshness: () => Freshness
  /** The first block of the chain, when all blocks since are at hand, so that no node is asked for them. */
  readonly recorded?: { readonly slot: number; readonly timeMs: number } | undefined
}

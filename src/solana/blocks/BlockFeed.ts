import { Context, type Effect, Schema, type Stream } from "effect"
import type { Launch } from "../../domain/market/Launch.ts"
import type { Signature } from "../../domain/Signature.ts"
import type { BalanceChange, Leg, NetTrade, Transfer } from "../../domain/market/Trade.ts"
import type { ChainUnavailable, Freshness } from "../accounts/ChainFeed.ts"

/** What a decoder keeps of one transaction that took effect and did something worth telling. */
export interface BlockTransaction {
  readonly signature: Signature
  /** Position in the block, from 0. */
  readonly index: number
  readonly legs: ReadonlyArray<Leg>
  readonly nets: ReadonlyArray<NetTrade>
  readonly transfers: ReadonlyArray<Transfer>
  readonly changes: ReadonlyArray<BalanceChange>
  /** Swap instructions of which not both sides could be told. */
  readonly unresolved: number
}

/** A block and what became of it. */
export interface DecodedBlock {
  readonly slot: number
  /** The slot of the block before it; further back than one where slots were skipped. */
  readonly parentSlot: number
  /** When the cluster agreed on it, in milliseconds since the Unix epoch; null when the node does not say. */
  readonly blockTimeMs: number | null
  /** In the order of the block. They may be packed: reading them costs, so do it once and with `visitInParts`. */
  readonly transactions: Iterable<BlockTransaction>
  readonly launches: ReadonlyArray<Launch>
  /** Transactions that made no sense. */
  readonly malformed: number
}

/**
 * Why blocks are missing. `behind`: more slots than may be caught up with. `cleaned_up`: the node no longer has them.
 * `missing`: the node said that the slot was skipped, but a later block was built on it. `unreadable`: what the node sent
 * makes no sense. `unavailable`: the node answers, but not with this block.
 */
export const GapReason = Schema.Literals(["behind", "cleaned_up", "missing", "unreadable", "unavailable"])
export type GapReason = typeof GapReason.Type

/** Slots of which nothing will be told, both ends included. */
export interface BlockGap {
  readonly from: number
  readonly to: number
  readonly reason: GapReason
}

/** The next thing that the chain's history says. */
export type BlockEvent =
  | { readonly _tag: "Block"; readonly block: DecodedBlock }
  | ({ readonly _tag: "Gap" } & BlockGap)

/** What a slot is found to hold. `skipped` is the node's word, which the next block may prove wrong. */
export type SlotContent =
  | { readonly _tag: "Block"; readonly block: DecodedBlock }
  | { readonly _tag: "Skipped"; readonly slot: number }
  | ({ readonly _tag: "Gap" } & BlockGap)

/** The chain as a sequence of blocks, decoded away from the main thread. */
export class BlockFeed extends Context.Service<
  BlockFeed,
  {
    /**
     * Every block after this slot, or from the newest one on when it is null: in order of slot, each once, with a `Gap`
     * in place of what cannot be had. After slot 0 nothing was read yet: it begins as far back as is caught up with, and
     * what lies before is no gap. For one consumer, whose pace it keeps. Never fails: while the node cannot be reached
     * it waits.
     */
    follow(after: number | null): Stream.Stream<BlockEvent>
    /** The hash of the chain's first block, which tells it from every other chain. */
    readonly genesis: Effect.Effect<string, ChainUnavailable>
    /** How well the newest blocks are known; apart from the freshness of accounts. The slot is that of the newest block told. */
    readonly freshness: () => Freshness
  }
>()("fathom/solana/blocks/BlockFeed") {}

/** Where an import gets its blocks, and what a source answers. */
import { Schema } from "effect"
import type { TradeBlock } from "../decoding/TradeBlock.ts"

/**
 * A place that has blocks. `rpc`: a node. `file`: a recording, a folder of blocks, or a file with one block a line.
 * `portal`: a portal that streams finalized blocks as lines of JSON. Plain data: it is sent to a thread.
 */
export type ImportPlace =
  | { readonly _tag: "rpc"; readonly url: string }
  | { readonly _tag: "file"; readonly path: string }
  | { readonly _tag: "portal"; readonly url: string }

/** The blocks that are wanted, by slot or by time. Null stands for no bound. */
export interface ImportRange {
  /** First and last slot, both included. */
  readonly fromSlot: number | null
  readonly toSlot: number | null
  /** Blocks from this time on and before that time, in milliseconds since the Unix epoch. */
  readonly fromMs: number | null
  readonly toMs: number | null
}

/**
 * A source cannot be imported from: it does not exist, is not in a known form, lacks something that trades are decoded
 * from, or contradicts itself. Trying again does not help.
 */
export class ImportRefused extends Schema.TaggedError<ImportRefused>()("ImportRefused", {
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

/** The blocks of a source that one thread decodes: the `part`-th of each `parts`. */
export interface ImportShare {
  readonly part: number
  readonly parts: number
}

/** One block as a source has it. */
export interface SourceBlock {
  readonly slot: number
  /** A block in the form of `getBlock` with all transactions, or only with its hashes beside `decode`. */
  readonly answer: unknown
  /** Decodes a block that is in another form. Call it before you take the next block. Throws `ImportRefused`. */
  readonly decode?: () => TradeBlock
  /** Time in milliseconds where the source knows it better than the block; absent otherwise. */
  readonly time?: { readonly ms: number | null; readonly isEstimated: boolean }
}

/** The most slots that an empty stretch of a chain may have. A source is read so far past a range to find its next block. */
export const ANCHOR_SLOTS = 512

/** True for a block before the range. A block without a time is before no time. */
export const isBefore = ({ fromMs, fromSlot }: ImportRange, slot: number, timeMs: number | null): boolean =>
  (fromSlot !== null && slot < fromSlot) || (fromMs !== null && timeMs !== null && timeMs < fromMs)

/** True for a block after the range. */
export const isAfter = ({ toMs, toSlot }: ImportRange, slot: number, timeMs: number | null): boolean =>
  (toSlot !== null && slot > toSlot) || (toMs !== null && timeMs !== null && timeMs >= toMs)

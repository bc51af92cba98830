/** Messages between the main thread and the thread that reads blocks to import. Plain data: they are copied. */
import type { ChainUnavailable } from "../ChainUnavailable.ts"
import type { PackedBlock } from "../decoding/PackedTransactions.ts"
import type { ImportPlace, ImportRange, ImportShare } from "./importSource.ts"

/** What a thread reads. It sends as many replies as it was allowed to. */
export interface ImportRequest {
  readonly place: ImportPlace
  readonly range: ImportRange
  readonly share: ImportShare
}

/** A block, with the hashes that link it to its parent; null where the source does not name them. */
export interface ImportedBlock {
  readonly hash: string | null
  readonly parentHash: string | null
  readonly block: PackedBlock
}

export type ImportReply =
  | { readonly _tag: "block"; readonly imported: ImportedBlock }
  /** A block that is not in the range, in the place of that block. */
  | { readonly _tag: "none" }
  | { readonly _tag: "end" }
  | { readonly _tag: "refused"; readonly detail: string }
  | {
      readonly _tag: "failure"
      readonly reason: ChainUnavailable["reason"]
      readonly detail: string
      readonly retryAfterMs: number | undefined
    }

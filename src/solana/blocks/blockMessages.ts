/** What the main thread and the thread that reads blocks say to each other. Plain data: it is copied between them. */
import type { DecodedBlock } from "./BlockFeed.ts"
import type { ChainUnavailable } from "../accounts/ChainFeed.ts"
import type { PackedPart } from "./PackedTransactions.ts"
import type { Commitment } from "../rpc/SolanaRpc.ts"

/** How the node is asked, as plain data. */
export interface BlockWorkerSettings {
  readonly rpcUrl: string
  readonly commitment: Commitment
  readonly timeoutMs: number
  readonly retries: number
  readonly concurrency: number
}

/** `read` asks for a block; `drop` says that nobody wants it any more. */
export interface BlockRequest {
  readonly _tag: "read" | "drop"
  readonly id: number
  readonly slot: number
}

/** Everything of a block but its transactions. */
export type BlockHead = Omit<DecodedBlock, "transactions">

/** A block, its transactions packed, or why there is none. */
export type BlockReply =
  | {
      readonly _tag: "block"
      readonly id: number
      readonly head: BlockHead
      readonly parts: ReadonlyArray<PackedPart>
    }
  | {
      readonly _tag: "failure"
      readonly id: number
      readonly reason: ChainUnavailable["reason"]
      readonly detail: string
      readonly rpcCode: number | undefined
      readonly retryAfterMs: number | undefined
    }

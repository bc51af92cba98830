/** Messages between the main thread and the thread that reads blocks. Plain data: they are copied. */
import type { ChainUnavailable } from "../ChainUnavailable.ts"
import type { Commitment } from "../Commitment.ts"

/** Settings of the RPC calls, as plain data. */
export interface BlockWorkerSettings {
  /** Addresses of the nodes. Requests name a node by its index. */
  readonly rpcUrls: ReadonlyArray<string>
  readonly commitment: Commitment
  readonly timeoutMs: number
  readonly retries: number
  readonly concurrency: number
}

/** `read` requests a block from a node; `drop` cancels the request. */
export interface BlockRequest {
  readonly _tag: "read" | "drop"
  readonly id: number
  readonly slot: number
  readonly node: number
}

/** A block as the decoder packs it, with the memory that is transferred instead of copied. */
export interface PackedReply<Message> {
  readonly message: Message
  readonly transfer: Array<ArrayBuffer>
}

/** Decodes and packs a block while its answer arrives. */
export interface BlockDecoder<Message> {
  /** Takes the next transaction, as the node states it. */
  readonly add: (transaction: unknown) => void
  /** Takes the result of `getBlock` without the transactions that were added. Returns null when it is not a block. */
  readonly end: (rest: unknown) => PackedReply<Message> | null
}

/** A packed block, or why there is none. */
export type BlockReply<Message> =
  | { readonly _tag: "block"; readonly id: number; readonly message: Message }
  | {
      readonly _tag: "failure"
      readonly id: number
      readonly reason: ChainUnavailable["reason"]
      readonly detail: string
      readonly rpcCode: number | undefined
      readonly retryAfterMs: number | undefined
    }

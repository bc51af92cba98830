import { Context, Effect, Layer, Schema } from "effect"
import type { Address } from "../../domain/Address.ts"
import { Signature } from "../../domain/Signature.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"

/** A transaction that names an address. */
export const ListedTransaction = Schema.Struct({
  signature: Signature,
  slot: Schema.Int,
  /** Seconds since the Unix epoch; null when the node does not state it. */
  blockTime: Schema.NullOr(Schema.Int),
  /** The error as the node spells it; null for a transaction that succeeded. */
  err: Schema.Unknown
})
export type ListedTransaction = typeof ListedTransaction.Type

export interface HistoryRequest {
  readonly address: Address
  /** Only transactions older than this one; null starts with the newest. */
  readonly before: Signature | null
  /** Only transactions newer than this one; null for no limit. */
  readonly until: Signature | null
  /** The most transactions to return, up to 1,000. */
  readonly limit: number
}

/** Past transactions of addresses, read from a node. Each call has a deadline and a bounded number of retries. */
export class TransactionHistory extends Context.Service<
  TransactionHistory,
  {
    /** The hash of the first block of the node's chain. */
    readonly genesis: Effect.Effect<string, ChainUnavailable>
    /** Transactions that name the address, newest first. Fewer than `limit` only when there are no more. */
    list(request: HistoryRequest): Effect.Effect<ReadonlyArray<ListedTransaction>, ChainUnavailable>
    /** The node's answer, not decoded; null when the node does not have the transaction. */
    read(signature: Signature): Effect.Effect<unknown, ChainUnavailable>
  }
>()("fathom/chain/rpc/TransactionHistory") {
  /** A market without a node: every call fails as unreachable. */
  static readonly layerUnreachable: Layer.Layer<TransactionHistory> = Layer.sync(TransactionHistory, () => {
    const unreachable = Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "no node is configured" }))
    return TransactionHistory.of({ genesis: unreachable, list: () => unreachable, read: () => unreachable })
  })
}

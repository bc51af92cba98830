import { Context, Effect, Layer, Schema } from "effect"
import type { Address } from "../../domain/Address.ts"
import { Signature } from "../../domain/Signature.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"

/** A transaction that names an address. */
export const ListedTransaction = Schema.Struct({
  signature: Signature,
  slot: Schema.Int,
  /** Seconds since the Unix epoch; null where the node does not state it. */
  blockTime: Schema.NullOr(Schema.Int),
  /** The error as the node spells it; null for a transaction that took effect. */
  err: Schema.Unknown
})
export type ListedTransaction = typeof ListedTransaction.Type

/** Selects transactions of an address. */
export interface HistoryRequest {
  readonly address: Address
  /** Only older ones than this; from the newest on where it is null. */
  readonly before: Signature | null
  /** Only newer ones than this. */
  readonly until: Signature | null
  /** At most so many, 1,000 at the most. */
  readonly limit: number
}

/** Past transactions of addresses, read from a node. Each call has a deadline and a bounded number of retries. */
export class TransactionHistory extends Context.Service<
  TransactionHistory,
  {
    /** The hash of the first block of the node's chain. */
    readonly genesis: Effect.Effect<string, ChainUnavailable>
    /** Transactions that name an address, the newest first; fewer than `limit` only where there are no others. */
    list(request: HistoryRequest): Effect.Effect<ReadonlyArray<ListedTransaction>, ChainUnavailable>
    /** The node's answer, not decoded; null for a transaction that the node does not have. */
    read(signature: Signature): Effect.Effect<unknown, ChainUnavailable>
  }
>()("fathom/solana/rpc/TransactionHistory") {
  /** For a market without a node: every call fails as unreachable. */
  static readonly layerUnreachable: Layer.Layer<TransactionHistory> = Layer.sync(TransactionHistory, () => {
    const unreachable = Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "no node is configured" }))
    return TransactionHistory.of({ genesis: unreachable, list: () => unreachable, read: () => unreachable })
  })
}

import { Context, Effect, Layer, Schema } from "effect"
import { Signature } from "../../domain/Signature.ts"
import type { TransactionReport } from "../../domain/TransactionReport.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"

/** Nobody has told us of this transaction. It may still arrive. */
export class UnknownTransaction extends Schema.TaggedError<UnknownTransaction>()("UnknownTransaction", {
  signature: Signature
}) {}

/** The public status of transactions, asked of the chain each time. Nothing is kept and nothing is sent. */
export class TransactionStatus extends Context.Service<
  TransactionStatus,
  {
    /** Answers or fails within a bounded time. A fact the chain does not tell is null. */
    find(signature: Signature): Effect.Effect<TransactionReport, UnknownTransaction | ChainUnavailable>
  }
>()("fathom/solana/rpc/TransactionStatus") {
  /** For a market that has no node behind it: every question finds the chain unreachable. */
  static readonly layerUnreachable: Layer.Layer<TransactionStatus> = Layer.sync(TransactionStatus, () =>
    TransactionStatus.of({
      find: () => Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "there is no node to ask" }))
    })
  )
}

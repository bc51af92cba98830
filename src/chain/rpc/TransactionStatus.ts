import { Context, Effect, Layer, Schema } from "effect"
import { Signature } from "../../domain/Signature.ts"
import type { TransactionReport } from "../../api/schemas/TransactionReport.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"

/** The node does not know this transaction. It may still arrive. */
export class UnknownTransaction extends Schema.TaggedError<UnknownTransaction>()("UnknownTransaction", {
  signature: Signature
}) {}

/** The public status of transactions, read from the chain on every call. Caches nothing and sends no transaction. */
export class TransactionStatus extends Context.Service<
  TransactionStatus,
  {
    /** Answers or fails within a bounded time. Facts that the chain does not report are null. */
    find(signature: Signature): Effect.Effect<TransactionReport, UnknownTransaction | ChainUnavailable>
  }
>()("fathom/chain/rpc/TransactionStatus") {
  /** A market without a node: every call fails as unreachable. */
  static readonly layerUnreachable: Layer.Layer<TransactionStatus> = Layer.sync(TransactionStatus, () =>
    TransactionStatus.of({
      find: () => Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "no node is configured" }))
    })
  )
}

import { Schema } from "effect"
import { Atomic } from "./Amount.ts"
import { Signature } from "./Signature.ts"

/** Why a transaction failed, as far as that is certain. */
export class TransactionFailure extends Schema.Opaque<TransactionFailure>()(
  Schema.Struct({
    code: Schema.Literals([
      "instruction_error",
      "slippage_exceeded",
      "insufficient_funds",
      "blockhash_expired",
      "account_error",
      "other"
    ]),
    instructionIndex: Schema.NullOr(Schema.Int).annotate({
      description: "From 0; null when no instruction is to blame."
    }),
    customCode: Schema.NullOr(Schema.Int).annotate({ description: "The program's own error number." }),
    message: Schema.NullOr(Schema.String)
  }).annotate({ identifier: "TransactionFailure", description: "Why a transaction failed." })
) {}

/** Public status of one transaction. Null where the cluster has no answer. */
export class TransactionReport extends Schema.Opaque<TransactionReport>()(
  Schema.Struct({
    id: Signature,
    chain: Schema.Literal("solana"),
    state: Schema.Literals(["processed", "confirmed", "finalized", "failed"]),
    terminal: Schema.Boolean.annotate({
      description: "Whether this can no longer change: the slot is finalized, failed or not."
    }),
    slot: Schema.Int,
    blockTimeMs: Schema.NullOr(Schema.Int),
    confirmations: Schema.NullOr(Schema.Int).annotate({ description: "Null once finalized." }),
    feeLamports: Schema.NullOr(Atomic),
    computeUnits: Schema.NullOr(Schema.Int),
    error: Schema.NullOr(TransactionFailure).annotate({ description: "Null unless the transaction failed." }),
    observedAtMs: Schema.Int.annotate({ description: "When the node was asked." })
  }).annotate({ identifier: "TransactionReport", description: "The public status of one transaction." })
) {}

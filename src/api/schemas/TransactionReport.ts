import { Schema } from "effect"
import { Atomic } from "../../domain/Amount.ts"
import { Signature } from "../../domain/Signature.ts"
import { field } from "../../domain/field.ts"
import { chain, slot } from "./fields.ts"

export class TransactionFailure extends Schema.Opaque<TransactionFailure>()(
  Schema.Struct({
    code: field(
      Schema.Literals([
        "instruction_error",
        "slippage_exceeded",
        "insufficient_funds",
        "blockhash_expired",
        "account_error",
        "other"
      ]),
      "Stable code of the failure."
    ),
    instructionIndex: field(
      Schema.NullOr(Schema.Int),
      "Index of the failed instruction, from 0; null when no instruction failed."
    ),
    customCode: field(Schema.NullOr(Schema.Int), "The program's own error number; null without one."),
    message: field(Schema.NullOr(Schema.String), "Explanation by the program or the node; null without one.")
  }).annotate({ identifier: "TransactionFailure", description: "Why a transaction failed." })
) {}

/** Public status of one transaction. Null where the cluster has no answer. */
export class TransactionReport extends Schema.Opaque<TransactionReport>()(
  Schema.Struct({
    id: field(Signature, "First signature of the transaction."),
    chain,
    state: field(Schema.Literals(["processed", "confirmed", "finalized", "failed"]), "State of the transaction."),
    terminal: field(Schema.Boolean, "True when this can no longer change, because the slot is finalized."),
    slot,
    blockTimeMs: field(
      Schema.NullOr(Schema.Int),
      "Time of the block, in milliseconds since the Unix epoch; null when unknown."
    ),
    confirmations: field(Schema.NullOr(Schema.Int), "Number of confirmations; null once finalized."),
    feeLamports: field(Schema.NullOr(Atomic), "Fee of the transaction in lamports; null while it is not known."),
    computeUnits: field(Schema.NullOr(Schema.Int), "Compute units that the transaction used; null when unknown."),
    error: field(Schema.NullOr(TransactionFailure), "Why the transaction failed; null unless it did."),
    observedAtMs: field(Schema.Int, "When the node was asked.")
  }).annotate({ identifier: "TransactionReport", description: "The public status of one transaction." })
) {}

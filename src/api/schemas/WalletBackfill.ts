/** The reading of a wallet's transactions from the chain. */
import { Schema } from "effect"
import { CoverageReason } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"

const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })

export class WalletBackfill extends Schema.Opaque<WalletBackfill>()(
  Schema.Struct({
    status: field(
      Schema.Literals(["running", "done", "failed", "unavailable"]),
      "State of the reading. `unavailable` when it was requested but cannot start."
    ),
    reason: field(
      Schema.NullOr(CoverageReason),
      "`backfill_running` while transactions are read; null once the wallet's whole history has been read."
    ),
    transactions: field(Schema.Int, "Transactions of the wallet that were read."),
    missing: field(Schema.Int, "Transactions among them that the node could not provide."),
    fromMs: time("Beginning of the span that was read without a gap."),
    throughMs: time("End of the span that was read without a gap."),
    whole: field(Schema.Boolean, "True when the span begins with the wallet's first transaction."),
    expected: field(
      Schema.NullOr(Schema.Int),
      "Transactions that a look ahead found, 1,000 at most; null before the look, which comes before any of them is read."
    ),
    huge: field(
      Schema.NullOr(Schema.Boolean),
      "True when there are at least as many transactions as are read, as of bots and of the owners of pools: the sums will begin in " +
        "the middle of the history. Null when that is not known."
    ),
    programOwned: field(
      Schema.Boolean,
      "True for an address that only a program can sign for, as the owner of a pool or a multisig: its transactions may be those of others."
    ),
    error: field(Schema.NullOr(Schema.String), "The node's answer that ended the reading.")
  }).annotate({
    identifier: "WalletBackfill",
    description: "How far a wallet's transactions were read from the chain."
  })
) {}

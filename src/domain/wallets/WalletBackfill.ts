/** The reading of a wallet's transactions from the chain. */
import { Schema } from "effect"
import { CoverageReason } from "../Scalar.ts"

const time = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })

/** The state of the reading. */
export class WalletBackfill extends Schema.Opaque<WalletBackfill>()(
  Schema.Struct({
    status: Schema.Literals(["running", "done", "failed", "unavailable"]).annotate({
      description: "unavailable where it was asked for and cannot be begun."
    }),
    reason: Schema.NullOr(CoverageReason).annotate({
      description: "backfill_running while transactions are read; null once all of the wallet's life were."
    }),
    transactions: Schema.Int.annotate({ description: "Transactions of the wallet that were read." }),
    missing: Schema.Int.annotate({ description: "Transactions among them that the node could not give." }),
    fromMs: time("Start of the span that was read without a break."),
    throughMs: time("Its end."),
    whole: Schema.Boolean.annotate({ description: "Whether it begins with the wallet's first transaction." }),
    error: Schema.NullOr(Schema.String).annotate({ description: "The node's answer that ended it." })
  }).annotate({
    identifier: "WalletBackfill",
    description: "How far a wallet's transactions were read from the chain."
  })
) {}

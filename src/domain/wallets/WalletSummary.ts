/** Profit of a wallet as far as the record goes. Null when unknown; never complete. */
import { Schema } from "effect"
import { Address } from "../Address.ts"
import { CoverageReason, Decimal, Status } from "../Scalar.ts"
import { KnownWalletPnl } from "./KnownPnl.ts"
import { WalletBackfill } from "./WalletBackfill.ts"
import { WalletIdentity } from "./WalletIdentity.ts"

const Count = Schema.Int
const CountOrNull = Schema.NullOr(Schema.Int)
const TimeOrNull = Schema.NullOr(Schema.Int)

/** Realized and unrealized profit in dollars; each null when a basis or a mark of it is unknown, and the total when either is. */
export class PnlBlock extends Schema.Opaque<PnlBlock>()(
  Schema.Struct({
    realized: Schema.NullOr(Decimal),
    unrealized: Schema.NullOr(Decimal),
    total: Schema.NullOr(Decimal)
  }).annotate({
    identifier: "PnlBlock",
    description: "US dollars; null where an acquisition basis or a current mark is unknown."
  })
) {}

/** Coverage of one aspect: known items of all items. */
export class CoverageShare extends Schema.Opaque<CoverageShare>()(
  Schema.Struct({
    complete: Schema.Boolean,
    known: Count,
    status: Status,
    total: CountOrNull.annotate({ description: "Null when the number is unknown." })
  }).annotate({ identifier: "CoverageShare", description: "How much of one aspect is known." })
) {}

/** Sources of the index of a wallet's trades. */
export class WalletIndexCoverage extends Schema.Opaque<WalletIndexCoverage>()(
  Schema.Struct({
    backfillDaysDone: Count,
    backfillDaysTarget: Count,
    coveredFromMs: TimeOrNull,
    coveredUntilMs: TimeOrNull,
    error: Schema.NullOr(Schema.String),
    eventCap: Count.annotate({ description: "The share of this wallet in the batch." }),
    eventCount: Count,
    exclusions: Schema.Array(Schema.String),
    historyTransport: Schema.String,
    liveSinceMs: TimeOrNull.annotate({ description: "Since when no block was missed." }),
    scannedTransactions: Count,
    source: Schema.String,
    status: Status,
    truncated: Schema.Boolean.annotate({
      description: "Whether the wallet is at its share: older events were not read."
    }),
    unfetchedTransactions: CountOrNull,
    unpricedTransactions: CountOrNull,
    unprovableTransactions: CountOrNull
  }).annotate({ identifier: "WalletIndexCoverage", description: "What the index of a wallet's trades rests on." })
) {}

/** Which history of a wallet on one chain the sums are made from. */
export class WalletHistoryCoverage extends Schema.Opaque<WalletHistoryCoverage>()(
  Schema.Struct({
    chain: Schema.Literal("solana"),
    complete: Schema.Boolean,
    scope: Schema.String,
    source: Schema.String,
    status: Status,
    reason: Schema.NullOr(CoverageReason).annotate({
      description:
        "Why not all of the wallet's life is covered: backfill_running while it, or the wallet's token accounts, are read " +
        "from the chain."
    }),
    fromMs: TimeOrNull,
    throughMs: TimeOrNull,
    observedFromMs: TimeOrNull.annotate({ description: "The oldest event counted." }),
    observedThroughMs: TimeOrNull.annotate({ description: "The newest event counted." }),
    observedEvents: Count,
    orphanedEvents: CountOrNull,
    undatedEvents: CountOrNull,
    transfersIncluded: Schema.Boolean,
    exclusions: Schema.Array(Schema.String),
    holdings: CoverageShare.annotate({
      description:
        "Positions of which the balance is known: the sum over all token accounts of the wallet, which are read from the chain " +
        "once the wallet is asked for. Until then reason is backfill_running, and holding and the sums that need it are null."
    }),
    costBasis: CoverageShare.annotate({ description: "Positions of which every cost is known." }),
    fees: CoverageShare.annotate({ description: "Events of which the network fee is counted." }),
    history: CoverageShare.annotate({ description: "Events of the wallet's whole life." }),
    valuation: CoverageShare.annotate({ description: "Open positions with a current mark." }),
    index: WalletIndexCoverage
  }).annotate({ identifier: "WalletHistoryCoverage", description: "Which history the sums are made from." })
) {}

/** Profit of a wallet over its recorded trades. */
export class WalletSummary extends Schema.Opaque<WalletSummary>()(
  Schema.Struct({
    asOf: Schema.Int.annotate({ description: "Milliseconds since the Unix epoch." }),
    complete: Schema.Literal(false),
    coverage: Schema.String,
    historyCoverage: Schema.Struct({ solana: WalletHistoryCoverage }),
    index: WalletIndexCoverage,
    pnlMode: Schema.Literal("unknown-basis-null"),
    source: Schema.String,
    token: Schema.Null,
    wallet: PnlBlock,
    known: KnownWalletPnl
  }).annotate({
    identifier: "WalletSummary",
    description: "Observed profit over the covered window, not of a lifetime."
  })
) {}

/** Summary of one wallet of a batch. */
export class WalletRow extends Schema.Opaque<WalletRow>()(
  Schema.Struct({
    wallet: Address,
    status: Schema.Literals(["partial", "unavailable"]).annotate({
      description: "partial when there is an identity or a summary."
    }),
    identity: Schema.NullOr(WalletIdentity),
    summary: Schema.NullOr(WalletSummary),
    backfill: Schema.NullOr(WalletBackfill).annotate({
      description: "How far the wallet's transactions were read from the chain; null where that was never asked for."
    })
  }).annotate({ identifier: "WalletRow", description: "What is known of one wallet." })
) {}

/** Summaries in the order of the request. */
export class WalletRows extends Schema.Opaque<WalletRows>()(
  Schema.Struct({
    complete: Schema.Boolean.annotate({ description: "Whether every row has a summary." }),
    wallets: Schema.Array(WalletRow)
  }).annotate({ identifier: "WalletRows", description: "What is known of several wallets." })
) {}

/** The wallet index cannot be read at all. */
export class WalletsUnavailable extends Schema.TaggedError<WalletsUnavailable>()("WalletsUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "what is held of wallets cannot be read"
  }
}

/** Profit of a wallet over the recorded trades. Unknown values are null, and it is never complete. */
import { Schema } from "effect"
import { CoverageReason, Decimal, Status } from "../../domain/Scalar.ts"
import { KnownWalletPnl } from "./KnownPnl.ts"
import { WalletBackfill } from "./WalletBackfill.ts"
import { WalletIdentity } from "./WalletIdentity.ts"
import { field } from "../../domain/field.ts"
import { chain, wallet } from "./fields.ts"

const Count = Schema.Int
const CountOrNull = Schema.NullOr(Schema.Int)
const TimeOrNull = Schema.NullOr(Schema.Int)

/**
 * Realized and unrealized profit in dollars. Each is null while a cost or price in it is unknown; the total is null
 * when either is.
 */
export class PnlBlock extends Schema.Opaque<PnlBlock>()(
  Schema.Struct({
    realized: field(Schema.NullOr(Decimal), "Profit of what was sold, in US dollars; null while a cost is unknown."),
    unrealized: field(
      Schema.NullOr(Decimal),
      "Profit of the holdings at current prices, in US dollars; null while a cost or price is unknown."
    ),
    total: field(Schema.NullOr(Decimal), "Realized and unrealized profit, in US dollars; null when either is null.")
  }).annotate({
    identifier: "PnlBlock",
    description: "US dollars; null where a cost or a current price is unknown."
  })
) {}

export class CoverageShare extends Schema.Opaque<CoverageShare>()(
  Schema.Struct({
    complete: field(Schema.Boolean, "True when nothing is missing."),
    known: field(Count, "Number of known items."),
    status: Status,
    total: field(CountOrNull, "Number of all items; null when unknown.")
  }).annotate({
    identifier: "CoverageShare",
    description: "How much of one aspect is known: known items out of all items."
  })
) {}

export class WalletIndexCoverage extends Schema.Opaque<WalletIndexCoverage>()(
  Schema.Struct({
    backfillDaysDone: field(Count, "Days that have been read back."),
    backfillDaysTarget: field(Count, "Days that are to be read back."),
    coveredFromMs: field(
      TimeOrNull,
      "Beginning of what was seen, in milliseconds since the Unix epoch; null when nothing was."
    ),
    coveredUntilMs: field(
      TimeOrNull,
      "End of what was read, in milliseconds since the Unix epoch; null when nothing was."
    ),
    error: field(Schema.NullOr(Schema.String), "Why reading back ended early; null when it did not."),
    eventCap: field(Count, "Most events that are read for this wallet: its share of the batch."),
    eventCount: field(Count, "Number of trades of the wallet in the record."),
    exclusions: field(Schema.Array(Schema.String), "Kinds of transactions that are left out."),
    historyTransport: field(Schema.String, "How history is read."),
    liveSinceMs: field(TimeOrNull, "Time since which no block was missed."),
    scannedTransactions: field(Count, "Number of examined transactions."),
    source: field(Schema.String, "Where the values come from."),
    status: Status,
    truncated: field(Schema.Boolean, "True when the wallet has reached its share and older events were not read."),
    unfetchedTransactions: field(CountOrNull, "Number of transactions that could not be read; null when unknown."),
    unpricedTransactions: field(CountOrNull, "Number of transactions without a price; null when unknown."),
    unprovableTransactions: field(
      CountOrNull,
      "Number of transactions whose trades could not be determined; null when unknown."
    )
  }).annotate({ identifier: "WalletIndexCoverage", description: "What the index of a wallet's trades rests on." })
) {}

/** The part of a wallet's history on one chain that the sums are made from. */
export class WalletHistoryCoverage extends Schema.Opaque<WalletHistoryCoverage>()(
  Schema.Struct({
    chain,
    complete: field(Schema.Boolean, "True when nothing is missing."),
    scope: field(Schema.String, "What the history contains."),
    source: field(Schema.String, "Where the values come from."),
    status: Status,
    reason: field(
      Schema.NullOr(CoverageReason),
      "Why the wallet's history is not fully covered; `backfill_running` while its transactions or its token accounts are read " +
        "from the chain."
    ),
    fromMs: field(TimeOrNull, "Beginning of the span, included, in milliseconds since the Unix epoch."),
    throughMs: field(TimeOrNull, "End of the span, included, in milliseconds since the Unix epoch."),
    observedFromMs: field(TimeOrNull, "Time of the oldest counted event."),
    observedThroughMs: field(TimeOrNull, "Time of the newest counted event."),
    observedEvents: field(Count, "Number of trades that were observed."),
    orphanedEvents: field(CountOrNull, "Number of sales without a purchase in the record; null when unknown."),
    undatedEvents: field(CountOrNull, "Number of trades without a time; null when unknown."),
    transfersIncluded: field(Schema.Boolean, "True when transfers count."),
    exclusions: field(Schema.Array(Schema.String), "Kinds of transactions that are left out."),
    holdings: field(
      CoverageShare,
      "Positions whose balance is known. The balance is the sum over all token accounts of the wallet, which are read from the chain " +
        "once the wallet is requested. Until then `reason` is `backfill_running`, and `holding` and the sums that need it are null."
    ),
    costBasis: field(CoverageShare, "Positions whose costs are all known."),
    fees: field(CoverageShare, "Events whose network fee is counted."),
    history: field(CoverageShare, "Events of the wallet's whole history."),
    valuation: field(CoverageShare, "Open positions with a value: their units and a price are known."),
    index: WalletIndexCoverage
  }).annotate({
    identifier: "WalletHistoryCoverage",
    description: "The part of the history that the sums are made from."
  })
) {}

export class WalletSummary extends Schema.Opaque<WalletSummary>()(
  Schema.Struct({
    asOf: field(Schema.Int, "Milliseconds since the Unix epoch."),
    complete: field(Schema.Literal(false), "Always false: the wallet may have traded where nothing was recorded."),
    coverage: field(Schema.String, "What the sums rest on."),
    historyCoverage: field(
      Schema.Struct({ solana: WalletHistoryCoverage }),
      "The history that the sums are made from, by chain."
    ),
    index: WalletIndexCoverage,
    pnlMode: field(
      Schema.Literal("unknown-basis-null"),
      "Always `unknown-basis-null`: profit with an unknown cost is null, not zero."
    ),
    source: field(Schema.String, "Where the values come from."),
    token: field(Schema.Null, "Always null: the sums are over all tokens."),
    wallet: PnlBlock,
    known: KnownWalletPnl,
    marks: field(
      Schema.Struct({
        poolMedian: field(Count, "Open positions that are valued at the median over the pools of their mint."),
        lastTrade: field(
          Count,
          "Open positions that are valued at the last trade of their mint, because no pool quotes it."
        ),
        oldestAtMs: field(TimeOrNull, "Time of the oldest of these prices, in milliseconds since the Unix epoch.")
      }),
      "The prices that the open positions are valued at."
    )
  }).annotate({
    identifier: "WalletSummary",
    description: "Observed profit over the covered window, not over a lifetime."
  })
) {}

export class WalletRow extends Schema.Opaque<WalletRow>()(
  Schema.Struct({
    wallet,
    status: field(Schema.Literals(["partial", "unavailable"]), "`partial` when there is an identity or a summary."),
    reason: field(
      Schema.NullOr(Schema.Literals(["not_captured", "unavailable"])),
      "Why there is no summary: `not_captured` when the record has no trade of the wallet, `unavailable` when its trades could " +
        "not be read in time: ask again. Null with a summary."
    ),
    identity: Schema.NullOr(WalletIdentity),
    summary: Schema.NullOr(WalletSummary),
    backfill: field(
      Schema.NullOr(WalletBackfill),
      "How far the wallet's transactions were read from the chain; null when that was never requested."
    )
  }).annotate({ identifier: "WalletRow", description: "What is known of one wallet." })
) {}

export class WalletRows extends Schema.Opaque<WalletRows>()(
  Schema.Struct({
    complete: field(Schema.Boolean, "True when every row has a summary."),
    wallets: field(Schema.Array(WalletRow), "The wallets.")
  }).annotate({ identifier: "WalletRows", description: "What is known of several wallets." })
) {}

/** The wallet index cannot be read at all. */
export class WalletsUnavailable extends Schema.TaggedError<WalletsUnavailable>()("WalletsUnavailable", {
  cause: Schema.Defect(),
  /** True for a wallet with more token accounts than are read. Trying again does not help. */
  isTooLarge: Schema.optionalKey(Schema.Boolean)
}) {
  override get message(): string {
    return "what is held of wallets cannot be read"
  }
}

/** Frames of a live connection, as on the wire. */
import { Schema } from "effect"
import type { Address } from "../../domain/Address.ts"
import { Atomic } from "../../domain/Amount.ts"
import { Coverage, Decimal } from "../../domain/Scalar.ts"
import { Signature } from "../../domain/Signature.ts"
import { firingFields } from "./Alert.ts"
import { KnownPositionPnl, KnownWalletPnl, PositionQuantities } from "./KnownPnl.ts"
import { TrackedWallet, TrackerStatus, TrackerTrade } from "./Tracker.ts"
import { field } from "../../domain/field.ts"
import { decimals, markMethod, mint, slot, wallet } from "./fields.ts"

const Text = Schema.NullOr(Schema.String)
const Exact = Schema.NullOr(Decimal)
const Time = Schema.Int

/** A change of an amount in atomic units, with its sign. */
export const SignedAtomic = Schema.String.check(Schema.isPattern(/^(?:0|-?[1-9][0-9]{0,126})$/u)).annotate({
  identifier: "SignedAtomic",
  description: "A change of an amount in atomic units, as decimal digits with a minus sign when it is negative."
})

/** A change of a wallet's balance, of a mint or, where `native`, of lamports. */
export class BalanceBody extends Schema.Opaque<BalanceBody>()(
  Schema.Struct({
    wallet,
    mint,
    native: field(Schema.Boolean, "True for lamports. The mint is then SOL."),
    balance: field(Schema.NullOr(Atomic), "Balance after the change, in the accounts that the transaction names."),
    delta: Schema.NullOr(SignedAtomic),
    decimals,
    valueUsd: field(Exact, "Value at the current price."),
    cause: field(
      Schema.Literals(["trade", "transfer", "fee", "mint", "burn", "unknown"]),
      "Cause of the change, as far as its transaction shows it."
    ),
    signature: field(Schema.NullOr(Signature), "First signature of the transaction, as base58 of 64 bytes."),
    slot,
    index: field(Schema.Int, "Place of the change in its slot."),
    ts: field(Time, "Block time, in milliseconds since the Unix epoch.")
  })
) {}

const made = {
  realized: field(
    Exact,
    "Proceeds minus average cost of what was sold; null once any part is unknown. In dollars, like all fields here."
  ),
  unrealized: field(Exact, "Value minus cost of the holdings."),
  total: field(Exact, "Realized and unrealized profit."),
  roiPct: field(Exact, "The total in percent of `costUsd`."),
  costUsd: field(Exact, "Cost of all purchases, front-end fees included, whether sold since or not."),
  proceedsUsd: field(Exact, "Proceeds of all sales, minus front-end fees.")
}

const standing = {
  pnlMode: field(
    Schema.Literal("unknown-basis-null"),
    "Always `unknown-basis-null`: profit with an unknown cost is null, not zero."
  ),
  source: field(Schema.String, "Where the values come from."),
  coverage: Coverage,
  asOf: field(Time, "Time of the observation, in milliseconds since the Unix epoch.")
}

export class PnlBody extends Schema.Opaque<PnlBody>()(
  Schema.Struct({
    wallet,
    mint,
    ...made,
    avgCostUsd: field(Exact, "Average cost of one whole token held; null while the cost of any held unit is unknown."),
    holding: field(Schema.NullOr(Atomic), "Balance on the chain; null when unknown."),
    quantities: PositionQuantities,
    known: KnownPositionPnl,
    decimals,
    markUsd: Exact,
    markMethod,
    markAtMs: field(
      Schema.NullOr(Time),
      "Time of the price that the holdings are valued at, in milliseconds since the Unix epoch; null without a price."
    ),
    buys: field(Schema.Int, "Number of purchases."),
    sells: field(Schema.Int, "Number of sales."),
    open: field(Schema.Boolean, "False only when it is certain that nothing is held."),
    ...standing,
    trigger: field(
      Schema.Literals(["trade", "transfer", "mark", "resync"]),
      "Cause of the new figures: an event of the wallet, a new price, or a correction."
    )
  })
) {}

export class PnlSummaryBody extends Schema.Opaque<PnlSummaryBody>()(
  Schema.Struct({
    wallet,
    ...made,
    openCostUsd: Exact,
    openValueUsd: Exact,
    positionsOpen: field(Schema.Int, "Positions that hold something, or may."),
    positionsClosed: field(Schema.Int, "Positions that hold nothing."),
    positionsUnknownBasis: field(Schema.Int, "Positions with a unit of unknown cost."),
    trades: field(Schema.Int, "Number of swaps."),
    winRatePct: field(
      Exact,
      "Closed positions that made a profit, in percent of the closed positions whose costs are all known."
    ),
    known: KnownWalletPnl,
    ...standing
  })
) {}

const gapReasons = ["source_gap", "behind", "expired", "unknown_stream"] as const
const GAP_WORDS =
  "`source_gap`: blocks of the chain could not be read. `behind`: this service could not keep up. `expired`: the frames are no longer held. `unknown_stream`: this ticket can resume no stream of that id."
const span = {
  fromMs: field(
    Schema.NullOr(Time),
    "Beginning of the span, included, in milliseconds since the Unix epoch; null when unknown."
  ),
  toMs: field(Time, "End of the span, in milliseconds since the Unix epoch.")
}

/** Frames that are missing from a stream. `fromMs` is null when unknown. Nothing earlier is missing. */
export class LiveGap extends Schema.Opaque<LiveGap>()(
  Schema.Struct({ ...span, reason: field(Schema.Literals(gapReasons), GAP_WORDS) })
) {}

/** Frames that are missing before a snapshot of the tracker. They may include firings of alerts. */
export class SnapshotGap extends Schema.Opaque<SnapshotGap>()(
  Schema.Struct({
    ...span,
    reason: field(
      Schema.Literals([...gapReasons, "alerts_missed"]),
      `${GAP_WORDS} \`alerts_missed\`: firings of alerts could not be received. Nothing else is missing.`
    )
  })
) {}

/** Cause of a snapshot. */
export const SnapshotReason = Schema.Literals(["connect", "resume", "wallets_changed", "resync"])
export type SnapshotReason = typeof SnapshotReason.Type

export class SnapshotBody extends Schema.Opaque<SnapshotBody>()(
  Schema.Struct({
    streamId: field(Schema.String, "Id of the stream."),
    reason: field(SnapshotReason, "Why something is missing; null when nothing is."),
    resumed: field(
      Schema.Boolean,
      "True when the frames after the resumed place follow. False when they are gone, or when none were requested."
    ),
    gap: field(Schema.NullOr(SnapshotGap), "What is missing before this frame; null when nothing is."),
    wallets: field(Schema.Array(TrackedWallet), "The wallets."),
    trades: field(Schema.Array(TrackerTrade), "Newest first."),
    pnl: field(Schema.Array(PnlBody), "Profit of every position."),
    summaries: field(Schema.Array(PnlSummaryBody), "Profit of every wallet."),
    status: TrackerStatus
  })
) {}

const numbered = {
  seq: field(Schema.Int, "Number of the frame in its stream. The next frame has the next number."),
  sentAtMs: field(Time, "When the frame was sent, in milliseconds since the Unix epoch.")
}

/** A frame with a sequence number. */
export const DataFrame = Schema.Union([
  Schema.Struct({ type: field(Schema.Literal("snapshot"), "Kind of the frame."), ...numbered, ...SnapshotBody.fields }),
  Schema.Struct({ ...TrackerTrade.fields, ...numbered }),
  Schema.Struct({
    type: field(Schema.Literal("balance_update"), "Kind of the frame."),
    ...numbered,
    ...BalanceBody.fields
  }),
  Schema.Struct({ type: field(Schema.Literal("pnl"), "Kind of the frame."), ...numbered, ...PnlBody.fields }),
  Schema.Struct({
    type: field(Schema.Literal("pnl_summary"), "Kind of the frame."),
    ...numbered,
    ...PnlSummaryBody.fields
  }),
  Schema.Struct({ type: field(Schema.Literal("alert_fired"), "Kind of the frame."), ...numbered, ...firingFields })
])
export type DataFrame = typeof DataFrame.Type

/** Code of a notice frame. */
export const NoticeCode = Schema.Literals(["draining", "slow_consumer", "source_delayed", "source_restored"])
export type NoticeCode = typeof NoticeCode.Type

/** A control frame: without a `seq`, and only sent on request. */
export const ControlFrame = Schema.Union([
  Schema.Struct({
    type: field(Schema.Literal("heartbeat"), "Kind of the frame."),
    sentAtMs: field(Time, "When the frame was sent, in milliseconds since the Unix epoch."),
    seq: field(Schema.Int, "Number of the newest frame of the stream."),
    ingestLagMs: field(
      Schema.NullOr(Schema.Int),
      "Age of the newest block by its block time, in milliseconds; null before the first block."
    )
  }),
  Schema.Struct({
    type: field(Schema.Literal("pong"), "Kind of the frame."),
    id: field(Text, "The id of the ping; null when it had none."),
    sentAtMs: field(Time, "When the frame was sent, in milliseconds since the Unix epoch.")
  }),
  Schema.Struct({
    type: field(Schema.Literal("error"), "Kind of the frame."),
    code: field(Schema.String, "Stable code of the reason."),
    message: field(Schema.String, "The reason in words."),
    sentAtMs: field(Time, "When the frame was sent, in milliseconds since the Unix epoch.")
  }),
  Schema.Struct({
    type: field(Schema.Literal("notice"), "Kind of the frame."),
    code: field(NoticeCode, "Stable code of the reason."),
    message: field(Schema.String, "The reason in words."),
    sentAtMs: field(Time, "When the frame was sent, in milliseconds since the Unix epoch.")
  })
])
export type ControlFrame = typeof ControlFrame.Type

/** Scope of a figure: the wallet since it is tracked, in milliseconds. */
interface Figure {
  readonly wallet: Address
  readonly sinceMs: number
}

/** Name of a ping, or of a stream. */
const Name = Schema.String.check(
  Schema.isMinLength(1, { expected: "1 to 64 characters" }),
  Schema.isMaxLength(64, { expected: "1 to 64 characters" })
)

/** A request for a pong, on any live connection. */
export const PingMessage = Schema.Struct({
  op: field(Schema.Literal("ping"), "Kind of the message."),
  id: field(Schema.optionalKey(Schema.NullOr(Name)), "Repeated in the pong; null by default.")
})

/** Requests the frames after the given one of an earlier stream of the same key. */
export const ResumeMessage = Schema.Struct({
  op: field(Schema.Literal("resume"), "Kind of the message."),
  streamId: field(Name, "The stream of the earlier connection, from its snapshot."),
  seq: field(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { expected: "0 or more" })),
    "Number of the last frame that was read."
  )
})

/** An event at a time. That of a fill goes to every stream of its wallet, whenever the wallet was tracked. */
interface Happened {
  readonly wallet: Address
  readonly isOfFill?: true
}

/** An event of a wallet that has no place in a stream yet. */
export type LiveEvent =
  | ({ readonly type: "trade"; readonly body: TrackerTrade } & Happened)
  | ({ readonly type: "balance_update"; readonly body: BalanceBody } & Happened)
  | ({ readonly type: "pnl"; readonly body: PnlBody } & Figure)
  | ({ readonly type: "pnl_summary"; readonly body: PnlSummaryBody } & Figure)

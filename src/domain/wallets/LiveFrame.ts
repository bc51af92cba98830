/** Frames of a live connection, as on the wire. */
import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Atomic } from "../Amount.ts"
import { Coverage, Decimal } from "../Scalar.ts"
import { Signature } from "../Signature.ts"
import { firingFields } from "./Alert.ts"
import { KnownPositionPnl, KnownWalletPnl, PositionQuantities } from "./KnownPnl.ts"
import { TrackedWallet, TrackerStatus, TrackerTrade } from "./Tracker.ts"

const Text = Schema.NullOr(Schema.String)
const Exact = Schema.NullOr(Decimal)
const Time = Schema.Int

/** A change of an amount in atomic units, with its sign. */
export const SignedAtomic = Schema.String.check(Schema.isPattern(/^(?:0|-?[1-9][0-9]{0,126})$/u)).annotate({
  identifier: "SignedAtomic",
  description: "A change of an amount in atomic units, as a string of digits with a minus where it is one."
})

/** A wallet's balance of a mint changed. Of one mint, or of lamports where `native`. */
export class BalanceBody extends Schema.Opaque<BalanceBody>()(
  Schema.Struct({
    wallet: Address,
    mint: Address,
    native: Schema.Boolean,
    balance: Schema.NullOr(Atomic).annotate({
      description: "After the change, in the accounts that the transaction names."
    }),
    delta: Schema.NullOr(SignedAtomic),
    decimals: Schema.NullOr(Schema.Int),
    valueUsd: Exact.annotate({ description: "At the mark of now." }),
    cause: Schema.Literals(["trade", "transfer", "fee", "mint", "burn", "unknown"]),
    signature: Schema.NullOr(Signature),
    slot: Schema.Int,
    index: Schema.Int,
    ts: Time
  })
) {}

const made = {
  realized: Exact.annotate({
    description:
      "Proceeds less average cost of what was sold. Null once any part of it is unknown; dollars, like all of these."
  }),
  unrealized: Exact.annotate({ description: "Value less cost of what is held." }),
  total: Exact.annotate({ description: "Both together." }),
  roiPct: Exact.annotate({ description: "The total in percent of `costUsd`." }),
  costUsd: Exact.annotate({ description: "Cost of all buys, front-end fees included, whether sold since or not." }),
  proceedsUsd: Exact.annotate({ description: "Proceeds of all sells, less front-end fees." })
}

const standing = {
  pnlMode: Schema.Literal("unknown-basis-null"),
  source: Schema.String,
  coverage: Coverage,
  asOf: Time
}

/** Profit of one position. */
export class PnlBody extends Schema.Opaque<PnlBody>()(
  Schema.Struct({
    wallet: Address,
    mint: Address,
    ...made,
    avgCostUsd: Exact.annotate({
      description: "Average cost of a whole token held; null while that of any unit held is unknown."
    }),
    holding: Schema.NullOr(Atomic).annotate({ description: "Balance on the chain; null when unknown." }),
    quantities: PositionQuantities,
    known: KnownPositionPnl,
    decimals: Schema.NullOr(Schema.Int),
    markUsd: Exact,
    markAtMs: Schema.NullOr(Time),
    buys: Schema.Int,
    sells: Schema.Int,
    open: Schema.Boolean.annotate({ description: "False only when nothing is known to be held." }),
    ...standing,
    trigger: Schema.Literals(["trade", "transfer", "mark", "resync"])
  })
) {}

/** Profit of a wallet. */
export class PnlSummaryBody extends Schema.Opaque<PnlSummaryBody>()(
  Schema.Struct({
    wallet: Address,
    ...made,
    openCostUsd: Exact,
    openValueUsd: Exact,
    positionsOpen: Schema.Int,
    positionsClosed: Schema.Int,
    positionsUnknownBasis: Schema.Int,
    trades: Schema.Int,
    winRatePct: Exact.annotate({ description: "Of closed positions of which every cost is known." }),
    known: KnownWalletPnl,
    ...standing
  })
) {}

const gapReasons = ["source_gap", "behind", "expired", "unknown_stream"] as const
const GAP_WORDS =
  "`source_gap`: blocks of the chain could not be read. `behind`: this service could not keep up. `expired`: the frames are no longer held. `unknown_stream`: no stream of that id can be resumed with this ticket."
const span = { fromMs: Schema.NullOr(Time), toMs: Time }

/** Frames missing from a stream. `fromMs` is null when unknown; nothing before it is missing. */
export class LiveGap extends Schema.Opaque<LiveGap>()(
  Schema.Struct({ ...span, reason: Schema.Literals(gapReasons).annotate({ description: GAP_WORDS }) })
) {}

/** Frames missing before a snapshot of the tracker, firings of alerts among them. */
export class SnapshotGap extends Schema.Opaque<SnapshotGap>()(
  Schema.Struct({
    ...span,
    reason: Schema.Literals([...gapReasons, "alerts_missed"]).annotate({
      description: `${GAP_WORDS} \`alerts_missed\`: firings of alerts could not be received, and nothing else is missing.`
    })
  })
) {}

/** Cause of a snapshot. */
export const SnapshotReason = Schema.Literals(["connect", "resume", "wallets_changed", "resync"])
export type SnapshotReason = typeof SnapshotReason.Type

/** The whole state; replaces the client's state. */
export class SnapshotBody extends Schema.Opaque<SnapshotBody>()(
  Schema.Struct({
    streamId: Schema.String,
    reason: SnapshotReason,
    resumed: Schema.Boolean,
    gap: Schema.NullOr(SnapshotGap),
    wallets: Schema.Array(TrackedWallet),
    trades: Schema.Array(TrackerTrade).annotate({ description: "Newest first." }),
    pnl: Schema.Array(PnlBody),
    summaries: Schema.Array(PnlSummaryBody),
    status: TrackerStatus
  })
) {}

const numbered = { seq: Schema.Int, sentAtMs: Time }

/** A frame that has its place in a stream. */
export const DataFrame = Schema.Union([
  Schema.Struct({ type: Schema.Literal("snapshot"), ...numbered, ...SnapshotBody.fields }),
  Schema.Struct({ ...TrackerTrade.fields, ...numbered }),
  Schema.Struct({ type: Schema.Literal("balance_update"), ...numbered, ...BalanceBody.fields }),
  Schema.Struct({ type: Schema.Literal("pnl"), ...numbered, ...PnlBody.fields }),
  Schema.Struct({ type: Schema.Literal("pnl_summary"), ...numbered, ...PnlSummaryBody.fields }),
  Schema.Struct({ type: Schema.Literal("alert_fired"), ...numbered, ...firingFields })
])
export type DataFrame = typeof DataFrame.Type

/** Code of a notice frame. */
export const NoticeCode = Schema.Literals(["draining", "slow_consumer", "source_delayed", "source_restored"])
export type NoticeCode = typeof NoticeCode.Type

/** Control frame, sent on request only and without a `seq`. */
export const ControlFrame = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("heartbeat"),
    sentAtMs: Time,
    seq: Schema.Int,
    ingestLagMs: Schema.NullOr(Schema.Int)
  }),
  Schema.Struct({ type: Schema.Literal("pong"), id: Text, sentAtMs: Time }),
  Schema.Struct({ type: Schema.Literal("error"), code: Schema.String, message: Schema.String, sentAtMs: Time }),
  Schema.Struct({ type: Schema.Literal("notice"), code: NoticeCode, message: Schema.String, sentAtMs: Time })
])
export type ControlFrame = typeof ControlFrame.Type

/** Scope of a figure: the wallet as tracked since this time, in milliseconds. */
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
  op: Schema.Literal("ping"),
  id: Schema.optionalKey(Schema.NullOr(Name).annotate({ description: "Repeated in the pong; null unless given." }))
})

/** A request for the frames after one of an earlier stream of the same key. */
export const ResumeMessage = Schema.Struct({
  op: Schema.Literal("resume"),
  streamId: Name.annotate({ description: "The stream of the connection before, from its snapshot." }),
  seq: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { expected: "0 or more" })).annotate({
    description: "Number of the last frame that was read."
  })
})

/** Something that a wallet did or became, before it has a place in a stream. */
export type LiveEvent =
  | { readonly type: "trade"; readonly wallet: Address; readonly body: TrackerTrade }
  | { readonly type: "balance_update"; readonly wallet: Address; readonly body: BalanceBody }
  | ({ readonly type: "pnl"; readonly body: PnlBody } & Figure)
  | ({ readonly type: "pnl_summary"; readonly body: PnlSummaryBody } & Figure)

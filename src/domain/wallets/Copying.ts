/** Copy trading as its owner sees it: which wallets are followed, what was copied, and what came of it. Reads only. */
import { Schema } from "effect"
import { Address, type Mint } from "../Address.ts"
import { Atomic } from "../Amount.ts"
import { WalletFamily } from "../Funding.ts"
import { Decimal } from "../Scalar.ts"
import { Signature } from "../Signature.ts"

const idOf = (prefix: string, what: string) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^${prefix}_[\\w-]{1,61}$`, "u"), { expected: `the id of a ${what}` })
  )

/** A follow's id: `cf_` and letters of the URL-safe alphabet, at most 64 characters in all. */
export const FollowId = idOf("cf", "follow")

/** A fill's id: `fl_` and letters of the URL-safe alphabet, at most 64 characters in all. */
export const FillId = idOf("fl", "fill")

/** True for a well-formed follow id. */
export const isFollowId = Schema.is(FollowId)

/** True for a well-formed fill id. */
export const isFillId = Schema.is(FillId)

/** Milliseconds since the Unix epoch, before the year 10000. */
const TimeMs = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** One line of text that a person wrote. */
const Line = Schema.String.check(
  Schema.isPattern(/^[^\p{Cc}]{1,128}$/u),
  Schema.makeFilter((text) => text.isWellFormed() || "must be well-formed Unicode")
)

const positive = Schema.String.check(Schema.isPattern(/^(?!-)/u), Schema.isMaxLength(160))
const Positive = Decimal.check(Schema.makeFilter((text) => Schema.is(positive)(text) || "must not be negative"))

/** Nano-dollars, never negative. */
const Nanos = Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(0n))

/** Copies are made, not made for the time being, or never made again. */
export const FollowStatus = Schema.Literals(["active", "paused", "stopped"]).annotate({
  identifier: "FollowStatus",
  description: "Copies are made, not made for the time being, or never made again."
})
export type FollowStatus = typeof FollowStatus.Type

/** Sizing of a copy: funds per copied trade. */
export const Sizing = Schema.Struct({
  mode: Schema.Literals(["fixed", "leader_ratio"]),
  amount: Schema.NullOr(Atomic).annotate({ description: "Of each purchase when the mode is fixed; null otherwise." }),
  ratioPct: Schema.NullOr(Positive).annotate({
    description: "Percent of what the leader spends when the mode is leader_ratio; null otherwise."
  }),
  maxPerTrade: Schema.NullOr(Atomic).annotate({ description: "No purchase is larger; null for no bound." }),
  asset: Schema.Literal("sol").annotate({ description: "Amounts are lamports." })
})
  .check(
    Schema.makeFilter(
      ({ amount, mode, ratioPct }) =>
        ((amount !== null) === (mode === "fixed") && (ratioPct !== null) === (mode === "leader_ratio")) ||
        "an amount when fixed, a ratio otherwise",
      { toJsonSchema: () => ({}) }
    )
  )
  .annotate({ identifier: "CopySizing", description: "How much of one's own money goes into a copy." })

/** Which of the leader's trades are copied, and how far a price may have moved. */
export const Filters = Schema.Struct({
  buys: Schema.Boolean,
  sells: Schema.Boolean,
  minLeaderUsd: Schema.NullOr(Positive).annotate({ description: "Smaller trades of the leader are left alone." }),
  maxMarketCapUsd: Schema.NullOr(Positive).annotate({ description: "Tokens worth more are left alone." }),
  slippageBps: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))
}).annotate({ identifier: "CopyFilters", description: "Which of the leader's trades are copied." })

const followFields = {
  id: FollowId,
  leader: Schema.Struct({ wallet: Address, label: Schema.NullOr(Line) }),
  ownedWallet: Schema.Struct({ walletId: Line, family: WalletFamily, address: Line }),
  status: FollowStatus,
  sizing: Sizing,
  filters: Filters
}

const followTimes = {
  createdAtMs: TimeMs,
  updatedAtMs: TimeMs,
  stoppedAtMs: Schema.NullOr(TimeMs).annotate({ description: "Null unless stopped." })
}

const stopsOnce = Schema.makeFilter(
  ({ status, stoppedAtMs }: { readonly status: FollowStatus; readonly stoppedAtMs: number | null }) =>
    (status === "stopped") === (stoppedAtMs !== null) || "a time of stopping exactly when stopped"
)

/** A follow, whole: the newest version replaces earlier ones. */
export class NewFollow extends Schema.Opaque<NewFollow>()(
  Schema.Struct({ accountId: Schema.String, ...followFields, ...followTimes }).check(stopsOnce)
) {}

/** A wallet that an account follows, with what came of it so far. */
export class Follow extends Schema.Opaque<Follow>()(
  Schema.Struct({
    ...followFields,
    counts: Schema.Struct({ filled: Count, failed: Count, skipped: Count }),
    lastFillAtMs: Schema.NullOr(TimeMs).annotate({ description: "When the newest filled copy was executed." }),
    ...followTimes
  }).annotate({ identifier: "CopyFollow", description: "A wallet that the account follows." })
) {}

/** Status of a copy. All but `pending` is final. */
export const FillStatus = Schema.Literals(["pending", "filled", "failed", "skipped"]).annotate({
  identifier: "CopyFillStatus",
  description: "How far a copy has got. All but pending is final."
})
export type FillStatus = typeof FillStatus.Type

/** Why a copy failed or was skipped. */
export const FillReason = Schema.Literals([
  "filter",
  "insufficient_balance",
  "slippage",
  "no_route",
  "leader_reverted",
  "paused",
  "other"
]).annotate({ identifier: "CopyFillReason", description: "Why a copy failed or was skipped." })
export type FillReason = typeof FillReason.Type

/** A buy gives money for the token, a sell the token for money. */
export const FillSide = Schema.Literals(["buy", "sell"])
export type FillSide = typeof FillSide.Type

const Slot = Count
const place = { signature: Signature, slot: Slot, atMs: TimeMs }
const priceUsd = Schema.NullOr(Positive)

/** The leader's trade that a fill copies. */
export const LeaderTrade = Schema.Struct({
  wallet: Address,
  ...place,
  /** USD of a whole token. */
  priceUsd,
  valueUsdNanos: Schema.NullOr(Nanos)
})
export type LeaderTrade = typeof LeaderTrade.Type

/** The copy itself. */
export const Execution = Schema.Struct({
  ...place,
  inMint: Address,
  inAmount: Atomic,
  outMint: Address,
  outAmount: Atomic,
  priceUsd,
  /** Amounts of a fill, fees beside them. */
  valueUsdNanos: Schema.NullOr(Nanos),
  feeUsdNanos: Schema.NullOr(Nanos)
})
export type Execution = typeof Execution.Type

const fill = Schema.Struct({
  id: FillId,
  followId: FollowId,
  mint: Address,
  side: FillSide,
  status: FillStatus,
  reason: Schema.NullOr(FillReason),
  leader: LeaderTrade,
  execution: Schema.NullOr(Execution)
})

/** The inconsistency between the fields of a fill; true when there is none. */
const coherent = ({ execution, mint, reason, side, status }: typeof fill.Type): true | string => {
  const gaveUp = status === "failed" || status === "skipped"
  if ((reason !== null) !== gaveUp) {
    return "a reason exactly when failed or skipped"
  }
  if (execution === null) {
    return status !== "filled" || "a filled copy has an execution"
  }
  if (gaveUp) {
    return "no execution of what failed or was skipped"
  }
  return (side === "buy" ? execution.outMint : execution.inMint) === mint || "the execution trades the mint"
}

/** One trade of a leader, and what was made of it. */
export class CopyFill extends Schema.Opaque<CopyFill>()(fill.check(Schema.makeFilter(coherent))) {}

/** A copy that was carried out. */
export interface FilledCopy {
  readonly id: string
  readonly followId: string
  readonly mint: Mint
  readonly side: FillSide
  readonly leaderSlot: number
  readonly slot: number
  readonly atMs: number
  /** Units of the mint that were bought or sold. */
  readonly amount: bigint
  readonly valueUsdNanos: bigint | null
  readonly feeUsdNanos: bigint | null
}

/** Position of a row in its list, newest first: by time, then by id. */
export interface CopyPlace {
  readonly atMs: number
  readonly id: string
}

/** Which follows of an account are wanted. */
export interface FollowSelection {
  readonly accountId: string
  readonly status: FollowStatus | null
  readonly limit: number
  /** Null for the first page. */
  readonly after: CopyPlace | null
}

/** Which fills of an account are wanted. Null is no choice. Times are those of the leader's trades. */
export interface FillSelection {
  readonly accountId: string
  readonly followId: string | null
  readonly mint: Mint | null
  readonly status: FillStatus | null
  /** The first millisecond. */
  readonly sinceMs: number | null
  /** The last millisecond. */
  readonly untilMs: number | null
  readonly limit: number
  readonly after: CopyPlace | null
}

/** One page, and the place to go on from; null at the end. */
export interface CopySlice<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly next: CopyPlace | null
}

/** One mint of one follow: what profit and loss are counted by. */
export interface PositionKey {
  readonly followId: string
  readonly mint: Mint
}

/** Trailing window of sales. */
export const CopyWindow = Schema.Literals(["24h", "7d", "30d", "all"])
export type CopyWindow = typeof CopyWindow.Type

/** Grouping of sums. */
export const CopyGrouping = Schema.Literals(["none", "follow", "mint"])
export type CopyGrouping = typeof CopyGrouping.Type

/** The account has no such follow: another account's is no different from none. */
export class UnknownFollow extends Schema.TaggedError<UnknownFollow>()("UnknownFollow", {}) {}

/** The store did not answer in time, or failed. */
export class FollowStoreUnavailable extends Schema.TaggedError<FollowStoreUnavailable>()("FollowStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the follow store does not answer"
  }
}

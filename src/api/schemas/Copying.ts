/** Copy trading as its owner sees it: the followed wallets, the copied trades and their results. Reads only. */
import { Schema } from "effect"
import { Address, type Mint } from "../../domain/Address.ts"
import { Atomic } from "../../domain/Amount.ts"
import { WalletFamily } from "./Funding.ts"
import { Decimal } from "../../domain/Scalar.ts"
import { Signature } from "../../domain/Signature.ts"
import { field } from "../../domain/field.ts"
import { wallet } from "./fields.ts"

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

/** `active`: trades are copied. `paused`: not for the time being. `stopped`: never again. */
export const FollowStatus = Schema.Literals(["active", "paused", "stopped"]).annotate({
  identifier: "FollowStatus",
  description: "`active`: trades are copied. `paused`: not for the time being. `stopped`: never again."
})
export type FollowStatus = typeof FollowStatus.Type

/** Sizing of a copy: the funds for each copied trade. */
export const Sizing = Schema.Struct({
  mode: field(
    Schema.Literals(["fixed", "leader_ratio"]),
    "`fixed`: the same amount each time. `leader_ratio`: a percentage of what the leader spends."
  ),
  amount: field(Schema.NullOr(Atomic), "Amount of each purchase when the mode is `fixed`; null otherwise."),
  ratioPct: field(
    Schema.NullOr(Positive),
    "Percentage of the leader's spending when the mode is `leader_ratio`; null otherwise."
  ),
  maxPerTrade: field(Schema.NullOr(Atomic), "The largest purchase; null without a limit."),
  asset: field(Schema.Literal("sol"), "Amounts are lamports.")
})
  .check(
    Schema.makeFilter(
      ({ amount, mode, ratioPct }) =>
        ((amount !== null) === (mode === "fixed") && (ratioPct !== null) === (mode === "leader_ratio")) ||
        "an amount when fixed, a ratio otherwise",
      { toJsonSchema: () => ({}) }
    )
  )
  .annotate({ identifier: "CopySizing", description: "How much of the owner's money goes into a copy." })

/** Which of the leader's trades are copied, and how far a price may have moved. */
export const Filters = Schema.Struct({
  buys: field(Schema.Boolean, "True when purchases are copied."),
  sells: field(Schema.Boolean, "True when sales are copied."),
  minLeaderUsd: field(Schema.NullOr(Positive), "Trades of the leader below this value are not copied."),
  maxMarketCapUsd: field(Schema.NullOr(Positive), "Tokens above this market value are not copied."),
  slippageBps: field(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 })),
    "Allowed slippage in basis points."
  )
}).annotate({ identifier: "CopyFilters", description: "Which of the leader's trades are copied." })

const followFields = {
  id: field(FollowId, "Unique, stable id."),
  leader: field(
    Schema.Struct({
      wallet,
      label: field(Schema.NullOr(Line), "Display name; null without one.")
    }),
    "The wallet that is copied."
  ),
  ownedWallet: field(
    Schema.Struct({
      walletId: field(Line, "Wallet id of the registry; never an address."),
      family: WalletFamily,
      address: field(Line, "Address of the wallet that copies.")
    }),
    "The account's wallet that copies."
  ),
  status: field(FollowStatus, "`active`: trades are copied. `paused`: not for the time being. `stopped`: never again."),
  sizing: Sizing,
  filters: Filters
}

const followTimes = {
  createdAtMs: field(TimeMs, "Time of creation, in milliseconds since the Unix epoch."),
  updatedAtMs: field(TimeMs, "Time of the last change, in milliseconds since the Unix epoch."),
  stoppedAtMs: field(
    Schema.NullOr(TimeMs),
    "Time at which copying stopped, in milliseconds since the Unix epoch; null unless stopped."
  )
}

const stopsOnce = Schema.makeFilter(
  ({ status, stoppedAtMs }: { readonly status: FollowStatus; readonly stoppedAtMs: number | null }) =>
    (status === "stopped") === (stoppedAtMs !== null) || "a time of stopping exactly when stopped"
)

/** A complete follow. The newest version replaces earlier ones. */
export class NewFollow extends Schema.Opaque<NewFollow>()(
  Schema.Struct({ accountId: Schema.String, ...followFields, ...followTimes }).check(stopsOnce)
) {}

/** A wallet that an account follows, with the results so far. */
export class Follow extends Schema.Opaque<Follow>()(
  Schema.Struct({
    ...followFields,
    counts: field(
      Schema.Struct({
        filled: field(Count, "Number of trades that were copied."),
        failed: field(Count, "Number of copies that failed."),
        skipped: field(Count, "Number of trades that were left out.")
      }),
      "Trades of the leader by outcome."
    ),
    lastFillAtMs: field(Schema.NullOr(TimeMs), "When the newest filled copy was executed."),
    ...followTimes
  }).annotate({ identifier: "CopyFollow", description: "A wallet that the account follows." })
) {}

/** Status of a copy. All but `pending` is final. */
export const FillStatus = Schema.Literals(["pending", "filled", "failed", "skipped"]).annotate({
  identifier: "CopyFillStatus",
  description: "Status of the copy. All but `pending` are final."
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

/** A buy gives money for the token, a sell gives the token for money. */
export const FillSide = Schema.Literals(["buy", "sell"])
export type FillSide = typeof FillSide.Type

const Slot = Count
const place = { signature: Signature, slot: Slot, atMs: TimeMs }
const priceUsd = Schema.NullOr(Positive)

/** The leader's trade that a fill copies. */
export const LeaderTrade = Schema.Struct({
  wallet: Address,
  ...place,
  /** Price of one whole token, in USD. */
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
  /** Amounts of a fill. Fees are counted separately. */
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

/** What is inconsistent between the fields of a fill; true when nothing is. */
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

/** One trade of a leader, and what became of it. */
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

/** Selects follows of an account. */
export interface FollowSelection {
  readonly accountId: string
  readonly status: FollowStatus | null
  readonly limit: number
  /** Null for the first page. */
  readonly after: CopyPlace | null
}

/** Selects fills of an account. Null selects all. A fill has the time of the leader's trade. */
export interface FillSelection {
  readonly accountId: string
  readonly followId: string | null
  readonly mint: Mint | null
  readonly status: FillStatus | null
  /** The first millisecond, included. */
  readonly sinceMs: number | null
  /** The last millisecond, included. */
  readonly untilMs: number | null
  readonly limit: number
  readonly after: CopyPlace | null
}

/** One page, and the place where the next page begins; null at the end. */
export interface CopySlice<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly next: CopyPlace | null
}

/** One mint of one follow. Profit and loss are counted for each. */
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

/** The account has no such follow. Another account's follow is treated the same. */
export class UnknownFollow extends Schema.TaggedError<UnknownFollow>()("UnknownFollow", {}) {}

/** The store did not answer in time, or failed. */
export class FollowStoreUnavailable extends Schema.TaggedError<FollowStoreUnavailable>()("FollowStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the follow store does not answer"
  }
}

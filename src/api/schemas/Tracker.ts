import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Atomic } from "../../domain/Amount.ts"
import { Decimal } from "../../domain/Scalar.ts"
import { Signature } from "../../domain/Signature.ts"
import { field } from "../../domain/field.ts"
import { decimals, mint, slot, wallet } from "./fields.ts"

/** Most wallets that one account tracks. */
export const MAX_TRACKED_WALLETS = 500

/** Most groups of one account, Main included. */
export const MAX_GROUPS = 50

/** A group's id. Only its own account can use it, so no account can ask about another's groups. */
export const GroupId = Schema.String.check(
  Schema.isPattern(/^grp_[\w-]{1,60}$/u, {
    expected: "a group id: grp_ and 1 to 60 of A-Z, a-z, 0-9, _ and -"
  })
)
  .pipe(Schema.brand("GroupId"))
  .annotate({ identifier: "GroupId", description: "Names a group of tracked wallets of the caller's account." })
export type GroupId = typeof GroupId.Type

/** The group that every account has. It is used when no group is named. */
export const MAIN_GROUP = GroupId.make("grp_main")

// Text that both a database and a page can hold: no control characters, no half surrogates.
const line = Schema.makeFilter((text: string) => text.isWellFormed() && /^\P{Cc}+$/u.test(text), {
  expected: "at least one character, and no control characters",
  toJsonSchema: () => ({ minLength: 1 })
})

/** Label of a tracked wallet: 1 to 64 characters. */
export const WalletLabel = Schema.String.check(
  line,
  Schema.makeFilter((text: string) => Array.from(text).length <= 64, {
    expected: "at most 64 characters",
    toJsonSchema: () => ({ maxLength: 64 }),
    issue: "too_long"
  })
).annotate({ description: "1 to 64 characters without control characters." })

/** A user's sign for a tracked wallet: 1 to 16 bytes of UTF-8. That is any single emoji except the longest families. */
export const WalletEmoji = Schema.String.check(
  line,
  Schema.makeFilter((text: string) => new TextEncoder().encode(text).length <= 16, {
    expected: "at most 16 bytes of UTF-8",
    toJsonSchema: () => ({ maxLength: 16 }),
    issue: "too_long"
  })
).annotate({ description: "1 to 16 bytes of UTF-8." })

/** Notes of a tracked wallet: 1 to 500 characters. Tabs and line ends are the only control characters. */
export const WalletNotes = Schema.String.check(
  Schema.makeFilter((text: string) => text.isWellFormed() && /^[\P{Cc}\t\n]+$/u.test(text), {
    expected: "at least one character, and no control characters but tabs and line ends",
    toJsonSchema: () => ({ minLength: 1 })
  }),
  Schema.makeFilter((text: string) => Array.from(text).length <= 500, {
    expected: "at most 500 characters",
    toJsonSchema: () => ({ maxLength: 500 }),
    issue: "too_long"
  })
).annotate({ description: "1 to 500 characters; tabs and line ends are the only control characters." })

const Text = Schema.NullOr(Schema.String)
const Figure = Schema.NullOr(Schema.Finite)

/** Pending until something is seen of the wallet after it was tracked. */
export const WalletStatus = Schema.Literals(["pending", "live"])
export type WalletStatus = typeof WalletStatus.Type

export class TrackedWallet extends Schema.Opaque<TrackedWallet>()(
  Schema.Struct({
    wallet,
    label: field(Text, "Display name; null without one."),
    emoji: field(Text, "Emoji of the wallet; null without one."),
    notes: field(Text, "Notes of the owner; null without any."),
    groups: field(Schema.Array(GroupId), "Every group of the wallet, the primary one first."),
    groupId: field(GroupId, "The primary group."),
    status: field(WalletStatus, "`pending` until the first activity after the wallet was added, then `live`."),
    lastEventAtMs: field(
      Schema.NullOr(Schema.Int),
      "Block time of the newest activity, in milliseconds since the Unix epoch; null before the first."
    ),
    addedAtMs: field(Schema.Int, "Time at which the wallet was added, in milliseconds since the Unix epoch.")
  }).annotate({ identifier: "TrackedWallet", description: "A wallet as the caller's account tracks it." })
) {}

export class TrackerGroup extends Schema.Opaque<TrackerGroup>()(
  Schema.Struct({
    groupId: GroupId,
    name: field(Schema.String, "Display name."),
    isMain: field(Schema.Boolean, "True for the group Main, which cannot be deleted."),
    walletCount: field(Schema.Int, "Number of wallets of the group."),
    createdAtMs: field(Schema.Int, "Time of creation, in milliseconds since the Unix epoch.")
  }).annotate({ identifier: "TrackerGroup", description: "A group of tracked wallets." })
) {}

/** Payments of a wallet in addition to a trade. */
export const TradeFees = Schema.Struct({
  priorityLamports: field(
    Schema.NullOr(Atomic),
    "Priority fee that the wallet paid for the whole transaction. It is on the wallet's first trade of the transaction; the other trades have 0, and so do trades that another account paid for. Null for trades recorded by an earlier release."
  ),
  tipLamports: field(
    Schema.NullOr(Atomic),
    "Tips that the wallet paid to block builders, on the last trade before them. Null like `priorityLamports`."
  ),
  frontEndUsd: field(
    Schema.NullOr(Decimal),
    "Fee of a wallet app, terminal or bot in addition to the amounts, paid in SOL or dollars. Cost and proceeds include it. Null while the price of SOL in the block is unknown."
  ),
  frontEndLamports: field(Schema.NullOr(Atomic), "The same fee in lamports; null unless all of it was paid in SOL.")
}).annotate({ identifier: "TradeFees", description: "Payments of a wallet in addition to a trade." })
export type TradeFees = typeof TradeFees.Type

/** One trade of a tracked wallet. `amount` is exact; the measures are for display. */
export class TrackerTrade extends Schema.Opaque<TrackerTrade>()(
  Schema.Struct({
    type: field(Schema.Literal("trade"), "Always `trade`."),
    eventId: field(Schema.String, "`{signature}:{index}`. The same trade always has the same id."),
    wallet,
    mint,
    side: field(Schema.Literals(["buy", "sell"]), "`buy`: the token was received. `sell`: the token was given."),
    price_usd: field(Figure, "Price of one whole token in USD; null when unknown."),
    volume_usd: field(Figure, "Value in USD, as the nearest number; null when unknown."),
    volume_sol: field(Figure, "Value in SOL, as the nearest number; null when unknown."),
    market_cap_usd: field(Figure, "Market value of the token at the trade, in USD; null when unknown."),
    amount: field(Schema.NullOr(Atomic), "Atomic units of the mint that were traded."),
    decimals,
    ts: field(Schema.Int, "Block time in milliseconds since the Unix epoch."),
    slot,
    index: field(Schema.Int, "Place of the trade in its slot. Trades are ordered by ts, slot, index."),
    commitment: field(
      Schema.Literals(["confirmed", "finalized"]),
      "Commitment of the block: `confirmed` or `finalized`."
    ),
    signature: field(Signature, "First signature of the transaction, as base58 of 64 bytes."),
    pool: field(Schema.NullOr(Address), "Address of the pool; null for a route through several pools."),
    dex: field(Text, "Key of the venue, such as raydium-cpmm; null when unknown."),
    quotable: field(
      Schema.NullOr(Schema.Boolean),
      "False for a closed AMM, whose pools are never quoted; null for a route through several pools, or an unknown dex."
    ),
    fees: TradeFees,
    symbol: field(Text, "Ticker symbol; null when unknown."),
    name: field(Text, "Display name; null when unknown."),
    image: field(Text, "URL of the picture of the token; null when unknown."),
    imageProxyUrl: field(Text, "URL of the picture at this service; null without one."),
    imageStatus: field(
      Schema.Literals(["resolved", "pending", "missing"]),
      "`resolved`: there is a picture. `pending`: it is being searched for. `missing`: there is none."
    )
  }).annotate({ identifier: "TrackerTrade", description: "A trade of a tracked wallet. Unknown figures are null." })
) {}

/**
 * `delayed`: more than five seconds behind the chain. `down`: no message from the chain for thirty seconds. `idle`:
 * nothing is tracked.
 */
export const TrackerState = Schema.Literals(["live", "delayed", "down", "idle"])
export type TrackerState = typeof TrackerState.Type

export class TrackerStatus extends Schema.Opaque<TrackerStatus>()(
  Schema.Struct({
    state: field(
      TrackerState,
      "delayed: more than 5 s behind the chain. down: no message for 30 s. idle: nothing is tracked."
    ),
    walletsTracked: field(Schema.Int, "Number of wallets that are tracked."),
    walletsLive: field(Schema.Int, "Number of tracked wallets whose trades arrive live."),
    walletsPending: field(Schema.Int, "Number of tracked wallets that are not live yet."),
    walletLimit: field(Schema.Int, "Most wallets that an account may track."),
    lastEventAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time of the last trade, in milliseconds since the Unix epoch; null without one."
    ),
    ingestLagMs: field(Schema.NullOr(Schema.Int), "Milliseconds from a block to its trades here; null when unknown."),
    observedAtMs: field(
      Schema.Int,
      "Time of the newest observation that was used, in milliseconds since the Unix epoch; null when there was none."
    )
  }).annotate({ identifier: "TrackerStatus", description: "State of tracking." })
) {}

/** Address of a live connection, valid once and for a short time. Null without tracked wallets. */
export class RealtimeSession extends Schema.Opaque<RealtimeSession>()(
  Schema.Struct({
    wsUrl: field(
      Schema.String,
      "Good for one connection; empty when nothing is tracked. Its `wallets` parameter names at most the first 100 wallets, and fewer where the URL would exceed 8 KiB. The connection serves all of `wallets`. It is a secret while it lasts: do not log it."
    ),
    wallets: field(Schema.Array(Address), "The wallets."),
    expiresInSeconds: field(Schema.Int, "Seconds in which a connection can be opened with the ticket."),
    ticketExpiresAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time until which a connection can be opened with the ticket, in milliseconds since the Unix epoch; null without one."
    ),
    streamId: field(Text, "Id of the stream; null when nothing is tracked."),
    message: field(Schema.optionalKey(Schema.String), "An explanation. Only present when nothing is tracked.")
  }).annotate({ identifier: "RealtimeSession", description: "The address of one live connection." })
) {}

/** A wallet that an account wants to track. */
export interface Tracking {
  readonly accountId: string
  readonly wallet: Address
  /** Null for Main. */
  readonly groupId: GroupId | null
  /** Fields that are left out stay. */
  readonly label?: string | undefined
  readonly emoji?: string | undefined
  readonly notes?: string | undefined
  /** Most wallets of the account; `MAX_TRACKED_WALLETS` when missing. */
  readonly walletLimit?: number | undefined
}

/** A change of a tracked wallet. Fields that are left out stay; null clears a text. */
export interface WalletChange {
  readonly accountId: string
  readonly wallet: Address
  readonly label?: string | null | undefined
  readonly emoji?: string | null | undefined
  readonly notes?: string | null | undefined
  /** Every group that the wallet is in afterwards, the primary one first. */
  readonly groups?: ReadonlyArray<GroupId> | undefined
}

/** A tracked wallet. `isNew` is true when this call added it. */
export interface Tracked {
  readonly groupId: GroupId
  readonly isNew: boolean
}

/** Latest activity of a wallet. */
export interface WalletActivity {
  readonly wallet: Address
  /** Block time in milliseconds since the Unix epoch. */
  readonly atMs: number
}

/** The account has no group of this id. */
export class UnknownGroup extends Schema.TaggedError<UnknownGroup>()("UnknownGroup", { groupId: GroupId }) {}

/** The account does not track the wallet. */
export class UnknownWallet extends Schema.TaggedError<UnknownWallet>()("UnknownWallet", { wallet: Address }) {}

/** The account already has as many groups as it may. */
export class TooManyGroups extends Schema.TaggedError<TooManyGroups>()("TooManyGroups", { limit: Schema.Int }) {}

/** The account already tracks as many wallets as it may. */
export class TooManyWallets extends Schema.TaggedError<TooManyWallets>()("TooManyWallets", { limit: Schema.Int }) {}

/** The store did not answer in time, or failed. */
export class TrackerStoreUnavailable extends Schema.TaggedError<TrackerStoreUnavailable>()("TrackerStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the tracker store does not answer"
  }
}

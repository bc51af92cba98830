import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Atomic } from "../Amount.ts"
import { Decimal } from "../Scalar.ts"
import { Signature } from "../Signature.ts"

/** Most different wallets that one account tracks. */
export const MAX_TRACKED_WALLETS = 500

/** Most groups of one account, Main included. */
export const MAX_GROUPS = 50

/** A group's id: it means something to its own account only, so that no account can ask about another's. */
export const GroupId = Schema.String.check(
  Schema.isPattern(/^grp_[\w-]{1,60}$/u, {
    expected: "a group id: grp_ and 1 to 60 of A-Z, a-z, 0-9, _ and -"
  })
)
  .pipe(Schema.brand("GroupId"))
  .annotate({ identifier: "GroupId", description: "Names a group of tracked wallets of the caller's account." })
export type GroupId = typeof GroupId.Type

/** The group that every account has, and the one that is meant when none is named. */
export const MAIN_GROUP = GroupId.make("grp_main")

// Text that a database and a page can hold alike: no control characters, no half surrogates.
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
).annotate({ description: "1 to 64 characters, none of them a control character." })

/** A user's sign for a tracked wallet: 1 to 16 bytes of UTF-8, which is any single emoji but the longest families. */
export const WalletEmoji = Schema.String.check(
  line,
  Schema.makeFilter((text: string) => new TextEncoder().encode(text).length <= 16, {
    expected: "at most 16 bytes of UTF-8",
    toJsonSchema: () => ({ maxLength: 16 }),
    issue: "too_long"
  })
).annotate({ description: "1 to 16 bytes of UTF-8." })

/** Notes of a tracked wallet: 1 to 500 characters; tabs and line ends are its only control characters. */
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

/** Pending from the moment it is tracked until something is seen of it since then. */
export const WalletStatus = Schema.Literals(["pending", "live"])
export type WalletStatus = typeof WalletStatus.Type

/** A wallet as one account tracks it. */
export class TrackedWallet extends Schema.Opaque<TrackedWallet>()(
  Schema.Struct({
    wallet: Address,
    label: Text,
    emoji: Text,
    notes: Text,
    groups: Schema.Array(GroupId).annotate({ description: "Every group it is in, the primary one first." }),
    groupId: GroupId.annotate({ description: "The primary group." }),
    status: WalletStatus.annotate({ description: "pending until the first activity after it was added, then live." }),
    lastEventAtMs: Schema.NullOr(Schema.Int).annotate({ description: "Block time of the newest activity seen." }),
    addedAtMs: Schema.Int
  }).annotate({ identifier: "TrackedWallet", description: "A wallet as the caller's account tracks it." })
) {}

/** A group of tracked wallets. */
export class TrackerGroup extends Schema.Opaque<TrackerGroup>()(
  Schema.Struct({
    groupId: GroupId,
    name: Schema.String,
    isMain: Schema.Boolean,
    walletCount: Schema.Int,
    createdAtMs: Schema.Int
  }).annotate({ identifier: "TrackerGroup", description: "A group of tracked wallets." })
) {}

/** Payments of a wallet beside a trade. */
export const TradeFees = Schema.Struct({
  priorityLamports: Schema.NullOr(Atomic).annotate({
    description:
      "Priority fee that the wallet paid for the whole transaction, with its first trade of it; 0 with the others, and where another account paid. Null for trades recorded by an earlier release."
  }),
  tipLamports: Schema.NullOr(Atomic).annotate({
    description:
      "Tips to block builders that the wallet paid, with the last trade before them. Null like `priorityLamports`."
  }),
  frontEndUsd: Schema.NullOr(Decimal).annotate({
    description:
      "Fee of a wallet app, terminal or bot beside the amounts, in SOL or dollars: part of cost and proceeds. Null while the price of SOL in the block is unknown."
  }),
  frontEndLamports: Schema.NullOr(Atomic).annotate({
    description: "The same fee in lamports; null unless all of it was paid in SOL."
  })
}).annotate({ identifier: "TradeFees", description: "Payments of a wallet beside a trade." })
export type TradeFees = typeof TradeFees.Type

/** One trade of a tracked wallet. `amount` is exact; measures are for display. */
export class TrackerTrade extends Schema.Opaque<TrackerTrade>()(
  Schema.Struct({
    type: Schema.Literal("trade"),
    eventId: Schema.String.annotate({
      description: "`{signature}:{index}`: the same trade is told under the same id."
    }),
    wallet: Address,
    mint: Address,
    side: Schema.Literals(["buy", "sell"]),
    price_usd: Figure.annotate({ description: "USD per whole token." }),
    volume_usd: Figure,
    volume_sol: Figure,
    market_cap_usd: Figure,
    amount: Schema.NullOr(Atomic).annotate({ description: "Units of the mint that changed hands." }),
    decimals: Schema.NullOr(Schema.Int),
    ts: Schema.Int.annotate({ description: "Block time in milliseconds since the Unix epoch." }),
    slot: Schema.Int,
    index: Schema.Int.annotate({ description: "Trades are in the order of ts, slot, index." }),
    commitment: Schema.Literals(["confirmed", "finalized"]),
    signature: Signature,
    pool: Schema.NullOr(Address),
    dex: Text,
    quotable: Schema.NullOr(Schema.Boolean).annotate({
      description:
        "False for a closed AMM, whose pools are never quoted; null for a route of several pools, or an unknown dex."
    }),
    fees: TradeFees,
    symbol: Text,
    name: Text,
    image: Text,
    imageProxyUrl: Text,
    imageStatus: Schema.Literals(["resolved", "pending", "missing"])
  }).annotate({ identifier: "TrackerTrade", description: "A trade of a tracked wallet; unknown figures are null." })
) {}

/** `delayed`: more than five seconds behind the chain. `down`: nothing heard of it for thirty. `idle`: nothing tracked. */
export const TrackerState = Schema.Literals(["live", "delayed", "down", "idle"])
export type TrackerState = typeof TrackerState.Type

/** State of the tracker's sources. */
export class TrackerStatus extends Schema.Opaque<TrackerStatus>()(
  Schema.Struct({
    state: TrackerState.annotate({
      description: "delayed: over 5 s behind the chain. down: nothing heard for 30 s. idle: nothing is tracked."
    }),
    walletsTracked: Schema.Int,
    walletsLive: Schema.Int,
    walletsPending: Schema.Int,
    walletLimit: Schema.Int,
    lastEventAtMs: Schema.NullOr(Schema.Int),
    ingestLagMs: Schema.NullOr(Schema.Int),
    observedAtMs: Schema.Int
  }).annotate({ identifier: "TrackerStatus", description: "How tracking goes." })
) {}

/** Address of a live connection, valid once and briefly. Null without tracked wallets. */
export class RealtimeSession extends Schema.Opaque<RealtimeSession>()(
  Schema.Struct({
    wsUrl: Schema.String.annotate({
      description:
        "Good for one connection; empty when nothing is tracked. Its wallets list names the first 100 at most, and fewer where the URL would pass 8 KiB; the connection serves all of `wallets`. A secret while it lasts: do not log it."
    }),
    wallets: Schema.Array(Address),
    expiresInSeconds: Schema.Int,
    ticketExpiresAtMs: Schema.NullOr(Schema.Int),
    streamId: Text,
    message: Schema.optionalKey(Schema.String).annotate({ description: "There when nothing is tracked." })
  }).annotate({ identifier: "RealtimeSession", description: "Where a live connection is made, once and soon." })
) {}

/** A wallet that an account wants to track. */
export interface Tracking {
  readonly accountId: string
  readonly wallet: Address
  /** Null for Main. */
  readonly groupId: GroupId | null
  /** Fields left out stay. */
  readonly label?: string | undefined
  readonly emoji?: string | undefined
  readonly notes?: string | undefined
  /** Wallets that the account may track; `MAX_TRACKED_WALLETS` unless given. */
  readonly walletLimit?: number | undefined
}

/** A change of a tracked wallet. Fields left out stay; null clears a text. */
export interface WalletChange {
  readonly accountId: string
  readonly wallet: Address
  readonly label?: string | null | undefined
  readonly emoji?: string | null | undefined
  readonly notes?: string | null | undefined
  /** Every group that the wallet is in afterwards, the primary one first. */
  readonly groups?: ReadonlyArray<GroupId> | undefined
}

/** A tracked wallet, and true when this call added it. */
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

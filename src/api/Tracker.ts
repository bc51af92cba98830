import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { IdempotencyKey } from "../domain/Idempotency.ts"
import {
  GroupId,
  MAX_GROUPS,
  RealtimeSession,
  TrackedWallet,
  TrackerGroup,
  TrackerStatus,
  TrackerTrade,
  WalletEmoji,
  WalletLabel,
  WalletNotes
} from "../domain/wallets/Tracker.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { LimitParameter } from "./cursor.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { BooleanParameter, described, NoQuery, UniqueList } from "./parameters.ts"
import {
  DataUnavailable,
  IdempotencyInFlight,
  IdempotencyKeyReused,
  InvalidRequest,
  LimitReached,
  PathNotFound,
  RateLimited,
  WalletNotFound
} from "./problems.ts"

/** Default values of optional parameters. */
export const defaults = { limit: 100, control: false } as const

/** Path of live connections; a session issues the ticket. */
export const REALTIME_PATH = "/api/v1/tracker/realtime"

const group = Schema.optionalKey(described(GroupId, "Only this group; all unless given."))

/** Wallets that an account tracks. */
export class TrackedWallets extends Schema.Opaque<TrackedWallets>()(
  Schema.Struct({
    wallets: Schema.Array(TrackedWallet).annotate({ description: "The newest first; all of them, 500 at most." })
  }).annotate({ identifier: "TrackedWallets", description: "Wallets that the account tracks." })
) {}

/** A wallet to track. */
export class NewTrackedWallet extends Schema.Opaque<NewTrackedWallet>()(
  Schema.Struct({
    wallet: Address,
    label: Schema.optionalKey(WalletLabel),
    emoji: Schema.optionalKey(WalletEmoji),
    group: Schema.optionalKey(GroupId.annotate({ description: "A group of the account; Main unless given." }))
  }).annotate({
    identifier: "NewTrackedWallet",
    description: "A wallet to track. For one that is tracked already, the texts that are given replace those it has."
  })
) {}

/** A wallet is tracked, newly or as before. */
export class WalletTracked extends Schema.Opaque<WalletTracked>()(
  Schema.Struct({ wallet: Address, tracked: Schema.Literal(true), groupId: GroupId }).annotate({
    identifier: "WalletTracked",
    description: "201 when the wallet was not in this group before, 200 when it was."
  })
) {}

/** Wallets to track together. */
export class NewTrackedWallets extends Schema.Opaque<NewTrackedWallets>()(
  Schema.Struct({
    wallets: Schema.Array(NewTrackedWallet)
      .check(
        Schema.isMinLength(1, { expected: "1 to 100 wallets" }),
        Schema.isMaxLength(100, { expected: "1 to 100 wallets" }),
        Schema.makeFilter((wallets: ReadonlyArray<NewTrackedWallet>) =>
          new Set(wallets.map(({ wallet }) => wallet)).size === wallets.length
            ? undefined
            : { path: [], issue: "Every wallet may be in the list once." }
        )
      )
      .annotate({ description: "1 to 100 different wallets, added together or not at all." })
  }).annotate({ identifier: "NewTrackedWallets", description: "Wallets to track together." })
) {}

/** Wallets are tracked, newly or as before. */
export class WalletsTracked extends Schema.Opaque<WalletsTracked>()(
  Schema.Struct({
    wallets: Schema.Array(
      Schema.Struct({
        wallet: Address,
        tracked: Schema.Literal(true),
        groupId: GroupId,
        isNew: Schema.Boolean.annotate({ description: "True when the wallet was not in this group before." })
      })
    ).annotate({ description: "In the order of the request." })
  }).annotate({ identifier: "WalletsTracked", description: "The wallets of a batch, all of them tracked." })
) {}

/** Changes of a tracked wallet. */
export class TrackedWalletChange extends Schema.Opaque<TrackedWalletChange>()(
  Schema.Struct({
    label: Schema.optionalKey(Schema.NullOr(WalletLabel)),
    emoji: Schema.optionalKey(Schema.NullOr(WalletEmoji)),
    notes: Schema.optionalKey(Schema.NullOr(WalletNotes)),
    groups: Schema.optionalKey(
      UniqueList(GroupId, MAX_GROUPS, "groups").annotate({
        description: "Every group that the wallet is in afterwards, the primary one first."
      })
    )
  }).annotate({
    identifier: "TrackedWalletChange",
    description: "Changes of a tracked wallet. Fields left out stay; null clears a text."
  })
) {}

/** A group to create, or the new name of one. */
export class GroupNamed extends Schema.Opaque<GroupNamed>()(
  Schema.Struct({ name: WalletLabel }).annotate({
    identifier: "GroupName",
    description: "The name of a group; names need not be unique."
  })
) {}

/** A group is gone. */
export class GroupDeleted extends Schema.Opaque<GroupDeleted>()(
  Schema.Struct({ groupId: GroupId, deleted: Schema.Literal(true) }).annotate({
    identifier: "TrackerGroupDeleted",
    description: "The group is deleted; wallets that were in no other group are in Main."
  })
) {}

/** A wallet is not tracked, any more or ever. */
export class WalletUntracked extends Schema.Opaque<WalletUntracked>()(
  Schema.Struct({ wallet: Address, tracked: Schema.Literal(false) }).annotate({
    identifier: "WalletUntracked",
    description: "The wallet is in no group of the account."
  })
) {}

/** Groups, wallets and status, for a client before it connects. */
export class TrackerSnapshot extends Schema.Opaque<TrackerSnapshot>()(
  Schema.Struct({
    groups: Schema.Array(TrackerGroup).annotate({ description: "Every group of the account, Main first." }),
    wallets: Schema.Array(TrackedWallet),
    status: TrackerStatus.annotate({ description: "Of these wallets." })
  }).annotate({ identifier: "TrackerSnapshot", description: "Groups, wallets and tracking status." })
) {}

/** The newest trades of tracked wallets. */
export class TrackerTrades extends Schema.Opaque<TrackerTrades>()(
  Schema.Struct({
    count: Schema.Int,
    trades: Schema.Array(TrackerTrade).annotate({
      description: "The newest first, none from before its wallet was added."
    }),
    oldestTs: Schema.NullOr(Schema.Int),
    newestTs: Schema.NullOr(Schema.Int),
    truncated: Schema.Boolean.annotate({
      description:
        "True when older trades of one of these wallets were observed and are no longer held; about 250 per wallet are."
    })
  }).annotate({ identifier: "TrackerTrades", description: "The newest trades of tracked wallets." })
) {}

/** Query of a group. */
export const GroupQuery = Schema.Struct({ group })

/** Query of trades. */
export const TradesQuery = Schema.Struct({
  wallet: Schema.optionalKey(described(Address, "Only trades of this wallet.")),
  limit: Schema.optionalKey(LimitParameter(500, defaults.limit)),
  group
})

/** Query of a session. */
export const SessionQuery = Schema.Struct({
  group,
  control: Schema.optionalKey(
    described(BooleanParameter, "Adds control frames: heartbeats, notices, errors; false unless given.")
  )
})

/** Tracked wallets of an account and their trades. */
export class TrackingGroup extends HttpApiGroup.make("tracker")
  .add(
    HttpApiEndpoint.get("wallets", "/api/v1/tracker/wallets", {
      query: GroupQuery,
      success: TrackedWallets,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "Tracked wallets"),
    HttpApiEndpoint.post("track", "/api/v1/tracker/wallets", {
      query: NoQuery,
      headers: Schema.Struct({ "idempotency-key": Schema.optionalKey(IdempotencyKey) }),
      payload: NewTrackedWallet,
      success: [WalletTracked.pipe(HttpApiSchema.status(201)), WalletTracked.pipe(HttpApiSchema.status(200))],
      error: [LimitReached, IdempotencyInFlight, IdempotencyKeyReused, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Track a wallet"),
    HttpApiEndpoint.post("trackBatch", "/api/v1/tracker/wallets/batch", {
      query: NoQuery,
      headers: Schema.Struct({ "idempotency-key": Schema.optionalKey(IdempotencyKey) }),
      payload: NewTrackedWallets,
      success: WalletsTracked,
      error: [LimitReached, IdempotencyInFlight, IdempotencyKeyReused, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Track up to 100 wallets")
      .annotate(
        OpenApi.Description,
        "All wallets are added or none: a group or a limit that fails one fails the batch."
      ),
    HttpApiEndpoint.patch("changeWallet", "/api/v1/tracker/wallets/:wallet", {
      params: { wallet: Address.annotate({ description: "A wallet: base58 of 32 bytes." }) },
      query: NoQuery,
      payload: TrackedWalletChange,
      success: TrackedWallet,
      error: [WalletNotFound, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Change label, emoji, notes or groups of a tracked wallet"),
    HttpApiEndpoint.post("createGroup", "/api/v1/tracker/groups", {
      query: NoQuery,
      headers: Schema.Struct({ "idempotency-key": Schema.optionalKey(IdempotencyKey) }),
      payload: GroupNamed,
      success: TrackerGroup.pipe(HttpApiSchema.status(201)),
      error: [LimitReached, IdempotencyInFlight, IdempotencyKeyReused, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Create a group; 50 per account"),
    HttpApiEndpoint.patch("renameGroup", "/api/v1/tracker/groups/:id", {
      params: { id: GroupId },
      query: NoQuery,
      payload: GroupNamed,
      success: TrackerGroup,
      error: [PathNotFound, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Rename a group"),
    HttpApiEndpoint.delete("deleteGroup", "/api/v1/tracker/groups/:id", {
      params: { id: GroupId },
      query: NoQuery,
      success: GroupDeleted,
      error: [InvalidRequest, PathNotFound, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Delete a group")
      .annotate(OpenApi.Description, "Wallets that were in no other group move to Main. Main cannot be deleted."),
    HttpApiEndpoint.delete("untrack", "/api/v1/tracker/wallets/:wallet", {
      params: { wallet: Address.annotate({ description: "A wallet: base58 of 32 bytes." }) },
      query: NoQuery,
      success: WalletUntracked,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "Stop tracking a wallet"),
    HttpApiEndpoint.get("snapshot", "/api/v1/tracker/snapshot", {
      query: GroupQuery,
      success: TrackerSnapshot,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "Groups, wallets and tracking status"),
    HttpApiEndpoint.get("trades", "/api/v1/tracker/trades", {
      query: TradesQuery,
      success: TrackerTrades,
      error: DataUnavailable
    }).annotate(OpenApi.Summary, "The newest trades of tracked wallets"),
    HttpApiEndpoint.get("session", "/api/v1/tracker/realtime/session", {
      query: SessionQuery,
      success: RealtimeSession,
      error: [RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "A ticket for a live connection; ten a minute")
  )
  .annotateEndpoints(Scope, ["tracker.read", "md.read"])
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Tracked wallets of an account and their trades.") {}

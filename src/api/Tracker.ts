import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { IdempotencyKey } from "../domain/Idempotency.ts"
import {
  DataUnavailable,
  IdempotencyInFlight,
  IdempotencyKeyReused,
  InvalidRequest,
  LimitReached,
  PathNotFound,
  RateLimited,
  WalletNotFound
} from "./errors/problems.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { BodyLimit, JsonBody } from "./middleware/JsonBody.ts"
import { LimitParameter } from "./pages.ts"
import { atLeastOneChange, BooleanParameter, NoQuery, optional } from "./parameters.ts"
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
} from "./schemas/Tracker.ts"
import { field } from "../domain/field.ts"
import { wallet } from "./schemas/fields.ts"
import { UniqueList } from "./schemas/lists.ts"

/** Default values of optional parameters. */
export const defaults = { limit: 100, control: false } as const

/** Path of tracker sockets. A session issues the ticket. */
export const REALTIME_PATH = "/api/v1/tracker/realtime"

const group = optional(GroupId, "Only this group; all by default.")

export class TrackedWallets extends Schema.Opaque<TrackedWallets>()(
  Schema.Struct({
    wallets: field(Schema.Array(TrackedWallet), "The newest first; all of them, 500 at most.")
  }).annotate({ identifier: "TrackedWallets", description: "Wallets that the account tracks." })
) {}

export class NewTrackedWallet extends Schema.Opaque<NewTrackedWallet>()(
  Schema.Struct({
    wallet,
    label: Schema.optionalKey(WalletLabel),
    emoji: Schema.optionalKey(WalletEmoji),
    group: field(Schema.optionalKey(GroupId), "A group of the account; Main by default.")
  }).annotate({
    identifier: "NewTrackedWallet",
    description: "A wallet to track. If it is tracked already, the given texts replace the existing ones."
  })
) {}

export class WalletTracked extends Schema.Opaque<WalletTracked>()(
  Schema.Struct({
    wallet,
    tracked: field(Schema.Literal(true), "True when the wallet is in a group of the account."),
    groupId: GroupId
  }).annotate({
    identifier: "WalletTracked",
    description: "201 when the wallet was not in this group before, otherwise 200."
  })
) {}

export class NewTrackedWallets extends Schema.Opaque<NewTrackedWallets>()(
  Schema.Struct({
    wallets: field(
      Schema.Array(NewTrackedWallet).check(
        Schema.isMinLength(1, { expected: "1 to 100 wallets" }),
        Schema.isMaxLength(100, { expected: "1 to 100 wallets" }),
        Schema.makeFilter((wallets: ReadonlyArray<NewTrackedWallet>) =>
          new Set(wallets.map(({ wallet }) => wallet)).size === wallets.length
            ? undefined
            : { path: [], issue: "Every wallet may be in the list once." }
        )
      ),
      "1 to 100 different wallets. All are added or none."
    )
  }).annotate({ identifier: "NewTrackedWallets", description: "Wallets to track together." })
) {}

export class WalletsTracked extends Schema.Opaque<WalletsTracked>()(
  Schema.Struct({
    wallets: field(
      Schema.Array(
        Schema.Struct({
          wallet,
          tracked: field(Schema.Literal(true), "True when the wallet is in a group of the account."),
          groupId: GroupId,
          isNew: field(Schema.Boolean, "True when the wallet was not in this group before.")
        })
      ),
      "The wallets in the order of the request."
    )
  }).annotate({ identifier: "WalletsTracked", description: "The wallets of a batch, all of them tracked." })
) {}

export class TrackedWalletChange extends Schema.Opaque<TrackedWalletChange>()(
  Schema.Struct({
    label: field(Schema.optionalKey(Schema.NullOr(WalletLabel)), "Display name; null without one."),
    emoji: field(Schema.optionalKey(Schema.NullOr(WalletEmoji)), "Emoji of the wallet; null without one."),
    notes: field(Schema.optionalKey(Schema.NullOr(WalletNotes)), "Notes of the owner; null without any."),
    groups: field(
      Schema.optionalKey(UniqueList(GroupId, MAX_GROUPS, "groups")),
      "Every group of the wallet after the change, the primary one first."
    )
  })
    .annotate({
      identifier: "TrackedWalletChange",
      description: "Changes of a tracked wallet, at least one. Fields that are left out stay; null clears a text."
    })
    .check(atLeastOneChange)
) {}

export class GroupNamed extends Schema.Opaque<GroupNamed>()(
  Schema.Struct({ name: WalletLabel }).annotate({
    identifier: "GroupName",
    description: "Name of the group. Names need not be unique."
  })
) {}

export class GroupDeleted extends Schema.Opaque<GroupDeleted>()(
  Schema.Struct({ groupId: GroupId, deleted: field(Schema.Literal(true), "Always true.") }).annotate({
    identifier: "TrackerGroupDeleted",
    description: "The group is deleted. Wallets that were in no other group are in Main now."
  })
) {}

export class WalletUntracked extends Schema.Opaque<WalletUntracked>()(
  Schema.Struct({
    wallet,
    tracked: field(Schema.Literal(false), "True when the wallet is in a group of the account.")
  }).annotate({
    identifier: "WalletUntracked",
    description: "The wallet is in no group of the account."
  })
) {}

export class TrackerSnapshot extends Schema.Opaque<TrackerSnapshot>()(
  Schema.Struct({
    groups: field(Schema.Array(TrackerGroup), "Every group of the account, Main first."),
    wallets: field(Schema.Array(TrackedWallet), "The wallets."),
    status: field(TrackerStatus, "Tracking status of these wallets.")
  }).annotate({ identifier: "TrackerSnapshot", description: "Groups, wallets and tracking status." })
) {}

export class TrackerTrades extends Schema.Opaque<TrackerTrades>()(
  Schema.Struct({
    count: field(Schema.Int, "Number of trades in the answer."),
    trades: field(Schema.Array(TrackerTrade), "Newest first. Trades from before a wallet was added are left out."),
    oldestTs: field(
      Schema.NullOr(Schema.Int),
      "Time of the oldest trade of the answer, in milliseconds since the Unix epoch; null without one."
    ),
    newestTs: field(
      Schema.NullOr(Schema.Int),
      "Time of the newest trade of the answer, in milliseconds since the Unix epoch; null without one."
    ),
    truncated: field(
      Schema.Boolean,
      "True when older trades of one of these wallets were observed but are no longer held. About 250 trades are held for each wallet."
    )
  }).annotate({ identifier: "TrackerTrades", description: "The newest trades of tracked wallets." })
) {}

export const GroupQuery = Schema.Struct({ group })

export const TradesQuery = Schema.Struct({
  wallet: optional(Address, "Only trades of this wallet."),
  limit: Schema.optionalKey(LimitParameter(500, defaults.limit)),
  group
})

export const SessionQuery = Schema.Struct({
  group,
  control: optional(BooleanParameter, "Adds control frames: heartbeats, notices, errors; false by default.")
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
        "All wallets are added or none. A group or a limit that rejects one wallet rejects the batch. The body may have 128 KiB."
      )
      .annotate(BodyLimit, 128 * 1024),
    HttpApiEndpoint.patch("changeWallet", "/api/v1/tracker/wallets/:wallet", {
      params: { wallet: field(Address, "A wallet: base58 of 32 bytes.") },
      query: NoQuery,
      payload: TrackedWalletChange,
      success: TrackedWallet,
      error: [WalletNotFound, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Change label, emoji, notes or groups of a tracked wallet")
      .annotate(OpenApi.Description, "The body may have 16 KiB.")
      .annotate(BodyLimit, 16 * 1024),
    HttpApiEndpoint.post("createGroup", "/api/v1/tracker/groups", {
      query: NoQuery,
      headers: Schema.Struct({ "idempotency-key": Schema.optionalKey(IdempotencyKey) }),
      payload: GroupNamed,
      success: TrackerGroup.pipe(HttpApiSchema.status(201)),
      error: [LimitReached, IdempotencyInFlight, IdempotencyKeyReused, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Create a group; at most 50 for each account"),
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
      params: { wallet: field(Address, "A wallet: base58 of 32 bytes.") },
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
    }).annotate(
      OpenApi.Summary,
      "A ticket for a live connection; in a minute at most 10, or twice the connections of the plan if that is more"
    )
  )
  .annotateEndpoints(Scope, ["tracker.read", "md.read"])
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Tracked wallets of an account and their trades.") {}

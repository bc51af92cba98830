import { Clock, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import type { ErrorDetail } from "../../api/errors/Problem.ts"
import { LimitReached, PathNotFound, WalletNotFound } from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import type { ApiKey } from "../../api/schemas/ApiKey.ts"
import {
  type GroupId,
  MAIN_GROUP,
  type TooManyGroups,
  type TooManyWallets,
  TrackerGroup
} from "../../api/schemas/Tracker.ts"
import {
  defaults,
  type GroupNamed,
  type NewTrackedWallet,
  type NewTrackedWallets,
  REALTIME_PATH,
  type SessionQuery,
  type TrackedWalletChange,
  type TradesQuery,
  WalletsTracked,
  WalletTracked
} from "../../api/Tracker.ts"
import type { Address } from "../../domain/Address.ts"
import { SecretSource } from "../../domain/randomText.ts"
import { ticketPolicy } from "../../live/tickets.ts"
import { addressesOf, secondOf, statusOf, withActivity } from "../../wallets/tracker/overview.ts"
import { Tickets } from "../../wallets/tracker/Tickets.ts"
import { TrackerFeed } from "../../wallets/tracker/TrackerFeed.ts"
import { TrackerStore } from "../../wallets/tracker/TrackerStore.ts"
import { answerOf, makeOnce } from "../middleware/idempotent.ts"
import { admittedSession } from "../middleware/sessionCookie.ts"
import { invalid, limiterUnavailable, storeUnavailable } from "../problems.ts"
import { Settings } from "../Settings.ts"
import { newStreamId, socketUrl, ticketsUnavailable, tooManySessions } from "./liveSession.ts"

/** Most wallets in the URL. The ticket holds all of them. */
const LISTED = 100
/** The longest URL that servers accept. */
const MAX_URL = 8192
const LONGEST_ADDRESS = 44

/** The WebSocket URL for a ticket. It is a secret and is not logged. */
export const realtimeUrl = (
  publicUrl: string | null,
  request: HttpServerRequest.HttpServerRequest,
  { ticket, wallets }: { readonly ticket: string; readonly wallets: ReadonlyArray<Address> }
): string => {
  // Tickets and addresses contain no character that a query would have to escape.
  const start = socketUrl(publicUrl, request, `${REALTIME_PATH}?ticket=${ticket}&wallets=`)
  const room = Math.floor((MAX_URL - start.length) / (LONGEST_ADDRESS + 1))
  return start + wallets.slice(0, Math.max(0, Math.min(LISTED, room))).join(",")
}

interface OfGroup {
  readonly params: { readonly id: GroupId }
}

interface Requested {
  readonly request: HttpServerRequest.HttpServerRequest
}

const unavailable = storeUnavailable("The tracker store is unavailable", "Tracked wallets are unavailable: try again.")

const unknownGroup =
  (part: ErrorDetail["in"], field = "group") =>
  () =>
    Effect.fail(
      invalid({ in: part, field, issue: "unknown" }, `${field} must name groups of this account by their ids.`)
    )

const groupNotFound = () => new PathNotFound({ error: { message: "The account has no group of this id." } })

const tooManyGroups = ({ limit }: TooManyGroups) =>
  Effect.fail(new LimitReached({ error: { message: `An account may have at most ${limit} groups.` } }))

const tooMany = ({ limit }: TooManyWallets) =>
  Effect.fail(new LimitReached({ error: { message: `An account may track at most ${limit} wallets.` } }))

const batchAnswer = answerOf(200, WalletsTracked)
const groupAnswer = answerOf(201, TrackerGroup)
const answers = { true: answerOf(201, WalletTracked), false: answerOf(200, WalletTracked) }

/** The tracking that a body describes. */
const trackingOf = ({ accountId, plan }: ApiKey, { emoji, group, label, wallet }: NewTrackedWallet) => ({
  accountId,
  walletLimit: plan.trackedWallets,
  wallet,
  groupId: group ?? null,
  label,
  emoji
})

const nothingTracked = {
  wsUrl: "",
  wallets: [],
  expiresInSeconds: 0,
  ticketExpiresAtMs: null,
  streamId: null,
  message: "No wallets are tracked, so there is nothing to connect to."
}

/** Reads what an account tracks. */
const makeOverview = Effect.gen(function* () {
  const store = yield* TrackerStore
  const feed = yield* TrackerFeed

  /** Groups and wallets of the caller's account, with activity that the store has not recorded yet. */
  const overview = Effect.fnUntraced(function* (groupId: GroupId | undefined) {
    const { accountId } = yield* CurrentKey
    const { groups, wallets } = yield* store
      .overview({ accountId, groupId: groupId ?? null })
      .pipe(Effect.catchTags({ UnknownGroup: unknownGroup("query"), TrackerStoreUnavailable: unavailable }))
    return { groups, wallets: wallets.map((tracked) => withActivity(tracked, feed.lastEventAtMs(tracked.wallet))) }
  })

  /** All groups and wallets, read again after a write. */
  const everything = Effect.suspend(() => overview(undefined)).pipe(
    Effect.catchTag("InvalidRequest", (problem) => Effect.die(problem))
  )

  return { overview, everything }
})

const makeWallets = Effect.gen(function* () {
  const store = yield* TrackerStore
  const { everything, overview } = yield* makeOverview

  const wallets = Effect.fnUntraced(function* ({ query }: { readonly query: { readonly group?: GroupId } }) {
    return { wallets: (yield* overview(query.group)).wallets }
  })

  const add = Effect.fnUntraced(function* (wanted: NewTrackedWallet) {
    const { wallet } = wanted
    const { groupId, isNew } = yield* store.add(trackingOf(yield* CurrentKey, wanted)).pipe(
      Effect.catchTags({
        UnknownGroup: unknownGroup("body"),
        TooManyWallets: tooMany,
        TrackerStoreUnavailable: unavailable
      })
    )
    return yield* answers[`${isNew}`]({ wallet, tracked: true, groupId })
  })

  const addAll = Effect.fnUntraced(function* ({ wallets }: NewTrackedWallets) {
    const key = yield* CurrentKey
    const { accountId } = key
    const added = yield* store
      .addAll(
        accountId,
        wallets.map((wanted) => trackingOf(key, wanted))
      )
      .pipe(
        Effect.catchTags({
          UnknownGroup: unknownGroup("body", "wallets.group"),
          TooManyWallets: tooMany,
          TrackerStoreUnavailable: unavailable
        })
      )
    return yield* batchAnswer({
      wallets: added.flatMap(({ groupId, isNew }, i) => {
        const wallet = wallets[i]?.wallet
        return wallet === undefined ? [] : [{ wallet, tracked: true as const, groupId, isNew }]
      })
    })
  })

  const changeWallet = Effect.fnUntraced(function* (input: {
    readonly params: { readonly wallet: Address }
    readonly payload: TrackedWalletChange
  }) {
    const { accountId } = yield* CurrentKey
    const { wallet } = input.params
    yield* store.change({ accountId, wallet, ...input.payload }).pipe(
      Effect.catchTags({
        UnknownWallet: () => Effect.fail(new WalletNotFound()),
        UnknownGroup: unknownGroup("body", "groups"),
        TrackerStoreUnavailable: unavailable
      })
    )
    const tracked = (yield* everything).wallets.find((one) => one.wallet === wallet)
    return tracked ?? (yield* new WalletNotFound())
  })

  const untrack = Effect.fnUntraced(function* ({ params }: { readonly params: { readonly wallet: Address } }) {
    const { accountId } = yield* CurrentKey
    const { wallet } = params
    yield* store.remove({ accountId, wallet }).pipe(Effect.catchTag("TrackerStoreUnavailable", unavailable))
    return { wallet, tracked: false as const }
  })

  return { wallets, add, addAll, changeWallet, untrack }
})

const makeGroups = Effect.gen(function* () {
  const store = yield* TrackerStore
  const { everything } = yield* makeOverview

  const createGroup = Effect.fnUntraced(function* ({ name }: GroupNamed) {
    const { accountId } = yield* CurrentKey
    const group = yield* store
      .createGroup({ accountId, name })
      .pipe(Effect.catchTags({ TooManyGroups: tooManyGroups, TrackerStoreUnavailable: unavailable }))
    return yield* groupAnswer(group)
  })

  const renameGroup = Effect.fnUntraced(function* (input: OfGroup & { readonly payload: GroupNamed }) {
    const { accountId } = yield* CurrentKey
    const groupId = input.params.id
    const isKnown = yield* store
      .renameGroup({ accountId, groupId, name: input.payload.name })
      .pipe(Effect.catchTag("TrackerStoreUnavailable", unavailable))
    const group = isKnown ? (yield* everything).groups.find((one) => one.groupId === groupId) : undefined
    return group ?? (yield* groupNotFound())
  })

  const deleteGroup = Effect.fnUntraced(function* ({ params }: OfGroup) {
    const { accountId } = yield* CurrentKey
    if (params.id === MAIN_GROUP) {
      return yield* invalid(
        { in: "path", field: "id", issue: "conflict" },
        "id must not be Main, which cannot be deleted."
      )
    }
    const isGone = yield* store
      .removeGroup({ accountId, groupId: params.id })
      .pipe(Effect.catchTag("TrackerStoreUnavailable", unavailable))
    return isGone ? { groupId: params.id, deleted: true as const } : yield* groupNotFound()
  })

  return { createGroup, renameGroup, deleteGroup }
})

/** The snapshot, the newest trades, and sessions of the socket. */
const makeReads = Effect.gen(function* () {
  const feed = yield* TrackerFeed
  const tickets = yield* Tickets
  const settings = yield* Settings
  const random = yield* SecretSource
  const { overview } = yield* makeOverview

  const snapshot = Effect.fnUntraced(function* ({ query }: { readonly query: { readonly group?: GroupId } }) {
    const { groups, wallets } = yield* overview(query.group)
    const { plan } = yield* CurrentKey
    const nowMs = yield* Clock.currentTimeMillis
    return { groups, wallets, status: statusOf(wallets, feed.health(nowMs), nowMs, plan.trackedWallets) }
  })

  const trades = Effect.fnUntraced(function* ({ query }: { readonly query: typeof TradesQuery.Type }) {
    const { group, limit = defaults.limit, wallet } = query
    const { wallets } = yield* overview(group)
    // Another account may have tracked a wallet for longer. Trades from before this account added it are not shown.
    const chosen = wallets
      .filter((tracked) => wallet === undefined || tracked.wallet === wallet)
      .map((tracked) => ({ wallet: tracked.wallet, sinceMs: secondOf(tracked.addedAtMs) }))
    const recent = feed.tradesOf(chosen, limit)
    return { count: recent.trades.length, ...recent }
  })

  const session = Effect.fnUntraced(function* ({
    query,
    request
  }: Requested & { readonly query: typeof SessionQuery.Type }) {
    const key = yield* CurrentKey
    const { accountId, id: keyId, plan } = key
    yield* tickets
      .enter(keyId, plan)
      .pipe(Effect.catchTags({ TooManySessions: tooManySessions, LimiterUnavailable: limiterUnavailable }))
    const wallets = addressesOf((yield* overview(query.group)).wallets)
    if (wallets.length === 0) {
      return nothingTracked
    }
    const { group = null, control = defaults.control } = query
    const streamId = newStreamId(random)
    const { expiresAtMs, ticket } = yield* tickets
      .issue({
        keyId,
        session: admittedSession(request, settings, key),
        accountId,
        wallets,
        group,
        control,
        streamId,
        sockets: plan.sockets
      })
      .pipe(Effect.catchTag("TicketsUnavailable", ticketsUnavailable))
    return {
      wsUrl: realtimeUrl(settings.publicUrl, request, { ticket, wallets }),
      wallets,
      expiresInSeconds: ticketPolicy.lifeMs / 1000,
      ticketExpiresAtMs: expiresAtMs,
      streamId
    }
  })

  return { snapshot, trades, session }
})

export const layer = HttpApiBuilder.group(
  Api,
  "tracker",
  Effect.fnUntraced(function* (handlers) {
    const once = yield* makeOnce
    const { add, addAll, ...wallets } = yield* makeWallets
    const { createGroup, ...groups } = yield* makeGroups
    return handlers.handleAll({
      ...wallets,
      ...groups,
      ...(yield* makeReads),
      track: ({ headers, payload, request }) => once(request, headers["idempotency-key"], add(payload)),
      trackBatch: ({ headers, payload, request }) => once(request, headers["idempotency-key"], addAll(payload)),
      createGroup: ({ headers, payload, request }) => once(request, headers["idempotency-key"], createGroup(payload))
    })
  })
)

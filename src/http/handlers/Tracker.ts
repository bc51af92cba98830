import { Clock, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { randomBase62, SecretSource } from "../../domain/randomText.ts"
import { Api } from "../../api/Api.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import type { ErrorDetail } from "../../api/Problem.ts"
import { LimitReached, PathNotFound, WalletNotFound } from "../../api/problems.ts"
import {
  defaults,
  type GroupNamed,
  type NewTrackedWallet,
  type NewTrackedWallets,
  type SessionQuery,
  type TrackedWalletChange,
  type TradesQuery,
  WalletsTracked,
  WalletTracked
} from "../../api/Tracker.ts"
import type { ApiKey } from "../../domain/ApiKey.ts"
import type { Address } from "../../domain/Address.ts"
import {
  type GroupId,
  MAIN_GROUP,
  type TooManyGroups,
  type TooManyWallets,
  TrackerGroup
} from "../../domain/wallets/Tracker.ts"
import { addressesOf, secondOf, statusOf, withActivity } from "../../tracker/overview.ts"
import { ticketPolicy, type TooManySessions } from "../../live/tickets.ts"
import { Tickets } from "../../tracker/tickets/Tickets.ts"
import { TrackerFeed } from "../../tracker/TrackerFeed.ts"
import { TrackerStore } from "../../tracker/TrackerStore.ts"
import { answerOf, makeOnce } from "../middleware/idempotent.ts"
import { admittedSession } from "../middleware/sessionCookie.ts"
import { invalid, limited, limiterUnavailable, storeUnavailable } from "../problems.ts"
import { realtimeUrl } from "./realtimeUrl.ts"
import { Settings } from "../Settings.ts"

const STREAM_ID_LENGTH = 22

interface OfGroup {
  readonly params: { readonly id: GroupId }
}

interface Requested {
  readonly request: HttpServerRequest.HttpServerRequest
}

const unavailable = storeUnavailable("The tracker store is unavailable", "Tracked wallets are unavailable: try again.")

const ticketsUnavailable = storeUnavailable("Tickets cannot be issued", "Live connections are unavailable: try again.")

const unknownGroup =
  (part: ErrorDetail["in"], field = "group") =>
  () =>
    Effect.fail(
      invalid({ in: part, field, issue: "unknown" }, `${field} must name groups of this account by their ids.`)
    )

const groupNotFound = () => new PathNotFound({ error: { message: "The account has no group of this id." } })

const tooManyGroups = ({ limit }: TooManyGroups) =>
  Effect.fail(new LimitReached({ error: { message: `An account has ${limit} groups at most.` } }))

const tooMany = ({ limit }: TooManyWallets) =>
  Effect.fail(new LimitReached({ error: { message: `An account tracks ${limit} wallets at most.` } }))

const tooOften = ({ retryAfterMs }: TooManySessions) =>
  Effect.fail(limited("stream", `A key may ask for ${ticketPolicy.calls} sessions a minute.`, retryAfterMs))

const batchAnswer = answerOf(200, WalletsTracked)
const groupAnswer = answerOf(201, TrackerGroup)
const answers = { true: answerOf(201, WalletTracked), false: answerOf(200, WalletTracked) }

/** The tracking that a body asks for. */
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

export const layer = HttpApiBuilder.group(
  Api,
  "tracker",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* TrackerStore
    const feed = yield* TrackerFeed
    const tickets = yield* Tickets
    const { publicUrl } = yield* Settings
    const once = yield* makeOnce
    const random = yield* SecretSource

    /** Groups and wallets of the caller's account, with activity that the store has not recorded yet. */
    const overview = Effect.fnUntraced(function* (groupId: GroupId | undefined) {
      const { accountId } = yield* CurrentKey
      const { groups, wallets } = yield* store
        .overview({ accountId, groupId: groupId ?? null })
        .pipe(Effect.catchTags({ UnknownGroup: unknownGroup("query"), TrackerStoreUnavailable: unavailable }))
      return { groups, wallets: wallets.map((tracked) => withActivity(tracked, feed.lastEventAtMs(tracked.wallet))) }
    })

    /** The overview of all groups, for a group or a wallet that has just been written. */
    const everything = Effect.suspend(() => overview(undefined)).pipe(
      Effect.catchTag("InvalidRequest", (problem) => Effect.die(problem))
    )

    const wallets = Effect.fnUntraced(function* ({ query }: { readonly query: { readonly group?: GroupId } }) {
      return { wallets: (yield* overview(query.group)).wallets }
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
        return yield* invalid({ in: "path", field: "id", issue: "conflict" }, "id must not be Main, which stays.")
      }
      const isGone = yield* store
        .removeGroup({ accountId, groupId: params.id })
        .pipe(Effect.catchTag("TrackerStoreUnavailable", unavailable))
      return isGone ? { groupId: params.id, deleted: true as const } : yield* groupNotFound()
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

    const untrack = Effect.fnUntraced(function* ({ params }: { readonly params: { readonly wallet: Address } }) {
      const { accountId } = yield* CurrentKey
      const { wallet } = params
      yield* store.remove({ accountId, wallet }).pipe(Effect.catchTag("TrackerStoreUnavailable", unavailable))
      return { wallet, tracked: false as const }
    })

    const snapshot = Effect.fnUntraced(function* ({ query }: { readonly query: { readonly group?: GroupId } }) {
      const { groups, wallets } = yield* overview(query.group)
      const { plan } = yield* CurrentKey
      const nowMs = yield* Clock.currentTimeMillis
      return { groups, wallets, status: statusOf(wallets, feed.health(nowMs), nowMs, plan.trackedWallets) }
    })

    const trades = Effect.fnUntraced(function* ({ query }: { readonly query: typeof TradesQuery.Type }) {
      const { group, limit = defaults.limit, wallet } = query
      const { wallets } = yield* overview(group)
      // Another account may have tracked a wallet for longer; trades before this account added it are not shown.
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
        .enter(keyId)
        .pipe(Effect.catchTags({ TooManySessions: tooOften, LimiterUnavailable: limiterUnavailable }))
      const wallets = addressesOf((yield* overview(query.group)).wallets)
      if (wallets.length === 0) {
        return nothingTracked
      }
      const { group = null, control = defaults.control } = query
      const streamId = `str_${randomBase62(STREAM_ID_LENGTH, random)}`
      const { expiresAtMs, ticket } = yield* tickets
        .issue({
          keyId,
          session: admittedSession(request, key),
          accountId,
          wallets,
          group,
          control,
          streamId,
          sockets: plan.sockets
        })
        .pipe(Effect.catchTag("TicketsUnavailable", ticketsUnavailable))
      return {
        wsUrl: realtimeUrl(publicUrl, request, { ticket, wallets }),
        wallets,
        expiresInSeconds: ticketPolicy.lifeMs / 1000,
        ticketExpiresAtMs: expiresAtMs,
        streamId
      }
    })

    return handlers.handleAll({
      wallets,
      track: ({ headers, payload, request }) => once(request, headers["idempotency-key"], add(payload)),
      trackBatch: ({ headers, payload, request }) => once(request, headers["idempotency-key"], addAll(payload)),
      changeWallet,
      createGroup: ({ headers, payload, request }) => once(request, headers["idempotency-key"], createGroup(payload)),
      renameGroup,
      deleteGroup,
      untrack,
      snapshot,
      trades,
      session
    })
  })
)

/** Tracked wallets in Postgres. Every question to the database has a deadline. */
import { Clock, Duration, Effect, Layer, PubSub, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { randomBase62, SecretSource } from "../domain/randomText.ts"
import type { Address } from "../domain/Address.ts"
import {
  GroupId,
  MAIN_GROUP,
  TrackerStoreUnavailable,
  type Tracking,
  UnknownGroup,
  type WalletActivity,
  type WalletChange,
  WalletLabel
} from "../domain/wallets/Tracker.ts"
import { ChangeChannel } from "../storage/ChangeChannel.ts"
import { keepRunning } from "../health/keepRunning.ts"
import { bounded } from "../storage/deadline.ts"
import { transaction } from "../storage/transaction.ts"
import { GROUP_ID_LENGTH, overviewOf } from "./overview.ts"
import { TrackerStore } from "./TrackerStore.ts"
import { makeTrackerTable } from "./trackerTable.ts"
import { WatchList } from "./WatchList.ts"

/** On the path of a request. */
const READ_DEADLINE = Duration.millis(400)
const WRITE_DEADLINE = Duration.seconds(5)
/** Least time between two reads of what other processes changed, and between two attempts. */
const LISTEN_EVERY = Duration.millis(500)
/** Look-back beyond the gap: a transaction may have been open for a while. */
const LOOK_BACK_MS = 60_000

const away = (cause: unknown) => new TrackerStoreUnavailable({ cause })
const read = bounded(READ_DEADLINE, away)
const write = bounded(WRITE_DEADLINE, away)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecretSource
  const channel = yield* ChangeChannel
  const watchList = yield* WatchList
  const table = makeTrackerTable(sql)
  const changed = yield* PubSub.unbounded<string>()
  const now = Clock.currentTimeMillis
  // The last revision of an account that this process has published.
  const told = new Map<string, string>()
  const heard = { atMs: yield* now, isListDue: true }

  const tell = (accountId: string, revision: string | null) => {
    if (revision !== null && told.get(accountId) !== revision) {
      told.set(accountId, revision)
      PubSub.publishUnsafe(changed, accountId)
    }
  }

  /** Changes an account under its row lock. */
  const change = Effect.fnUntraced(function* <A, E>(accountId: string, changing: Effect.Effect<A, E>) {
    const nowMs = yield* now
    return yield* write(transaction(sql, Effect.andThen(table.hold(accountId, nowMs), changing)))
  })

  /** Numbers a change of the account, and announces it with the commit. */
  const revise = (accountId: string, kind: "added" | "removed" = "added") =>
    Effect.tap(table.revise(accountId), () => channel.announce("tracker", kind))

  const groupsOf = Effect.fnUntraced(function* (accountId: string) {
    const groups = yield* read(table.groups(accountId))
    if (groups.length > 0) {
      return groups
    }
    yield* change(accountId, Effect.void)
    return yield* read(table.groups(accountId))
  })

  const overview = Effect.fn("TrackerStore.overview")(function* (request: {
    readonly accountId: string
    readonly groupId: GroupId | null
  }) {
    const { accountId, groupId } = request
    // A group that is deleted between the two reads is left out of the wallets by `overviewOf`.
    const wallets = yield* read(table.wallets(accountId))
    const found = overviewOf(yield* groupsOf(accountId), wallets, groupId)
    return found ?? (yield* new UnknownGroup({ groupId: groupId ?? MAIN_GROUP }))
  })

  const add = Effect.fn("TrackerStore.add")(function* (tracking: Tracking) {
    const { accountId, wallet } = tracking
    const groupId = tracking.groupId ?? MAIN_GROUP
    const nowMs = yield* now
    const { addedAtMs, isNew, revision } = yield* change(
      accountId,
      Effect.gen(function* () {
        const { isChanged, ...put } = yield* table.put(tracking, groupId, nowMs)
        return { ...put, revision: isChanged ? yield* revise(accountId) : null }
      })
    )
    watchList.add({ wallet, addedAtMs })
    tell(accountId, revision)
    return { groupId, isNew }
  })

  const addAll = Effect.fn("TrackerStore.addAll")(function* (accountId: string, trackings: ReadonlyArray<Tracking>) {
    const nowMs = yield* now
    const { put, revision } = yield* change(
      accountId,
      Effect.gen(function* () {
        const put = yield* Effect.forEach(trackings, (tracking) => {
          const groupId = tracking.groupId ?? MAIN_GROUP
          return Effect.map(table.put(tracking, groupId, nowMs), (result) => ({
            ...result,
            groupId,
            wallet: tracking.wallet
          }))
        })
        return { put, revision: put.some(({ isChanged }) => isChanged) ? yield* revise(accountId) : null }
      })
    )
    put.forEach(({ addedAtMs, wallet }) => watchList.add({ wallet, addedAtMs }))
    tell(accountId, revision)
    return put.map(({ groupId, isNew }) => ({ groupId, isNew }))
  })

  const changeWallet = Effect.fn("TrackerStore.change")(function* (wanted: WalletChange) {
    const { accountId } = wanted
    tell(accountId, yield* change(accountId, Effect.andThen(table.change(wanted), revise(accountId))))
  })

  const renameGroup = Effect.fn("TrackerStore.renameGroup")(function* (request: {
    readonly accountId: string
    readonly groupId: GroupId
    readonly name: string
  }) {
    const { accountId, groupId, name } = request
    const { found, revision } = yield* change(
      accountId,
      Effect.gen(function* () {
        const renamed = yield* table.renameGroup(accountId, groupId, WalletLabel.make(name))
        return { found: renamed !== null, revision: renamed === true ? yield* revise(accountId) : null }
      })
    )
    tell(accountId, revision)
    return found
  })

  const removeGroup = Effect.fn("TrackerStore.removeGroup")(function* (request: {
    readonly accountId: string
    readonly groupId: GroupId
  }) {
    const { accountId, groupId } = request
    if (groupId === MAIN_GROUP) {
      return false
    }
    const revision = yield* change(
      accountId,
      Effect.gen(function* () {
        return (yield* table.removeGroup(accountId, groupId)) ? yield* revise(accountId) : null
      })
    )
    tell(accountId, revision)
    return revision !== null
  })

  const remove = Effect.fn("TrackerStore.remove")(function* (request: {
    readonly accountId: string
    readonly wallet: Address
  }) {
    const { accountId, wallet } = request
    const revision = yield* change(
      accountId,
      Effect.gen(function* () {
        return (yield* table.takeOut(accountId, wallet)) ? yield* revise(accountId, "removed") : null
      })
    )
    tell(accountId, revision)
    return revision !== null
  })

  const createGroup = Effect.fn("TrackerStore.createGroup")(function* (request: {
    readonly accountId: string
    readonly name: string
  }) {
    const { accountId } = request
    const kept = {
      groupId: GroupId.make(`grp_${randomBase62(GROUP_ID_LENGTH, random)}`),
      name: WalletLabel.make(request.name),
      isMain: false,
      createdAtMs: yield* now
    }
    const revision = yield* change(accountId, Effect.andThen(table.insertGroup(accountId, kept), revise(accountId)))
    tell(accountId, revision)
    return { ...kept, walletCount: 0 }
  })

  const refreshList = Effect.gen(function* () {
    const since = watchList.mark()
    heard.isListDue = false
    const rows = yield* write(table.watched).pipe(
      Effect.onError(() =>
        Effect.sync(() => {
          heard.isListDue = true
        })
      )
    )
    watchList.replace(rows, since)
  })

  /** Hears of what other processes did, and brings the list of watched wallets up to date when anything was. */
  const listen = Effect.gen(function* () {
    const nowMs = yield* now
    const rows = yield* write(table.changedWithin(Math.max(0, nowMs - heard.atMs) + LOOK_BACK_MS))
    heard.atMs = nowMs
    const news = rows.filter(({ accountId, revision }) => told.get(accountId) !== revision)
    if (news.length > 0 || heard.isListDue) {
      yield* refreshList
    }
    news.forEach(({ accountId, revision }) => tell(accountId, revision))
  })

  yield* Effect.ignore(listen)
  yield* channel.changes("tracker").pipe(
    // Of its own changes only a removal is not on the list yet.
    Stream.filter((signal) => signal._tag === "Missed" || !signal.isOwn || signal.subject === "removed"),
    Stream.runForEachArray(() => {
      heard.isListDue = true
      return Effect.andThen(Effect.retry(listen, Schedule.spaced(LISTEN_EVERY)), Effect.sleep(LISTEN_EVERY))
    }),
    keepRunning("Receiving changes of tracked wallets"),
    Effect.forkScoped
  )

  return TrackerStore.of({
    overview,
    add,
    addAll,
    change: changeWallet,
    remove,
    createGroup,
    renameGroup,
    removeGroup,
    recordActivity: Effect.fn("TrackerStore.recordActivity")((batch: ReadonlyArray<WalletActivity>) =>
      batch.length === 0 ? Effect.void : Effect.asVoid(write(table.recordActivity(batch)))
    ),
    changes: Stream.fromPubSub(changed)
  })
})

/** Tracked wallets in the tables of `trackerTable.ts`, known to every process within a second. */
export const layer: Layer.Layer<TrackerStore, never, ChangeChannel | SqlClient.SqlClient | WatchList> = Layer.effect(
  TrackerStore,
  make
)

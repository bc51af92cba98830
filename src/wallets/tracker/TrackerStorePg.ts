/** Tracked wallets in Postgres. Every query has a deadline. */
import { Clock, Duration, Effect, Layer, PubSub, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { randomBase62, SecretSource } from "../../domain/randomText.ts"
import {
  GroupId,
  MAIN_GROUP,
  TrackerStoreUnavailable,
  type Tracking,
  UnknownGroup,
  type WalletActivity,
  type WalletChange,
  WalletLabel
} from "../../api/schemas/Tracker.ts"
import { ChangeChannel, LOOK_BACK_MS } from "../../storage/ChangeChannel.ts"
import { keepRunning, keepTrying } from "../../operations/keepRunning.ts"
import { bounded } from "../../storage/deadline.ts"
import { transaction } from "../../storage/transaction.ts"
import { GROUP_ID_LENGTH, overviewOf } from "./overview.ts"
import { TrackerStore } from "./TrackerStore.ts"
import { makeTrackedWalletTable } from "./trackedWalletTable.ts"
import { makeTrackerAccountTable } from "./trackerAccountTable.ts"
import { WatchList } from "./WatchList.ts"

/** A request waits for these reads, so they have to answer within this time. */
const READ_DEADLINE = Duration.millis(400)
const WRITE_DEADLINE = Duration.seconds(5)
/** Least time between two reads of other processes' changes, and between two attempts. */
const LISTEN_EVERY = Duration.millis(500)

const away = (cause: unknown) => new TrackerStoreUnavailable({ cause })
const read = bounded(READ_DEADLINE, away)
const write = bounded(WRITE_DEADLINE, away)

type TrackerTables = Pick<ReturnType<typeof makeTrackerAccountTable>, "changedWithin"> &
  Pick<ReturnType<typeof makeTrackedWalletTable>, "watched">

/**
 * Publishes each revision of an account once, whichever process changed it. Keeps the watch list up to date with the
 * changes of other processes.
 */
const makeNews = Effect.fnUntraced(function* (table: TrackerTables) {
  const channel = yield* ChangeChannel
  const watchList = yield* WatchList
  const changed = yield* PubSub.unbounded<string>()
  /** The last published revision of each account. */
  const published = new Map<string, string>()
  const heard = { atMs: yield* Clock.currentTimeMillis, isListDue: true }

  const publish = (accountId: string, revision: string) => {
    if (published.get(accountId) !== revision) {
      published.set(accountId, revision)
      PubSub.publishUnsafe(changed, accountId)
    }
  }

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

  const listen = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const rows = yield* write(table.changedWithin(Math.max(0, nowMs - heard.atMs) + LOOK_BACK_MS))
    heard.atMs = nowMs
    const news = rows.filter(({ accountId, revision }) => published.get(accountId) !== revision)
    if (news.length > 0 || heard.isListDue) {
      yield* refreshList
    }
    news.forEach(({ accountId, revision }) => publish(accountId, revision))
  })

  yield* Effect.ignore(listen)
  yield* channel.changes("tracker").pipe(
    // This process has applied its own changes already, except removals.
    Stream.filter((signal) => signal._tag === "Missed" || !signal.isOwn || signal.subject === "removed"),
    Stream.runForEachArray(() => {
      heard.isListDue = true
      return Effect.andThen(
        keepTrying("Reading changed tracked wallets", { every: LISTEN_EVERY })(listen),
        Effect.sleep(LISTEN_EVERY)
      )
    }),
    keepRunning("Receiving changes of tracked wallets"),
    Effect.forkScoped
  )
  return { publish, changes: Stream.fromPubSub(changed) }
})

/** How to go on after a write, by its result. */
interface Outcome<A> {
  /** Whether anything changed. */
  readonly isChanged: (result: A) => boolean
  /** Runs after the commit and before the change is published. */
  readonly committed?: (result: A) => void
  readonly kind?: "added" | "removed"
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecretSource
  const channel = yield* ChangeChannel
  const watchList = yield* WatchList
  const table = { ...makeTrackerAccountTable(sql), ...makeTrackedWalletTable(sql) }
  const now = Clock.currentTimeMillis
  const { changes, publish } = yield* makeNews(table)

  /** Writes to an account under its row lock. A change gets the next revision, and is announced with the commit. */
  const alter = Effect.fnUntraced(function* <A, E>(
    accountId: string,
    run: Effect.Effect<A, E>,
    { committed, isChanged, kind = "added" }: Outcome<A>
  ) {
    const nowMs = yield* now
    const writes = Effect.gen(function* () {
      yield* table.hold(accountId, nowMs)
      const result = yield* run
      if (!isChanged(result)) {
        return { result, revision: null }
      }
      const revision = yield* table.revise(accountId)
      yield* channel.announce("tracker", kind)
      return { result, revision }
    })
    const { result, revision } = yield* write(transaction(sql, writes))
    committed?.(result)
    if (revision !== null) {
      publish(accountId, revision)
    }
    return result
  })

  const groupsOf = Effect.fnUntraced(function* (accountId: string) {
    const groups = yield* read(table.groups(accountId))
    if (groups.length > 0) {
      return groups
    }
    yield* alter(accountId, Effect.void, { isChanged: () => false })
    return yield* read(table.groups(accountId))
  })

  const putAll = Effect.fnUntraced(function* (accountId: string, trackings: ReadonlyArray<Tracking>) {
    const nowMs = yield* now
    const writes = Effect.forEach(trackings, (tracking) => {
      const groupId = tracking.groupId ?? MAIN_GROUP
      return Effect.map(table.put(tracking, groupId, nowMs), (put) => ({ ...put, groupId, wallet: tracking.wallet }))
    })
    return yield* alter(accountId, writes, {
      isChanged: (put) => put.some((each) => each.isChanged),
      committed: (put) => put.forEach(({ addedAtMs, wallet }) => watchList.add({ wallet, addedAtMs }))
    })
  })

  return TrackerStore.of({
    overview: Effect.fn("TrackerStore.overview")(function* ({ accountId, groupId }) {
      // `overviewOf` leaves out a group that is deleted between the two reads.
      const wallets = yield* read(table.wallets(accountId))
      const found = overviewOf(yield* groupsOf(accountId), wallets, groupId)
      return found ?? (yield* new UnknownGroup({ groupId: groupId ?? MAIN_GROUP }))
    }),
    add: Effect.fn("TrackerStore.add")(function* (tracking: Tracking) {
      const put = yield* putAll(tracking.accountId, [tracking])
      return { groupId: tracking.groupId ?? MAIN_GROUP, isNew: put.some(({ isNew }) => isNew) }
    }),
    addAll: Effect.fn("TrackerStore.addAll")(function* (accountId: string, trackings: ReadonlyArray<Tracking>) {
      const put = yield* putAll(accountId, trackings)
      return put.map(({ groupId, isNew }) => ({ groupId, isNew }))
    }),
    change: Effect.fn("TrackerStore.change")((wanted: WalletChange) =>
      alter(wanted.accountId, table.change(wanted), { isChanged: () => true })
    ),
    remove: Effect.fn("TrackerStore.remove")(({ accountId, wallet }) =>
      alter(accountId, table.takeOut(accountId, wallet), { isChanged: (gone) => gone, kind: "removed" })
    ),
    createGroup: Effect.fn("TrackerStore.createGroup")(function* ({ accountId, name }) {
      const kept = {
        groupId: GroupId.make(`grp_${randomBase62(GROUP_ID_LENGTH, random)}`),
        name: WalletLabel.make(name),
        isMain: false,
        createdAtMs: yield* now
      }
      yield* alter(accountId, table.insertGroup(accountId, kept), { isChanged: () => true })
      return { ...kept, walletCount: 0 }
    }),
    renameGroup: Effect.fn("TrackerStore.renameGroup")(function* ({ accountId, groupId, name }) {
      const renaming = table.renameGroup(accountId, groupId, WalletLabel.make(name))
      const renamed = yield* alter(accountId, renaming, { isChanged: (result) => result === true })
      return renamed !== null
    }),
    removeGroup: Effect.fn("TrackerStore.removeGroup")(({ accountId, groupId }) =>
      groupId === MAIN_GROUP
        ? Effect.succeed(false)
        : alter(accountId, table.removeGroup(accountId, groupId), { isChanged: (gone) => gone })
    ),
    recordActivity: Effect.fn("TrackerStore.recordActivity")((batch: ReadonlyArray<WalletActivity>) =>
      batch.length === 0 ? Effect.void : Effect.asVoid(write(table.recordActivity(batch)))
    ),
    changes
  })
})

/** Tracked wallets and groups in tables, known to every process within a second. */
export const layer: Layer.Layer<TrackerStore, never, ChangeChannel | SqlClient.SqlClient | WatchList> = Layer.effect(
  TrackerStore,
  make
)

import { Clock, Config, Context, Effect, Latch, Layer, Stream } from "effect"
import { KeyStore } from "../../access/KeyStore.ts"
import type { SessionStore } from "../../access/accounts/SessionStore.ts"
import { AlertStore, type FiringSignal } from "../../alerts/AlertStore.ts"
import { isActive } from "../../api/schemas/ApiKey.ts"
import { countSetting } from "../../domain/countSetting.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { makeSessions, refusals, type Rejection, round, type SessionBook } from "../../live/liveSessions.ts"
import type { LiveStream } from "./LiveStream.ts"
import { type Grant, Tickets } from "./Tickets.ts"
import { TrackerFeed } from "./TrackerFeed.ts"
import { TrackerHub } from "./TrackerHub.ts"
import { TrackerStore } from "./TrackerStore.ts"

/** Live connections of the tracker in this process: admission, key checks, wallet changes and drain. */
export class LiveSessions extends Context.Service<LiveSessions, SessionBook>()("fathom/wallets/tracker/LiveSessions") {
  /**
   * Settings: `TRACKER_SOCKETS` (10,000) limits the connections of this process, `TRACKER_REPLAY_BYTES` (256 MiB) the
   * frames kept for resume.
   */
  static readonly layer: Layer.Layer<
    LiveSessions,
    Config.ConfigError,
    AlertStore | KeyStore | SessionStore | Tickets | TrackerFeed | TrackerStore
  > = Layer.effect(
    LiveSessions,
    Effect.gen(function* () {
      const tickets = yield* Tickets
      const alerts = yield* AlertStore
      const keys = yield* KeyStore
      const store = yield* TrackerStore
      const feed = yield* TrackerFeed
      const hub = new TrackerHub(feed, yield* limits)
      const gapPending = yield* Latch.make()
      const now = Clock.currentTimeMillis

      yield* feed.follow({
        wants: (wallet) => hub.wants(wallet),
        take: (events, nowMs) => hub.take(events, nowMs),
        lost: (gap) => {
          hub.lost(gap)
          gapPending.openUnsafe()
        }
      })

      const itemsOf = ({ accountId, group }: Grant) =>
        Effect.map(store.overview({ accountId, groupId: group }), ({ wallets }) => wallets)

      const sessions = yield* makeSessions({
        prefix: "fathom_tracker",
        name: "tracker",
        tickets,
        hub,
        whole: feed.whole,
        hasScope: ({ scopes }) => scopes.includes("tracker.read") || scopes.includes("md.read"),
        open: (grant, wire) =>
          itemsOf(grant).pipe(
            Effect.catchTags({
              UnknownGroup: () => Effect.fail<Rejection>(refusals.ticket),
              TrackerStoreUnavailable: () => Effect.fail<Rejection>(refusals.unavailable)
            }),
            Effect.map((items) => (nowMs) => hub.open(grant, items, wire, nowMs))
          )
      })

      const reload = (stream: LiveStream) =>
        itemsOf(stream.grant).pipe(
          Effect.catchTag("UnknownGroup", () => Effect.succeed([])),
          Effect.flatMap((items) => Effect.map(now, (nowMs) => hub.changed(stream, items, nowMs))),
          Effect.catchTag("TrackerStoreUnavailable", (error) =>
            Effect.logWarning("The wallets of a live stream could not be reloaded", error.cause)
          )
        )
      const reloadAll = (accountId: string) =>
        Effect.forEach(
          Array.from(hub.streams).filter(({ grant }) => grant.accountId === accountId),
          reload,
          { discard: true }
        )
      /**
       * Keys of an account that may read its alerts; null while they cannot be checked. Sessions may always read them.
       */
      const readersOf = Effect.fnUntraced(function* (accountId: string) {
        const held = yield* Effect.catchTag(keys.list(accountId), "KeyStoreUnavailable", () => Effect.succeed(null))
        const nowMs = yield* now
        const able = held?.filter((key) => isActive(key, nowMs) && key.scopes.includes("alerts.read"))
        return [accountId, able === undefined ? null : new Set(able.map(({ id }) => id))] as const
      })
      const takeFirings = Effect.fnUntraced(function* (signals: ReadonlyArray<FiringSignal>) {
        const open = hub.accounts
        const fired = signals.flatMap((signal) =>
          signal._tag === "Fired" && open.has(signal.accountId) ? [signal] : []
        )
        const accounts = new Set(fired.map(({ accountId }) => accountId))
        const readers = new Map(yield* Effect.forEach(accounts, readersOf, { concurrency: KEYS_READ_AT_ONCE }))
        const nowMs = yield* now
        const mayRead = ({ accountId, keyId, session }: Grant) =>
          session !== null || readers.get(accountId)?.has(keyId) === true
        hub.fired(fired, mayRead, nowMs)
        const unchecked = fired.filter(({ accountId }) => readers.get(accountId) === null)
        for (const { accountId, event } of unchecked) {
          hub.missedFirings(event.firedAtMs, nowMs, new Set([accountId]))
        }
        const missed = signals.filter((signal) => signal._tag === "Missed")
        missed.forEach(({ fromMs }) => hub.missedFirings(fromMs, nowMs))
        if (missed.length + unchecked.length > 0) {
          gapPending.openUnsafe()
        }
      })
      // Yields after each stream.
      const resync = Effect.gen(function* () {
        yield* gapPending.await
        gapPending.closeUnsafe()
        while (hub.resyncOne(yield* now)) {
          yield* Effect.yieldNow
        }
      })
      yield* store.changes.pipe(
        Stream.runForEach((accountId) => round("reloading changed wallets", reloadAll(accountId))),
        keepRunning("Reloading changed wallets"),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* alerts.firings.pipe(
        Stream.chunks,
        Stream.runForEach((signals) => round("sending firings of alerts", takeFirings(signals))),
        keepRunning("Sending firings of alerts"),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* Effect.forkScoped(Effect.forever(round("sending resync snapshots", resync)), {
        startImmediately: true
      })
      return LiveSessions.of(sessions)
    })
  )
}

/** Accounts whose keys are read at the same time. */
const KEYS_READ_AT_ONCE = 8
const MIB = 1024 * 1024

/** `TRACKER_SOCKETS` (10,000) and `TRACKER_REPLAY_BYTES` (256 MiB). */
export const limits = Config.all({
  sockets: countSetting("TRACKER_SOCKETS", 10_000),
  replayBytes: countSetting("TRACKER_REPLAY_BYTES", 256 * MIB)
})

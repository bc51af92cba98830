import { Clock, Config, Context, Duration, Effect, Latch, Layer, Stream } from "effect"
import { countSetting } from "../domain/countSetting.ts"
import { KeyStore } from "../access/KeyStore.ts"
import { endsSession, SessionStore } from "../accounts/SessionStore.ts"
import { type ApiKey, isActive } from "../domain/ApiKey.ts"
import type { TrackedWallet } from "../domain/wallets/Tracker.ts"
import { keepGoing, keepRunning } from "../health/keepRunning.ts"
import { Readings } from "../health/Readings.ts"
import type { CloseCode, LiveConnection, LiveWire } from "./LiveConnection.ts"
import { LiveHub } from "./LiveHub.ts"
import type { LiveStream } from "./LiveStream.ts"
import { type Grant, Tickets } from "./tickets/Tickets.ts"
import { TrackerFeed } from "./TrackerFeed.ts"
import { TrackerStore } from "./TrackerStore.ts"

/** Close code and reason of a rejected connection. */
export interface Rejection {
  readonly code: CloseCode
  readonly reason: string
}

/** Result of redeeming a ticket. */
export type Admission =
  | { readonly _tag: "Connected"; readonly connection: LiveConnection }
  | { readonly _tag: "Refused"; readonly refusal: Rejection }

/** Live connections of this process: admission, key checks, wallet changes and drain. */
export class LiveSessions extends Context.Service<
  LiveSessions,
  {
    /** Redeems a ticket and sends the first snapshot. */
    connect(ticket: string, wire: LiveWire): Effect.Effect<Admission>
    /** Detaches a connection whose socket is closed. */
    closed(connection: LiveConnection): Effect.Effect<void>
    /** Sends the draining notice, waits, and closes every connection with 1012. New ones are rejected. */
    drain(wait: Duration.Duration): Effect.Effect<void>
    /** Open connections and bytes kept for replay. */
    readonly load: () => { readonly connections: number; readonly replayBytes: number }
  }
>()("fathom/tracker/LiveSessions") {
  /**
   * Settings: `TRACKER_SOCKETS` (10,000) limits the connections of this process, `TRACKER_REPLAY_BYTES` (256 MiB) the
   * frames kept for resume.
   */
  static readonly layer: Layer.Layer<
    LiveSessions,
    Config.ConfigError,
    KeyStore | SessionStore | Tickets | TrackerFeed | TrackerStore
  > = Layer.effect(
    LiveSessions,
    Effect.gen(function* () {
      const keys = yield* KeyStore
      const sessions = yield* SessionStore
      const tickets = yield* Tickets
      const store = yield* TrackerStore
      const feed = yield* TrackerFeed
      const hub = new LiveHub(feed, yield* limits)
      yield* reportLive(hub)
      const gapPending = yield* Latch.make()
      const hasStreams = yield* Latch.make()
      const draining = { begun: false }
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

      /** True if the key or session may read the stream; null while its store is unavailable. */
      const mayListen = ({ accountId, keyId, session }: Grant): Effect.Effect<boolean | null> =>
        session === null
          ? keys.list(accountId).pipe(
              Effect.flatMap((all) =>
                Effect.map(now, (nowMs) => all.some((key) => key.id === keyId && allows(key, nowMs)))
              ),
              Effect.catchTag("KeyStoreUnavailable", () => Effect.succeed(null))
            )
          : Effect.catchTag(sessions.isOpen(session), "AccountStoreUnavailable", () => Effect.succeed(null))

      const admit = Effect.fnUntraced(function* (
        ticket: string
      ): Effect.fn.Return<{ readonly grant: Grant; readonly items: ReadonlyArray<TrackedWallet> }, Rejection> {
        if (draining.begun) {
          return yield* Effect.fail(refusals.restarting)
        }
        const grant = yield* Effect.catchTag(tickets.redeem(ticket), "TicketsUnavailable", () =>
          Effect.fail(refusals.unavailable)
        )
        if (grant === null) {
          return yield* Effect.fail(refusals.ticket)
        }
        const items = yield* itemsOf(grant).pipe(
          Effect.catchTags({
            UnknownGroup: () => Effect.fail(refusals.ticket),
            TrackerStoreUnavailable: () => Effect.fail(refusals.unavailable)
          })
        )
        const allowed = yield* mayListen(grant)
        if (allowed !== true) {
          return yield* Effect.fail(allowed === null ? refusals.unavailable : refusals.key)
        }
        return { grant, items }
      })

      const connect = (ticket: string, wire: LiveWire): Effect.Effect<Admission> =>
        admit(ticket).pipe(
          Effect.flatMap(({ grant, items }) =>
            Effect.flatMap(now, (nowMs) => {
              const connection = draining.begun ? null : hub.open(grant, items, wire, nowMs)
              hasStreams.openUnsafe()
              return connection === null ? Effect.fail(refusals.full) : Effect.succeed(connection)
            })
          ),
          Effect.match({
            onFailure: (refusal): Admission => ({ _tag: "Refused", refusal }),
            onSuccess: (connection): Admission => ({ _tag: "Connected", connection })
          })
        )

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

      const revoke = (hasEnded: (grant: Grant) => boolean) => Effect.map(now, (nowMs) => hub.revoke(hasEnded, nowMs))
      const revokeLike = ({ keyId, session }: Grant) =>
        revoke((other) => other.keyId === keyId && other.session === session)
      const checkKeys = Effect.suspend(() => {
        const grants = hub.connections.map(({ stream }) => stream.grant)
        const byHolder = new Map(grants.map((grant) => [grant.session ?? grant.keyId, grant]))
        return Effect.forEach(
          byHolder.values(),
          (grant) =>
            Effect.flatMap(mayListen(grant), (allowed) => (allowed === false ? revokeLike(grant) : Effect.void)),
          { discard: true, concurrency: 8 }
        )
      })

      // One stream at a time, yielding in between.
      const resync = Effect.gen(function* () {
        yield* gapPending.await
        gapPending.closeUnsafe()
        while (hub.resyncOne(yield* now)) {
          yield* Effect.yieldNow
        }
      })

      yield* keys.closures.pipe(
        Stream.runForEach((ended) =>
          round(
            "closing revoked keys",
            revoke(({ keyId }) => keyId === ended)
          )
        ),
        keepRunning("Closing connections of revoked keys"),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* sessions.closures.pipe(
        Stream.runForEach((closure) =>
          round(
            "closing ended sessions",
            revoke(({ accountId, session }) => endsSession(closure, accountId, session))
          )
        ),
        keepRunning("Closing connections of ended sessions"),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* store.changes.pipe(
        Stream.runForEach((accountId) => round("reloading changed wallets", reloadAll(accountId))),
        keepRunning("Reloading changed wallets"),
        Effect.forkScoped({ startImmediately: true })
      )
      const tick = Effect.map(now, (nowMs) => hub.tick(nowMs))
      yield* Effect.forkScoped(Effect.forever(round("sending resync snapshots", resync)), {
        startImmediately: true
      })
      /** Repeats the work while streams are open; without streams no timer runs. */
      const rounds = (name: string, work: Effect.Effect<void>, every: Duration.Duration) =>
        hasStreams.await.pipe(
          Effect.andThen(Effect.delay(round(name, work), every)),
          Effect.andThen(
            Effect.sync(() => {
              const [stream] = hub.streams
              if (stream === undefined) {
                hasStreams.closeUnsafe()
              }
            })
          ),
          Effect.forever,
          Effect.forkScoped({ startImmediately: true })
        )
      yield* rounds("checking keys", checkKeys, CHECK_KEYS_EVERY)
      yield* rounds("running connection timers", tick, TICK_EVERY)

      return LiveSessions.of({
        connect,
        closed: (connection) => Effect.map(now, (nowMs) => hub.closed(connection, nowMs)),
        drain: Effect.fnUntraced(function* (wait: Duration.Duration) {
          draining.begun = true
          hub.announceDrain(yield* now)
          yield* Effect.sleep(wait)
          hub.closeAll(1012, "the service restarts", yield* now)
        }),
        load: () => ({ connections: hub.connections.length, replayBytes: hub.replayBytes })
      })
    })
  )
}

/** Logs a failure of one round of any cause and continues. */
const round = (name: string, work: Effect.Effect<void>) => keepGoing(`Live connections: ${name}`)(work)

const CHECK_KEYS_EVERY = Duration.seconds(15)
const TICK_EVERY = Duration.seconds(1)
const MIB = 1024 * 1024

/** `TRACKER_SOCKETS` (10,000) and `TRACKER_REPLAY_BYTES` (256 MiB). */
export const limits = Config.all({
  sockets: countSetting("TRACKER_SOCKETS", 10_000),
  replayBytes: countSetting("TRACKER_REPLAY_BYTES", 256 * MIB)
})

const allows = (key: ApiKey, nowMs: number): boolean =>
  isActive(key, nowMs) && (key.scopes.includes("tracker.read") || key.scopes.includes("md.read"))

const refusals = {
  ticket: { code: 4401, reason: "the ticket is unknown, used or expired" },
  key: { code: 4403, reason: "the key may no longer do this" },
  full: { code: 4429, reason: "too many connections" },
  restarting: { code: 1012, reason: "the service restarts" },
  unavailable: { code: 1012, reason: "the service cannot check this now" }
} as const

/** Reports connections, streams, unsent bytes and the replay buffer until the scope closes. */
const reportLive = Effect.fnUntraced(function* (hub: LiveHub) {
  const readings = yield* Readings
  const gauge = (name: string, help: string, read: () => number) => readings.report({ name, help, kind: "gauge" }, read)
  yield* gauge("fathom_tracker_sockets", "Open connections of the tracker.", () => hub.connections.length)
  yield* gauge(
    "fathom_tracker_streams",
    "Streams that are open or may be resumed.",
    () => Array.from(hub.streams).length
  )
  yield* gauge("fathom_tracker_unsent_bytes", "Bytes that readers have not taken yet, over all connections.", () =>
    hub.connections.reduce((sum, { unsentBytes }) => sum + unsentBytes, 0)
  )
  yield* gauge("fathom_tracker_replay_bytes", "Bytes kept for streams that resume.", () => hub.replayBytes)
})

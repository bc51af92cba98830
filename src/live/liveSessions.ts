/** Live connections of one socket path: admission, key checks and drain. */
import { Clock, Duration, Effect, Latch, type Scope, Stream } from "effect"
import { KeyStore } from "../access/KeyStore.ts"
import { endsSession, SessionStore } from "../access/accounts/SessionStore.ts"
import { type ApiKey, isActive } from "../api/schemas/ApiKey.ts"
import { stepsInTurns } from "../domain/loopTime.ts"
import { keepGoing, keepRunning } from "../operations/keepRunning.ts"
import { Readings } from "../operations/Readings.ts"
import type { LiveConnection } from "./LiveConnection.ts"
import type { LiveGrant } from "./LiveGrant.ts"
import type { HeldStream, LiveHub } from "./LiveHub.ts"
import type { CloseCode, LiveWire } from "./LiveWire.ts"
import type { TicketBook } from "./tickets.ts"

/** How the connection is closed when its ticket is not admitted. */
export interface Rejection {
  readonly code: CloseCode
  readonly reason: string
}

/** An open connection, as its transport uses it. */
export type OpenConnection = Pick<
  LiveConnection<HeldStream<LiveGrant>>,
  "accountId" | "keyId" | "message" | "pinged" | "pong" | "stream"
>

/** Outcome of a connection attempt. */
export type Admission =
  | { readonly _tag: "Connected"; readonly connection: OpenConnection }
  | { readonly _tag: "Refused"; readonly refusal: Rejection }

/** Live connections of one socket path in this process. */
export interface SessionBook<in G extends LiveGrant = never> {
  /** Redeems a ticket and opens its stream. */
  connect(ticket: string, wire: LiveWire): Effect.Effect<Admission>
  /** Opens a stream for a caller that was admitted already. */
  enter(grant: G, wire: LiveWire): Effect.Effect<Admission>
  /** Detaches a connection whose socket is closed. */
  closed(connection: OpenConnection): Effect.Effect<void>
  /** Sends the draining notice, waits, and closes every connection with 1012. New connections are rejected. */
  drain(wait: Duration.Duration): Effect.Effect<void>
  /** Open connections and bytes kept for replay. */
  readonly load: () => { readonly connections: number; readonly replayBytes: number }
}

/** The parts of one socket path. */
export interface SessionParts<G extends LiveGrant, S extends HeldStream<G>> {
  /** Prefix of the metrics, and the name in their help and in the log. */
  readonly prefix: string
  readonly name: string
  readonly tickets: TicketBook<G>
  readonly hub: LiveHub<G, S>
  /** True if the key has a scope for the streams. */
  readonly hasScope: (key: ApiKey) => boolean
  /** Opens the stream of a grant; null at the connection limit. */
  readonly open: (grant: G, wire: LiveWire) => Effect.Effect<(nowMs: number) => LiveConnection<S> | null, Rejection>
  /** Waits until no block of the market is half applied: the timers of connections read how late blocks are. */
  readonly whole: Effect.Effect<void>
  /** The work of each second while streams are open. */
  readonly everySecond?: Effect.Effect<void>
}

/** The answers to tickets that are not admitted. */
export const refusals = {
  ticket: { code: 4401, reason: "the ticket is unknown, used or expired" },
  key: { code: 4403, reason: "the key may no longer do this" },
  full: { code: 4429, reason: "too many connections" },
  restarting: { code: 1012, reason: "the service restarts" },
  unavailable: { code: 1012, reason: "the service cannot check this now" }
} as const

const CHECK_KEYS_EVERY = Duration.seconds(15)
const TICK_EVERY = Duration.seconds(1)

/** Runs one round. A failure of any cause is logged, and the next round follows. */
export const round = (name: string, work: Effect.Effect<void>): Effect.Effect<void> =>
  keepGoing(`Live connections: ${name}`)(work)

/** Reports connections, streams, unsent bytes and the replay buffer until the scope closes. */
const reportLive = Effect.fnUntraced(function* <G extends LiveGrant, S extends HeldStream<G>>({
  hub,
  name,
  prefix
}: SessionParts<G, S>) {
  const readings = yield* Readings
  const gauge = (suffix: string, help: string, read: () => number) =>
    readings.report({ name: `${prefix}_${suffix}`, help, kind: "gauge" }, read)
  yield* gauge("sockets", `Open connections of the ${name}.`, () => hub.size)
  yield* gauge("streams", "Streams that are open or may be resumed.", () => Array.from(hub.streams).length)
  yield* gauge("unsent_bytes", "Bytes that readers have not taken yet, over all connections.", () =>
    hub.connections.reduce((sum, { unsentBytes }) => sum + unsentBytes, 0)
  )
  yield* gauge("replay_bytes", "Bytes kept for streams that resume.", () => hub.replayBytes)
})

/** True if the key or session of a grant may read; null while its store is unavailable. */
const makeMayListen = Effect.fnUntraced(function* (hasScope: (key: ApiKey) => boolean) {
  const keys = yield* KeyStore
  const sessions = yield* SessionStore
  return ({ accountId, keyId, session }: LiveGrant): Effect.Effect<boolean | null> =>
    session === null
      ? keys.list(accountId).pipe(
          Effect.flatMap((all) =>
            Effect.map(Clock.currentTimeMillis, (nowMs) =>
              all.some((key) => key.id === keyId && isActive(key, nowMs) && hasScope(key))
            )
          ),
          Effect.catchTag("KeyStoreUnavailable", () => Effect.succeed(null))
        )
      : Effect.catchTag(sessions.isOpen(session), "AccountStoreUnavailable", () => Effect.succeed(null))
})

/** Ends streams with their keys and sessions, and runs the timers of connections, until the scope closes. */
const superviseHub = Effect.fnUntraced(function* <G extends LiveGrant, S extends HeldStream<G>>(
  { everySecond = Effect.void, hub, whole }: SessionParts<G, S>,
  mayListen: (grant: LiveGrant) => Effect.Effect<boolean | null>,
  hasStreams: Latch.Latch
) {
  const keys = yield* KeyStore
  const sessions = yield* SessionStore
  const now = Clock.currentTimeMillis
  const revoke = (hasEnded: (grant: G) => boolean) => Effect.map(now, (nowMs) => hub.revoke(hasEnded, nowMs))
  const revokeLike = ({ keyId, session }: G) => revoke((other) => other.keyId === keyId && other.session === session)
  const checkKeys = Effect.suspend(() => {
    const grants = hub.connections.map(({ stream }) => stream.grant)
    const byHolder = new Map(grants.map((grant) => [grant.session ?? grant.keyId, grant]))
    return Effect.forEach(
      byHolder.values(),
      (grant) => Effect.flatMap(mayListen(grant), (allowed) => (allowed === false ? revokeLike(grant) : Effect.void)),
      { discard: true, concurrency: 8 }
    )
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
  yield* rounds(
    "running connection timers",
    whole.pipe(
      Effect.andThen(now),
      Effect.flatMap((nowMs) => stepsInTurns(hub.tickInSteps(nowMs))),
      Effect.andThen(everySecond)
    ),
    TICK_EVERY
  )
})

/** The live connections of a hub until the scope closes. */
export const makeSessions = Effect.fnUntraced(function* <G extends LiveGrant, S extends HeldStream<G>>(
  parts: SessionParts<G, S>
): Effect.fn.Return<SessionBook<G>, never, KeyStore | SessionStore | Scope.Scope> {
  const { hub, tickets } = parts
  const mayListen = yield* makeMayListen(parts.hasScope)
  const hasStreams = yield* Latch.make()
  const draining = { hasStarted: false }
  const now = Clock.currentTimeMillis
  yield* reportLive(parts)
  yield* superviseHub(parts, mayListen, hasStreams)

  const redeem = Effect.fnUntraced(function* (ticket: string) {
    if (draining.hasStarted) {
      return yield* Effect.fail<Rejection>(refusals.restarting)
    }
    const grant = yield* Effect.catchTag(tickets.redeem(ticket), "TicketsUnavailable", () =>
      Effect.fail<Rejection>(refusals.unavailable)
    )
    if (grant === null) {
      return yield* Effect.fail<Rejection>(refusals.ticket)
    }
    return grant
  })

  const admit = Effect.fnUntraced(function* (grant: G, wire: LiveWire) {
    if (draining.hasStarted) {
      return yield* Effect.fail<Rejection>(refusals.restarting)
    }
    const open = yield* parts.open(grant, wire)
    const allowed = yield* mayListen(grant)
    if (allowed !== true) {
      return yield* Effect.fail<Rejection>(allowed === null ? refusals.unavailable : refusals.key)
    }
    const nowMs = yield* now
    const connection = draining.hasStarted ? null : open(nowMs)
    hasStreams.openUnsafe()
    return connection ?? (yield* Effect.fail<Rejection>(refusals.full))
  })
  const opened = new WeakMap<object, LiveConnection<S>>()

  const admission = (connecting: Effect.Effect<LiveConnection<S>, Rejection>): Effect.Effect<Admission> =>
    Effect.match(connecting, {
      onFailure: (refusal): Admission => ({ _tag: "Refused", refusal }),
      onSuccess: (connection): Admission => {
        opened.set(connection, connection)
        return { _tag: "Connected", connection }
      }
    })

  return {
    connect: (ticket, wire) => admission(Effect.flatMap(redeem(ticket), (grant) => admit(grant, wire))),
    enter: (grant, wire) => admission(admit(grant, wire)),
    closed: (connection) =>
      Effect.map(now, (nowMs) => {
        const own = opened.get(connection)
        return own === undefined ? undefined : hub.closed(own, nowMs)
      }),
    drain: Effect.fnUntraced(function* (wait: Duration.Duration) {
      draining.hasStarted = true
      hub.announceDrain(yield* now)
      yield* Effect.sleep(wait)
      hub.closeAll(1012, "the service restarts", yield* now)
    }),
    load: () => ({ connections: hub.size, replayBytes: hub.replayBytes })
  }
})

import { PgClient, PgConnection } from "@effect/sql-pg"
import { monotonicMs } from "../domain/loopTime.ts"
import { Cause, Clock, Context, Effect, Exit, Layer, Queue, Schedule, Scope, Stream } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { randomBase62, SecretSource } from "../domain/randomText.ts"
import { SourceMonitor } from "../operations/SourceMonitor.ts"
import { within } from "./deadline.ts"
import { sessionConfig } from "./directUrl.ts"

const CHANNEL = "fathom_changes"
const BEAT_EVERY_MS = 250
const CONNECT_TIMEOUT_MS = 2000
const BEAT_TIMEOUT_MS = 500
const RETRY_EVERY_MS = 250
const TICK_MS = 50
/**
 * How long a beat proves that the channel works, in ticks of the event loop: one beat may be late, three may not. A
 * late tick counts once. A busy loop neither sends nor reads beats, which says nothing about the channel, and before
 * its next tick it reads what has arrived.
 */
const PROVEN_TICKS = 15
/**
 * How long a beat proves that the channel works, by the clock. This limit matters for a process that was suspended.
 */
const PROVEN_FOR_MS = 5000

/** Timeout until the first beat comes back: a starting process is busy, and no request waits for the channel yet. */
const START_TIMEOUT_MS = 10_000

/**
 * How long before a gap changes are read again. The transaction of a change may have been open for a while before the
 * gap.
 */
export const LOOK_BACK_MS = 60_000

/** A kind of change that processes announce to each other. */
export type Topic = "keys" | "sessions" | "tracker" | "alerts" | "firings"

/** Handlers of one topic. They are synchronous. */
export interface ChangeHandlers {
  /** A process has changed the subject. `isOwn` is true when it was this process. */
  readonly onChange: (subject: string, isOwn: boolean) => void
  /**
   * The channel is connected. Changes of the last `gapMs` milliseconds may have been missed; null when it was never
   * connected before. The channel counts as proven only after this effect succeeds. If it fails, the channel
   * reconnects.
   */
  readonly onConnected: (gapMs: number | null) => Effect.Effect<void, unknown>
}

/** A change by any process, or `Missed`: changes may have been missed, so the state has to be read again. */
export type ChangeSignal =
  | { readonly _tag: "Changed"; readonly subject: string; readonly isOwn: boolean }
  | { readonly _tag: "Missed" }

/**
 * Passes changes between processes that share a database, with LISTEN and NOTIFY. The first subscription opens the
 * single connection. Changes arrive in the order of commits. Every 250 ms the channel sends itself a beat. When the
 * beat comes back, everything committed before it has been received.
 */
export class ChangeChannel extends Context.Service<
  ChangeChannel,
  {
    /**
     * True when every change committed more than 750 ms ago has been received. A busy event loop extends that time,
     * up to 5 s in all.
     */
    readonly isProven: () => boolean
    /** SQL expression that announces a change when its transaction commits. The subject is at most 7,900 bytes. */
    announcing(topic: Topic, subject: string | Statement.Fragment): Statement.Fragment
    /** Announces a change. Inside a transaction, the change is announced when the transaction commits. */
    announce(topic: Topic, subject: string): Effect.Effect<void, SqlError.SqlError>
    /** Calls the handlers until the scope closes. `onConnected` is called first. */
    subscribe(topic: Topic, handlers: ChangeHandlers): Effect.Effect<void, never, Scope.Scope>
    /** Changes of a topic. `Missed` comes first, and again whenever the channel was down. */
    changes(topic: Topic): Stream.Stream<ChangeSignal>
    /** Milliseconds of the monotonic clock since a beat last came back; infinite before the first. */
    readonly sinceProvenMs: () => number
  }
>()("fathom/storage/ChangeChannel") {
  static readonly layer: Layer.Layer<ChangeChannel, never, PgClient.PgClient> = Layer.effect(
    ChangeChannel,
    Effect.suspend(() => make)
  )
}

interface Subscription extends ChangeHandlers {
  readonly topic: string
}

/**
 * What the last returned beat proves. Times are milliseconds of the monotonic clock unless their name says otherwise.
 */
class Proof {
  // A beat of an earlier session proves nothing about this one.
  isBeating = false
  ticks = 0
  /** Wall clock time of the last beat; null before the first. */
  beatAtMs: number | null = null
  #sentAtMs: number | null = null
  #sentAtTick = 0

  get isFirst(): boolean {
    return this.#sentAtMs === null
  }

  /** Takes a beat of this process that came back. */
  take([sentAtMs, tick]: ReadonlyArray<string>, wallMs: number): void {
    this.isBeating = true
    this.#sentAtMs = Number(sentAtMs)
    this.#sentAtTick = Number(tick)
    this.beatAtMs = wallMs
  }

  /** Milliseconds since the last beat; null before the first. */
  age(nowMs: number): number | null {
    return this.#sentAtMs === null ? null : nowMs - this.#sentAtMs
  }

  isFresh(nowMs: number): boolean {
    const age = this.age(nowMs)
    return this.isBeating && age !== null && this.ticks - this.#sentAtTick < PROVEN_TICKS && age < PROVEN_FOR_MS
  }
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const config = yield* sessionConfig(sql)
  const clock = yield* Clock.Clock
  const monitor = yield* SourceMonitor
  const scope = yield* Effect.scope
  const sender = randomBase62(16, yield* SecretSource)
  const nowMs = () => monotonicMs(clock)
  const proof = new Proof()
  const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    within(proof.isFirst ? START_TIMEOUT_MS : BEAT_TIMEOUT_MS, (cause) => cause)(effect)
  const subscriptions = new Set<Subscription>()
  let isStarted = false
  let isConnected = false
  let isReported = false

  const receive = (payload: string): void => {
    const [from, topic, ...rest] = payload.split(" ")
    const subject = rest.join(" ")
    if (topic !== "beat") {
      subscriptions.forEach((each) => each.topic === topic && each.onChange(subject, from === sender))
    } else if (from === sender) {
      proof.take(rest, clock.currentTimeMillisUnsafe())
    }
  }

  const session = Effect.scoped(
    Effect.gen(function* () {
      // Closed after the connection, because UNLISTEN on a dead connection would never end.
      const listening = yield* Effect.acquireRelease(Scope.make(), (held) => Scope.close(held, Exit.void))
      const connection = yield* PgConnection.make({
        ...config,
        connectTimeout: proof.isFirst ? START_TIMEOUT_MS : CONNECT_TIMEOUT_MS
      })
      const pinned = yield* Scope.provide(connection.pin, listening)
      const notifications = yield* inTime(Scope.provide(pinned.listen(CHANNEL), listening))
      const gapMs = proof.age(nowMs())
      // Subscriptions may be added while others are being connected.
      const connected = new Set<ChangeHandlers>()
      const waiting = () => Array.from(subscriptions).find((each) => !connected.has(each))
      for (let next = waiting(); next !== undefined; next = waiting()) {
        connected.add(next)
        yield* inTime(next.onConnected(gapMs))
      }
      isConnected = true
      isReported = false
      const beat = Effect.suspend(() =>
        inTime(pinned.query("select pg_notify($1, $2)", [CHANNEL, `${sender} beat ${nowMs()} ${proof.ticks}`]))
      )
      yield* Effect.raceFirst(
        Effect.forever(Effect.map(Queue.take(notifications), ({ payload }) => receive(payload))),
        Effect.repeat(beat, Schedule.spaced(BEAT_EVERY_MS))
      )
    })
  )

  // One log line each time the channel goes down, however many attempts follow.
  const down = (exit: Exit.Exit<unknown, unknown>) => {
    const isFirst = !isReported
    isConnected = false
    proof.isBeating = false
    isReported = true
    if (Exit.isSuccess(exit)) {
      return Effect.void
    }
    monitor.failed("database", Cause.squash(exit.cause), clock.currentTimeMillisUnsafe())
    return isFirst
      ? Effect.logWarning("Changes of other processes cannot be received; keys are read from the database", exit.cause)
      : Effect.void
  }

  const start = Effect.suspend(() => {
    if (isStarted) {
      return Effect.void
    }
    isStarted = true
    const tick = Effect.repeat(
      Effect.sync(() => proof.ticks++),
      Schedule.spaced(TICK_MS)
    )
    return Effect.exit(session).pipe(
      Effect.flatMap(down),
      Effect.repeat(Schedule.spaced(RETRY_EVERY_MS)),
      Effect.forkIn(scope),
      Effect.andThen(Effect.forkIn(tick, scope))
    )
  })

  const subscribe = Effect.fnUntraced(function* (topic: Topic, handlers: ChangeHandlers) {
    const subscription = { topic, ...handlers }
    yield* Effect.acquireRelease(
      Effect.sync(() => subscriptions.add(subscription)),
      () => Effect.sync(() => subscriptions.delete(subscription))
    )
    // From here on every change reaches the handlers, so there is no gap.
    yield* isConnected ? Effect.ignore(handlers.onConnected(null)) : start
  })

  const announcing = (topic: Topic, subject: string | Statement.Fragment): Statement.Fragment =>
    sql`pg_notify(${CHANNEL}, ${`${sender} ${topic} `}::text || ${subject}::text)`

  const isProven = () => proof.isFresh(nowMs())
  yield* monitor.report("database", () => ({
    observedAtMs: proof.beatAtMs,
    status: isProven() ? "known" : proof.beatAtMs === null ? "unavailable" : "stale"
  }))

  return ChangeChannel.of({
    isProven,
    announcing,
    announce: (topic, subject) => Effect.asVoid(sql`select ${announcing(topic, subject)}`),
    subscribe,
    changes: (topic) =>
      Stream.callback<ChangeSignal>((queue) =>
        subscribe(topic, {
          onChange: (subject, isOwn) => Queue.offerUnsafe(queue, { _tag: "Changed", subject, isOwn }),
          onConnected: () => Effect.asVoid(Queue.offer(queue, { _tag: "Missed" }))
        })
      ),
    sinceProvenMs: () => proof.age(nowMs()) ?? Number.POSITIVE_INFINITY
  })
})

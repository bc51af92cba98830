/** The client of the shared server. It has one connection, which reconnects by itself. */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { Clock, Deferred, Duration, Effect, Exit, Layer, References, Schedule, Scope } from "effect"
import { Redis } from "effect/persistence"
import { withinTurns } from "../../domain/loopTime.ts"
import { randomBase62, SecretSource } from "../../domain/randomText.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"
import { within } from "../deadline.ts"
import { LOST_AFTER, Valkey, ValkeyUnavailable } from "./Valkey.ts"

const BEAT_EVERY_MS = 250
/** The source turns stale after this many milliseconds without an answer. */
const ANSWER_STALE_MS = 1500
/** A process stops counting after this many milliseconds without a beat. */
const LEASE_MS = 5000
/** A start waits this long for the first answer, then goes on without it. Delays of a busy event loop do not count. */
const START_TIMEOUT = Duration.seconds(2)
const CLOSE_TIMEOUT = Duration.seconds(1)
const CONNECT_TIMEOUT_MS = 3000
/**
 * A connection that is silent for this long is closed, and its waiting commands fail. A working connection carries
 * beats all the time, but the client also counts the delays of a busy event loop. So it is far longer than `LOST_AFTER`,
 * which decides that the server is away.
 */
const SOCKET_TIMEOUT_MS = 10_000
const RETRY_FIRST_MS = 50
const RETRY_MOST_MS = 500

const PROCESSES = "fathom:processes"

/** Renews the lease of a process. Returns how many processes have a lease. */
const beatScript = Redis.script((id: string) => [PROCESSES, id, LEASE_MS], {
  numberOfKeys: 1,
  lua: `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])`
}).withReturnType<number>()

interface Client {
  readonly redis: Redis.Redis["Service"]
  readonly node: NodeRedis.NodeRedis["Service"]
}

const unavailable = (cause: unknown) => new ValkeyUnavailable({ cause })

/** A connected client. Waits until the server accepts the first connection. */
const connect = (url: string) =>
  Layer.build(
    NodeRedis.layer({
      url,
      // The caller falls back when a command cannot be sent, so the command must not run later.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: SOCKET_TIMEOUT_MS,
        reconnectStrategy: (retries) => Math.min(RETRY_FIRST_MS * 2 ** retries, RETRY_MOST_MS)
      }
    })
  ).pipe(
    Effect.flatMap((context) =>
      Effect.provide(
        Effect.all({ redis: Effect.service(Redis.Redis), node: Effect.service(NodeRedis.NodeRedis) }),
        context
      )
    ),
    // Otherwise every attempt to connect would be logged. Changes of the state are logged elsewhere.
    Effect.provideService(References.MinimumLogLevel, "Error")
  )

/** Runs the effect for at most 1 s and ignores failures. */
const briefly = <A, E>(effect: Effect.Effect<A, E>) => Effect.ignoreCause(within(CLOSE_TIMEOUT, unavailable)(effect))

/** Ends the lease. Commands to a server that does not answer are abandoned. */
const close = ({ node: { client }, redis }: Client, id: string) =>
  briefly(redis.send("ZREM", PROCESSES, id)).pipe(
    Effect.andThen(briefly(Effect.promise(() => client.close()))),
    Effect.andThen(Effect.sync(() => client.destroy()))
  )

const make = Effect.fnUntraced(function* (url: string) {
  const clock = yield* Clock.Clock
  const id = randomBase62(16, yield* SecretSource)
  const connection = yield* Scope.make()
  const answered = yield* Deferred.make<void>()
  let client: Client | undefined
  let isUp = false
  let isReported = false
  let observedAtMs: number | null = null
  let contacts = 0
  let processes = 1

  const call = <A>(use: (client: Client) => Effect.Effect<A, Redis.RedisError>): Effect.Effect<A, ValkeyUnavailable> =>
    Effect.suspend(() =>
      client === undefined
        ? Effect.fail(unavailable(new Error("Valkey has not been reached yet")))
        : Effect.mapError(use(client), ({ cause }) => unavailable(cause))
    )

  const gate = <A>(use: (client: Client) => Effect.Effect<A, Redis.RedisError>): Effect.Effect<A, ValkeyUnavailable> =>
    Effect.suspend(() => (isUp ? call(use) : Effect.fail(unavailable(new Error("Valkey is away")))))

  const heard = (count: number) =>
    Effect.suspend(() => {
      processes = Math.max(1, count)
      observedAtMs = clock.currentTimeMillisUnsafe()
      const wasUp = isUp
      isUp = true
      if (wasUp) {
        return Effect.void
      }
      contacts++
      const wasReported = isReported
      isReported = false
      const noted = Deferred.succeed(answered, undefined)
      return wasReported ? Effect.andThen(Effect.logInfo("Valkey answers again"), noted) : noted
    })

  const lost = (error: ValkeyUnavailable) =>
    Effect.suspend(() => {
      isUp = false
      const isFirst = !isReported
      isReported = true
      return isFirst ? Effect.logWarning("Valkey is away", error.cause) : Effect.void
    })

  const beat = call(({ redis }) => redis.eval(beatScript)(id)).pipe(
    within(LOST_AFTER, unavailable),
    Effect.flatMap(heard),
    Effect.catchTag("ValkeyUnavailable", lost)
  )

  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      client === undefined ? Effect.void : close(client, id),
      // A closing client waits for the answers to its commands, even when the server no longer answers.
      briefly(Scope.close(connection, Exit.void))
    )
  )
  yield* connect(url).pipe(
    Scope.provide(connection),
    Effect.flatMap((connected) => {
      client = connected
      return Effect.repeat(beat, Schedule.spaced(BEAT_EVERY_MS))
    }),
    keepRunning("Connecting to Valkey"),
    Effect.forkScoped({ startImmediately: true })
  )
  const isReached = Effect.as(Deferred.await(answered), true)
  if (!(yield* isReached.pipe(withinTurns(START_TIMEOUT, Effect.succeed(false))))) {
    yield* lost(unavailable(new Error("no answer at the start")))
  }

  yield* (yield* SourceMonitor).report("valkey", (nowMs) => ({
    observedAtMs,
    status: observedAtMs === null ? "unavailable" : isUp && nowMs - observedAtMs <= ANSWER_STALE_MS ? "known" : "stale"
  }))
  yield* (yield* Readings).report(
    {
      name: "fathom_valkey_processes",
      help: "Processes that share the Valkey server, as last counted.",
      kind: "gauge"
    },
    () => processes
  )

  return Valkey.of({
    eval:
      (script) =>
      (...params) =>
        gate(({ redis }) => redis.eval(script)(...params)),
    send: (command, ...args) => gate(({ redis }) => redis.send(command, ...args)),
    noteLate: () => {
      isUp = false
    },
    isUp: () => isUp,
    contacts: () => contacts,
    processes: () => processes
  })
})

/**
 * The server at this address. The start waits up to 2 s for it and then goes on without it. A lost connection comes
 * back by itself. The source `valkey` shows the state.
 */
export const layer = (url: string): Layer.Layer<Valkey> => Layer.effect(Valkey, make(url))

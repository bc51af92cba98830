/** Deadlines, retries and circuit breakers for calls to an upstream. */
import { Cause, Clock, Duration, Effect, Exit, Option, Schedule, type Scope, Stream } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { UpstreamFailure } from "./UpstreamFailure.ts"

/** What this room needs to know of a port's failure. */
export interface Failing {
  readonly reason: string
  readonly retryAfterMs?: number | undefined
}

/** Fails with `timeout` after this long. */
export const withDeadline =
  (deadline: Duration.Duration) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | UpstreamFailure, R> =>
    Effect.timeoutOrElse(effect, {
      duration: deadline,
      orElse: () =>
        Effect.fail(new UpstreamFailure({ reason: "timeout", detail: `no answer in ${Duration.format(deadline)}` }))
    })

/**
 * Fails with `timeout` after this long without a sign of life. The effect calls `heard` at each sign. For replies of
 * unbounded length, whose parts must each arrive in time.
 */
export const unlessSilent = <A, E, R>(
  limit: Duration.Duration,
  effect: (heard: () => void) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | UpstreamFailure, R> =>
  Clock.clockWith((clock) => {
    const nowMs = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
    let heardAtMs = nowMs()
    const silent: Effect.Effect<never, UpstreamFailure> = Effect.suspend(() => {
      const leftMs = Math.ceil(heardAtMs + Duration.toMillis(limit) - nowMs())
      return leftMs > 0
        ? Effect.andThen(Effect.sleep(Duration.millis(leftMs)), silent)
        : Effect.fail(new UpstreamFailure({ reason: "timeout", detail: `silent for ${Duration.format(limit)}` }))
    })
    const heard = () => {
      heardAtMs = nowMs()
    }
    return Effect.raceFirst(effect(heard), silent)
  })

const TRANSIENT: ReadonlySet<string> = new Set(["timeout", "unreachable", "rate_limited"])
/** If `Retry-After` asks for more than this, the failure goes to the caller instead of being retried. */
const LONGEST_WAIT_MS = 10_000

/** Waits from 200 ms, doubling, with jitter, and at least `Retry-After`. */
const backOff = (times: number) =>
  Schedule.exponential("200 millis").pipe(
    Schedule.upTo({ times }),
    Schedule.jittered,
    Schedule.setInputType<Failing>(),
    Schedule.modifyDelay(({ duration, input }) =>
      Effect.succeed(Duration.max(duration, Duration.millis(input.retryAfterMs ?? 0)))
    )
  )

/**
 * Retries transient failures this many times. Unlike `HttpClient.retryTransient`, it also covers reading the body and
 * errors in it, and it does not retry when `Retry-After` exceeds ten seconds.
 */
export const retryTransient =
  (times: number) =>
  <A, E extends Failing, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.retry(effect, {
      schedule: backOff(times),
      while: ({ reason, retryAfterMs = 0 }) => TRANSIENT.has(reason) && retryAfterMs <= LONGEST_WAIT_MS
    })

/** Retries once, immediately, when the upstream was unreachable and set no `Retry-After`. */
export const retryOnce = <A, E extends Failing, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(effect, {
    times: 1,
    while: ({ reason, retryAfterMs }) => reason === "unreachable" && retryAfterMs === undefined
  })

/** How one circuit breaker behaves. */
export interface BreakerRules<E> {
  /** Name of the upstream in logs. */
  readonly name: string
  /** How many failures in a row open the circuit. */
  readonly failures: number
  /** The circuit stays open this long, or for the last failure's `Retry-After` if that is longer. */
  readonly openDuration: Duration.Input | Schedule.Schedule<unknown, number>
  /** How an error counts for the circuit. */
  readonly outcomeOf: (error: E) => CircuitBreaker.Outcome
  /** Makes the error for a call that an open circuit rejects. */
  readonly rejection: (retryAfterMs: number) => E
}

/** Opens after five failures in a row: first for one second, then twice as long each time, up to about 30 s. */
export const usualBreaker = {
  failures: 5,
  openDuration: Schedule.exponential("1 second").pipe(Schedule.upTo({ duration: "30 seconds" }))
} as const

/** An error that counts as a failure, with the wait that it asks for. */
export const counted = ({ retryAfterMs }: Failing): CircuitBreaker.Outcome =>
  CircuitBreaker.failure({ retryAfter: retryAfterMs })

/** A half-open circuit lets one call through as a probe. Other calls are rejected for this long. */
const PROBE_MS = 1000

/** Makes a circuit breaker around calls to one upstream. Interrupted calls do not count. */
export const makeBreaker = Effect.fnUntraced(function* <E>(
  rules: BreakerRules<E>
): Effect.fn.Return<<A, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>, never, Scope.Scope> {
  const { failures, name, openDuration, outcomeOf, rejection } = rules
  const breaker = yield* CircuitBreaker.make({
    tripPolicy: CircuitBreaker.consecutive(failures),
    openDuration
  }).pipe(Effect.provide(CircuitBreaker.layerStoreMemory()))

  yield* breaker.transitions.pipe(
    Stream.filter(({ from, to }) => from === "Closed" && to === "Open"),
    Stream.runForEach(() => Effect.logWarning("An upstream keeps failing and is not called for a while", { name })),
    Effect.forkScoped({ startImmediately: true })
  )

  const classify = (exit: Exit.Exit<unknown, E>): CircuitBreaker.Outcome =>
    Exit.isSuccess(exit)
      ? CircuitBreaker.success
      : Option.match(Cause.findErrorOption(exit.cause), { onNone: CircuitBreaker.failure, onSome: outcomeOf })

  const rejected = ({ reason }: CircuitBreaker.CircuitBreakerError): E =>
    rejection(reason._tag === "CircuitOpen" ? Duration.toMillis(reason.retryAfter) : PROBE_MS)

  return <A, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    breaker
      .execute(call, { key: name, classify })
      .pipe(Effect.mapError((error) => (error instanceof CircuitBreaker.CircuitBreakerError ? rejected(error) : error)))
})

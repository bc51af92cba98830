/** Deadlines, retries and circuit breakers for calls to an upstream. */
import { Cause, Clock, Duration, Effect, Exit, Option, Schedule, type Scope, Stream } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { UpstreamFailure } from "./UpstreamFailure.ts"

/** A failure in the terms of the port that reports it. */
export interface Failing {
  readonly reason: string
  readonly retryAfterMs?: number | undefined
}

/** Fails as `timeout` after this long. */
export const withDeadline =
  (deadline: Duration.Duration) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | UpstreamFailure, R> =>
    Effect.timeoutOrElse(effect, {
      duration: deadline,
      orElse: () =>
        Effect.fail(new UpstreamFailure({ reason: "timeout", detail: `no answer in ${Duration.format(deadline)}` }))
    })

/**
 * Fails as `timeout` when there was no sign of life for this long. The effect calls `heard` at each sign. For answers
 * of unbounded length, whose parts each have to come in time.
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
/** A failure that asks for a longer wait is returned to the caller. */
const LONGEST_WAIT_MS = 10_000

/** From 200 ms, doubling, with jitter, and at least `Retry-After`. */
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
 * Retries transient failures this many times. Unlike `HttpClient.retryTransient` it also covers the body and errors in
 * it, and it does not retry when `Retry-After` exceeds ten seconds.
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

/** The rules of one circuit. */
export interface BreakerRules<E> {
  /** The upstream, in logs. */
  readonly name: string
  /** Consecutive failures that open the circuit. */
  readonly failures: number
  /** The circuit stays open this long, or for the last failure's `Retry-After` if that is longer. */
  readonly openDuration: Duration.Input | Schedule.Schedule<unknown, number>
  /** How an error counts. */
  readonly outcomeOf: (error: E) => CircuitBreaker.Outcome
  /** The error of a call that an open circuit rejects. */
  readonly rejection: (retryAfterMs: number) => E
}

/** Opens after five consecutive failures: first for one second, then twice as long each time, up to about 30 s. */
export const usualBreaker = {
  failures: 5,
  openDuration: Schedule.exponential("1 second").pipe(Schedule.upTo({ duration: "30 seconds" }))
} as const

/** A failure that counts, and the wait it asks for. */
export const counted = ({ retryAfterMs }: Failing): CircuitBreaker.Outcome =>
  CircuitBreaker.failure({ retryAfter: retryAfterMs })

/** While the circuit is half-open, one call probes the upstream. The others are rejected for this long. */
const PROBE_MS = 1000

/** A circuit around calls to one upstream. Interrupted calls do not count. */
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

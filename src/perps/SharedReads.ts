import { Cache, Clock, Duration, Effect, Exit, Fiber, Option, type Scope, Semaphore } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { makeBreaker } from "../operations/protection.ts"
import { Reliability } from "./Reliability.ts"
import { inCoins, venueName } from "./symbols.ts"
import { isAbsent, StaleBook, type Venue, type VenueFault, type VenueMarket, VenueUnreadable } from "./Venue.ts"

/** Limits on the reads of a venue. */
export interface ReadRules {
  /** How long a caller waits at most. */
  readonly deadline: Duration.Duration
  /** How long a read may take. It goes on after its caller has given up, so that the next caller finds its result. */
  readonly patience: Duration.Duration
  /** How long later callers get a result. */
  readonly keep: Duration.Duration
  /** How many failures in a row open the circuit of a venue. */
  readonly failures: number
  /** How long the circuit stays open. */
  readonly rest: Duration.Duration
}

/** The limits when no settings are given. */
export const defaultRules: ReadRules = {
  deadline: Duration.millis(1200),
  patience: Duration.seconds(5),
  keep: Duration.seconds(1),
  failures: 3,
  rest: Duration.seconds(5)
}

export interface SharedReads {
  readonly venue: Venue
  readonly reliability: Reliability
  /** The market, or why it is unavailable. Answers within the deadline. */
  readonly read: (symbol: string) => Effect.Effect<VenueMarket, VenueFault>
}

const CAPACITY = 256
const CONCURRENCY = 8

const unreadable = (why: VenueUnreadable["why"], detail: string) => new VenueUnreadable({ why, detail })

type ReadExit = Exit.Exit<VenueMarket, VenueFault>

const isRejected = (exit: ReadExit): boolean =>
  Option.exists(Exit.findErrorOption(exit), (fault) => fault._tag === "VenueUnreadable" && fault.why === "resting")

/** Reads a venue, one read of a symbol at a time. Results are cached, counted, and guarded by a circuit breaker. */
export const makeSharedReads = Effect.fnUntraced(function* (
  venue: Venue,
  rules: ReadRules
): Effect.fn.Return<SharedReads, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const permits = yield* Semaphore.make(CONCURRENCY)
  const reliability = new Reliability()
  const deadlineMs = Duration.toMillis(rules.deadline)
  /** When each read in flight started, in milliseconds since the Unix epoch. */
  const startedMs = new Map<string, number>()
  const guarded = yield* makeBreaker<VenueFault>({
    name: `perps ${venue.key}`,
    failures: rules.failures,
    openDuration: rules.rest,
    // A malformed answer may concern one market among many.
    outcomeOf: (fault) =>
      fault._tag === "VenueUnreadable" && fault.why !== "malformed" ? CircuitBreaker.failure() : CircuitBreaker.success,
    rejection: () => unreadable("resting", "failed repeatedly")
  })

  const fresh = Effect.fnUntraced(function* (symbol: string) {
    const { multiplier, name } = venueName(venue.key, symbol)
    const market = inCoins(yield* venue.read(name), multiplier)
    if (market === null) {
      return yield* unreadable("malformed", `prices of ${name} have too many digits`)
    }
    const nowMs = yield* Clock.currentTimeMillis
    return nowMs - market.asOfMs > venue.maxAgeMs ? yield* new StaleBook({ asOfMs: market.asOfMs }) : market
  })

  const note = Effect.fnUntraced(function* (beganMs: number, exit: ReadExit) {
    const nowMs = yield* Clock.currentTimeMillis
    // A missing market says nothing about the reliability of the books.
    if (!isAbsent(exit)) {
      reliability.note(Exit.isSuccess(exit) && nowMs - beganMs <= deadlineMs, nowMs)
    }
  })

  const lookup = Effect.fnUntraced(function* (symbol: string) {
    const beganMs = yield* Clock.currentTimeMillis
    startedMs.set(symbol, beganMs)
    return yield* fresh(symbol).pipe(
      Effect.timeoutOrElse({ duration: rules.patience, orElse: () => unreadable("late", "no answer at all") }),
      permits.withPermit,
      Effect.onExit((exit) => note(beganMs, exit)),
      guarded,
      Effect.ensuring(Effect.sync(() => startedMs.delete(symbol)))
    )
  })

  const cache = yield* Cache.makeWith(lookup, {
    capacity: CAPACITY,
    timeToLive: (exit) => (isRejected(exit) ? 0 : rules.keep)
  })

  const read = Effect.fnUntraced(function* (symbol: string) {
    const nowMs = yield* Clock.currentTimeMillis
    // A caller that joins a read which is already late does not wait for it again.
    const left = (startedMs.get(symbol) ?? nowMs) + deadlineMs - nowMs
    // In a fiber of its own, because the lookup ends with its last waiter.
    const reading = yield* Cache.get(cache, symbol).pipe(Effect.forkIn(scope))
    return yield* Fiber.join(reading).pipe(
      Effect.timeoutOrElse({
        duration: Duration.millis(Math.max(0, left)),
        orElse: () => unreadable("late", "no answer in time")
      })
    )
  })

  return { venue, reliability, read }
})

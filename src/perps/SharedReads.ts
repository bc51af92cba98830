import { Cache, Clock, Duration, Effect, Exit, Fiber, Option, type Scope, Semaphore } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { makeBreaker } from "../upstream/protection.ts"
import { Reliability } from "./Reliability.ts"
import { inCoins, venueName } from "./symbols.ts"
import { StaleBook, type Venue, type VenueFault, type VenueMarket, VenueUnreadable } from "./Venue.ts"

/** Limits on the reads of a venue. */
export interface ReadRules {
  /** The longest wait of a caller. */
  readonly deadline: Duration.Duration
  /** The longest read. It goes on after its caller has given up, so that its result is there for the next. */
  readonly patience: Duration.Duration
  /** The lifetime of a result for later callers. */
  readonly keep: Duration.Duration
  /** Consecutive failures that open the circuit of a venue. */
  readonly failures: number
  /** The time that the circuit stays open. */
  readonly rest: Duration.Duration
}

/** The limits unless settings give others. */
export const defaultRules: ReadRules = {
  deadline: Duration.millis(1200),
  patience: Duration.seconds(5),
  keep: Duration.seconds(1),
  failures: 3,
  rest: Duration.seconds(5)
}

/** Reads of one venue, shared by all callers. */
export interface SharedReads {
  readonly venue: Venue
  readonly reliability: Reliability
  /** The market, or why it is unavailable; never later than the deadline. */
  readonly read: (symbol: string) => Effect.Effect<VenueMarket, VenueFault>
}

const CAPACITY = 256
const CONCURRENCY = 8

const unreadable = (why: VenueUnreadable["why"], detail: string) => new VenueUnreadable({ why, detail })

type ReadExit = Exit.Exit<VenueMarket, VenueFault>

const isAbsent = (exit: ReadExit): boolean =>
  Option.exists(Exit.findErrorOption(exit), ({ _tag }) => _tag === "NoMarket")

const isRejected = (exit: ReadExit): boolean =>
  Option.exists(Exit.findErrorOption(exit), (fault) => fault._tag === "VenueUnreadable" && fault.why === "resting")

/** Reads of which one a symbol is in flight at a time; results are cached, counted and guarded by a circuit breaker. */
export const makeSharedReads = Effect.fnUntraced(function* (
  venue: Venue,
  rules: ReadRules
): Effect.fn.Return<SharedReads, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const permits = yield* Semaphore.make(CONCURRENCY)
  const reliability = new Reliability()
  const deadlineMs = Duration.toMillis(rules.deadline)
  /** Starts of the reads in flight, in milliseconds since the Unix epoch. */
  const startedMs = new Map<string, number>()
  const guarded = yield* makeBreaker<VenueFault>({
    name: `perps ${venue.key}`,
    failures: rules.failures,
    openDuration: rules.rest,
    // A malformed answer may be of one market among many.
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
    // A missing market does not reflect the reliability of the books.
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
    // A caller who joins a read that is late already does not wait for it again.
    const left = (startedMs.get(symbol) ?? nowMs) + deadlineMs - nowMs
    // In a fiber of its own: the lookup ends with its last waiter.
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

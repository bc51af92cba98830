import { Cache, Clock, Duration, Effect, Exit, Fiber, Option, type Scope, Semaphore } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { monotonicMs } from "../domain/loopTime.ts"
import { makeBreaker } from "../operations/protection.ts"
import { Reliability } from "./Reliability.ts"
import { inCoins, venueName } from "./symbols.ts"
import { StaleBook, type Venue, type VenueFault, type VenueMarket, VenueUnreadable } from "./Venue.ts"

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
  /** The same with a deeper book; null when the venue has none. */
  readonly readDeep: ((symbol: string) => Effect.Effect<VenueMarket, VenueFault>) | null
}

const CAPACITY = 256
const CONCURRENCY = 8

const unreadable = (why: VenueUnreadable["why"], detail: string) => new VenueUnreadable({ why, detail })

const isRejection = (fault: VenueFault): boolean => fault._tag === "VenueUnreadable" && fault.why === "resting"

/** True for a fault that says nothing about a venue's books: the market is missing, or the venue was not asked. */
const saysNothing = (fault: VenueFault): boolean =>
  fault._tag === "NoMarket" || isRejection(fault) || (fault._tag === "VenueUnreadable" && fault.why === "paced")

/** The newest markets of a venue by symbol, at most `CAPACITY` of them. They stand in while the venue's budget is used up. */
class LastMarkets {
  readonly #markets = new Map<string, VenueMarket>()

  keep(symbol: string, market: VenueMarket): VenueMarket {
    this.#markets.delete(symbol)
    this.#markets.set(symbol, market)
    const [oldest] = this.#markets.keys()
    if (this.#markets.size > CAPACITY && oldest !== undefined) {
      this.#markets.delete(oldest)
    }
    return market
  }

  of(symbol: string): VenueMarket | undefined {
    return this.#markets.get(symbol)
  }
}

/** Reads a venue, one read of a symbol at a time. Results are cached, counted, and guarded by a circuit breaker. */
export const makeSharedReads = Effect.fnUntraced(function* (
  venue: Venue,
  rules: ReadRules
): Effect.fn.Return<SharedReads, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const permits = yield* Semaphore.make(CONCURRENCY)
  const reliability = new Reliability()
  const deadlineMs = Duration.toMillis(rules.deadline)
  const guarded = yield* makeBreaker<VenueFault>({
    name: `perps ${venue.key}`,
    failures: rules.failures,
    openDuration: rules.rest,
    // A malformed answer may concern one market among many, and a request that was not sent says nothing about a venue.
    outcomeOf: (fault) =>
      fault._tag === "VenueUnreadable" && fault.why !== "malformed" && fault.why !== "paced"
        ? CircuitBreaker.failure()
        : CircuitBreaker.success,
    rejection: () => unreadable("resting", "failed repeatedly")
  })

  const keepMs = Duration.toMillis(rules.keep)
  const freshMs = new Map<string, number>()
  const failedMs = new Map<string, number>()

  const note = (symbol: string, isFresh: boolean) =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const counted = isFresh ? freshMs : failedMs
      if (Math.abs(nowMs - (counted.get(symbol) ?? Number.NEGATIVE_INFINITY)) < keepMs) {
        return
      }
      counted.delete(symbol)
      const [oldest] = counted.keys()
      if (oldest !== undefined && counted.size >= CAPACITY) {
        counted.delete(oldest)
      }
      counted.set(symbol, nowMs)
      reliability.note(isFresh, nowMs)
    })

  /**
   * Counts what callers get: a book that is late for one is fresh for the next, who does not wait for it. A symbol counts
   * once per outcome while its result is kept, however many ask.
   */
  const counted = (symbol: string, read: Effect.Effect<VenueMarket, VenueFault>) =>
    read.pipe(
      Effect.tap(() => note(symbol, true)),
      Effect.tapError((fault) => (saysNothing(fault) ? Effect.void : note(symbol, false)))
    )

  /** Shared reads by one method of the venue. */
  const shared = Effect.fnUntraced(function* (readMarket: Venue["read"]) {
    /** When each read in flight started, in milliseconds since the Unix epoch. */
    const startedMs = new Map<string, number>()
    const last = new LastMarkets()

    const newest = (symbol: string): Effect.Effect<VenueMarket, VenueFault> => {
      const { multiplier, name } = venueName(venue.key, symbol)
      return Effect.flatMap(readMarket(name), (read) => {
        const market = inCoins(read, multiplier)
        return market === null
          ? unreadable("malformed", `prices of ${name} have too many digits`)
          : Effect.succeed(last.keep(symbol, market))
      })
    }

    /** The scarcer the requests are, the longer a market is used before it is read again: all symbols get their turn. */
    const inTurn = (symbol: string, nowMs: number): Effect.Effect<VenueMarket, VenueFault> => {
      const kept = last.of(symbol)
      const usedForMs = venue.maxAgeMs * (venue.budget?.scarcity(monotonicMs(clock)) ?? 0)
      return kept !== undefined && nowMs - kept.asOfMs < usedForMs ? Effect.succeed(kept) : newest(symbol)
    }

    const fresh = Effect.fnUntraced(function* (symbol: string) {
      const market = yield* inTurn(symbol, yield* Clock.currentTimeMillis).pipe(
        Effect.catchTag("VenueUnreadable", (fault) => {
          const kept = fault.why === "paced" ? last.of(symbol) : undefined
          return kept === undefined ? fault : Effect.succeed(kept)
        })
      )
      const nowMs = yield* Clock.currentTimeMillis
      return nowMs - market.asOfMs > venue.maxAgeMs ? yield* new StaleBook({ asOfMs: market.asOfMs }) : market
    })

    const lookup = Effect.fnUntraced(function* (symbol: string) {
      startedMs.set(symbol, yield* Clock.currentTimeMillis)
      return yield* fresh(symbol).pipe(
        Effect.timeoutOrElse({ duration: rules.patience, orElse: () => unreadable("late", "no answer at all") }),
        permits.withPermit,
        guarded,
        Effect.ensuring(Effect.sync(() => startedMs.delete(symbol)))
      )
    })

    const cache = yield* Cache.makeWith(lookup, {
      capacity: CAPACITY,
      timeToLive: (exit) => (Option.exists(Exit.findErrorOption(exit), isRejection) ? 0 : rules.keep)
    })

    const inTime = Effect.fnUntraced(function* (symbol: string) {
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
    return inTime
  })

  const read = yield* shared(venue.read)
  return {
    venue,
    reliability,
    read: (symbol) => counted(symbol, read(symbol)),
    readDeep: venue.readDeep === undefined ? null : yield* shared(venue.readDeep)
  }
})

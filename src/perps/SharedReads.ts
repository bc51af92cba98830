import { Clock, Deferred, Duration, Effect, Exit, Option, type Scope, Semaphore } from "effect"
import { Reliability } from "./Reliability.ts"
import { StaleBook, type Venue, type VenueFault, type VenueMarket, VenueUnreadable } from "./Venue.ts"

/** How much a venue is asked. */
export interface ReadRules {
  /** How long a caller waits. */
  readonly deadline: Duration.Duration
  /** How long a read may go on after its caller has left, so that what it learns is there for the next. */
  readonly patience: Duration.Duration
  /** How long an answer is good for everyone who asks the same. */
  readonly keep: Duration.Duration
  /** A venue that fails so many times in a row is left alone. */
  readonly failures: number
  /** For so long. */
  readonly rest: Duration.Duration
}

/** How venues are asked, unless settings say otherwise. */
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
  /** The market, or why it is not to be had; never later than the deadline. */
  readonly read: (symbol: string) => Effect.Effect<VenueMarket, VenueFault>
}

interface Kept {
  readonly answer: Deferred.Deferred<VenueMarket, VenueFault>
  readonly startedMs: number
  /** In milliseconds since the Unix epoch; infinite while the read goes on. */
  goodUntilMs: number
}

const MOST_KEPT = 256
const MOST_AT_ONCE = 8

const unreadable = (why: VenueUnreadable["why"], detail: string) => new VenueUnreadable({ why, detail })

/** Whether the venue has shown what it is worth: that it lacks a market says nothing of its books. */
const verdict = (exit: Exit.Exit<VenueMarket, VenueFault>): boolean | null =>
  Option.exists(Exit.findErrorOption(exit), ({ _tag }) => _tag === "NoMarket") ? null : Exit.isSuccess(exit)

/** One read of a symbol at a time, kept for a moment, watched, and stopped while the venue does nothing but fail. */
export const makeSharedReads = Effect.fnUntraced(function* (
  venue: Venue,
  rules: ReadRules
): Effect.fn.Return<SharedReads, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const permits = yield* Semaphore.make(MOST_AT_ONCE)
  const reliability = new Reliability()
  const kept = new Map<string, Kept>()
  const deadlineMs = Duration.toMillis(rules.deadline)
  let failed = 0
  let restsUntilMs = 0

  const fresh = Effect.fnUntraced(function* (symbol: string) {
    const market = yield* venue.read(symbol)
    const nowMs = yield* Clock.currentTimeMillis
    return nowMs - market.asOfMs > venue.maxAgeMs ? yield* new StaleBook({ asOfMs: market.asOfMs }) : market
  })

  const settle = (cell: Kept, exit: Exit.Exit<VenueMarket, VenueFault>, nowMs: number) => {
    cell.goodUntilMs = nowMs + Duration.toMillis(rules.keep)
    const isGood = verdict(exit)
    if (isGood !== null) {
      reliability.note(isGood && nowMs - cell.startedMs <= deadlineMs, nowMs)
    }
    const hasFailed = Option.exists(Exit.findErrorOption(exit), ({ _tag }) => _tag === "VenueUnreadable")
    failed = hasFailed ? failed + 1 : 0
    if (failed >= rules.failures) {
      restsUntilMs = nowMs + Duration.toMillis(rules.rest)
    }
  }

  const run = Effect.fnUntraced(function* (symbol: string, cell: Kept) {
    const exit = yield* fresh(symbol).pipe(
      Effect.timeoutOrElse({ duration: rules.patience, orElse: () => unreadable("late", "no answer at all") }),
      permits.withPermit,
      Effect.exit
    )
    settle(cell, exit, yield* Clock.currentTimeMillis)
    if (failed === rules.failures) {
      yield* Effect.logWarning("A venue is left alone, because it fails", { venue: venue.key })
    }
    yield* Deferred.done(cell.answer, exit)
  })

  const begin = Effect.fnUntraced(function* (symbol: string, startedMs: number) {
    const cell: Kept = { answer: Deferred.makeUnsafe(), startedMs, goodUntilMs: Number.POSITIVE_INFINITY }
    kept.delete(symbol)
    kept.set(symbol, cell)
    const [oldest] = kept.keys()
    if (kept.size > MOST_KEPT && oldest !== undefined) {
      kept.delete(oldest)
    }
    yield* run(symbol, cell).pipe(Effect.forkIn(scope))
    return cell
  })

  const read = Effect.fnUntraced(function* (symbol: string) {
    const nowMs = yield* Clock.currentTimeMillis
    const known = kept.get(symbol)
    const isKnown = known !== undefined && nowMs < known.goodUntilMs
    if (!isKnown && nowMs < restsUntilMs) {
      return yield* unreadable("resting", "failed repeatedly")
    }
    const { answer, startedMs } = isKnown ? known : yield* begin(symbol, nowMs)
    // Whoever joins a read that is late already does not wait for it again.
    const left = Duration.millis(Math.max(0, startedMs + deadlineMs - nowMs))
    return yield* Deferred.await(answer).pipe(
      Effect.timeoutOrElse({ duration: left, orElse: () => unreadable("late", "no answer in time") })
    )
  })

  return { venue, reliability, read }
})

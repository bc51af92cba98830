/** Reads the list of markets of a venue for all who ask, and keeps the last readable one. */
import { Cache, Clock, Duration, Effect, Exit, Fiber, type Scope } from "effect"
import type { PerpsVenue } from "../api/schemas/Perps.ts"
import type { ReadRules } from "./SharedReads.ts"
import { type ListedMarkets, type Venue, type VenueFault, VenueUnreadable } from "./Venue.ts"

/** The markets of a venue, as far as they are known. */
export interface MarketsReading {
  readonly venue: PerpsVenue
  /** The newest list that could be read; null without any that is new enough. */
  readonly listed: ListedMarkets | null
  /** Why the list could not be read now; null when it was, or is new. */
  readonly fault: VenueFault | null
}

/** How long a list counts as new. Venues list a market now and then. */
const NEW_FOR = Duration.minutes(1)
/** How long a list stands in for one that cannot be read. */
const KEPT_MS = 3_600_000

const late = (detail: string) => new VenueUnreadable({ why: "late", detail })

/**
 * The reading of a venue within the deadline. One read at a time goes to the venue, at most one a minute, and after a
 * failure one in `rest`. A read goes on after its caller has given up.
 */
export const makeMarketReads = Effect.fnUntraced(function* (
  { key, markets }: Venue,
  rules: Pick<ReadRules, "deadline" | "patience" | "rest">
): Effect.fn.Return<Effect.Effect<MarketsReading>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let last: ListedMarkets | null = null
  const read = markets.pipe(
    Effect.timeoutOrElse({ duration: rules.patience, orElse: () => late("no list at all") }),
    Effect.filterOrFail(
      ({ names }) => names.length > 0,
      () => new VenueUnreadable({ why: "malformed", detail: "the list has no market that can be read" })
    ),
    Effect.tap((listed) => Effect.sync(() => (last = listed)))
  )
  const newest = yield* Cache.makeWith<PerpsVenue, ListedMarkets, VenueFault>(() => read, {
    capacity: 1,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? NEW_FOR : rules.rest)
  })
  return Effect.gen(function* () {
    // In a fiber of its own, because the lookup ends with its last waiter.
    const reading = yield* Cache.get(newest, key).pipe(Effect.forkIn(scope))
    return yield* Fiber.join(reading).pipe(
      Effect.timeoutOrElse({ duration: rules.deadline, orElse: () => late("no list in time") }),
      Effect.map((listed) => ({ venue: key, listed, fault: null })),
      Effect.catch((fault) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => ({
          venue: key,
          listed: last !== null && nowMs - last.readAtMs <= KEPT_MS ? last : null,
          fault
        }))
      )
    )
  })
})

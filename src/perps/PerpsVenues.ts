import { Clock, Context, Effect, Layer, Result } from "effect"
import type { PerpsVenue } from "../domain/Perps.ts"
import { defaultRules, makeSharedReads, type ReadRules, type SharedReads } from "./SharedReads.ts"
import type { Fees, Venue, VenueFault, VenueMarket } from "./Venue.ts"

/** What one venue says of a market. */
export interface VenueReading {
  readonly venue: PerpsVenue
  readonly outcome: Result.Result<VenueMarket, VenueFault>
  /** The venue's fees for all markets alike, where it has such. */
  readonly fees: Fees | null
  /** Share of fresh reads in the last hour, this one included; null before the first. */
  readonly reliability: number | null
}

/** How the venues are asked, and what this service adds to their fees. */
export interface PerpsOptions extends ReadRules {
  /** In millionths of a basis point. */
  readonly ourBps: bigint
}

/** Public market data of perpetual futures exchanges. */
export class PerpsVenues extends Context.Service<
  PerpsVenues,
  {
    /** The venues that can be asked. */
    readonly venues: ReadonlyArray<PerpsVenue>
    /** What this service charges on the value of an order, in millionths of a basis point. */
    readonly ourBps: bigint
    /**
     * The market of a base symbol at each of these venues, at most a second old. All are asked at the same time and none
     * is waited for longer than the deadline; a venue that fails is a reading like any other.
     */
    read(symbol: string, venues: ReadonlyArray<PerpsVenue>): Effect.Effect<ReadonlyArray<VenueReading>>
  }
>()("fathom/perps/PerpsVenues") {
  /** Asks these venues by these rules, and charges nothing unless told to. */
  static readonly layer = (
    venues: ReadonlyArray<Venue>,
    options: Partial<PerpsOptions> = {}
  ): Layer.Layer<PerpsVenues> => Layer.effect(PerpsVenues, make(venues, { ...defaultRules, ourBps: 0n, ...options }))
}

const readingOf = Effect.fnUntraced(function* ({ read, reliability, venue }: SharedReads, symbol: string) {
  const outcome = yield* Effect.result(read(symbol))
  if (Result.isFailure(outcome) && outcome.failure._tag === "VenueUnreadable" && outcome.failure.why !== "resting") {
    const { detail, why } = outcome.failure
    yield* Effect.logDebug("A venue could not be read", { venue: venue.key, why, detail })
  }
  const nowMs = yield* Clock.currentTimeMillis
  return { venue: venue.key, outcome, fees: venue.fees, reliability: reliability.share(nowMs) }
})

const make = Effect.fnUntraced(function* (venues: ReadonlyArray<Venue>, { ourBps, ...rules }: PerpsOptions) {
  const shared = yield* Effect.forEach(venues, (venue) => makeSharedReads(venue, rules))

  const read = Effect.fn("PerpsVenues.read")((symbol: string, wanted: ReadonlyArray<PerpsVenue>) =>
    Effect.forEach(
      shared.filter(({ venue }) => wanted.includes(venue.key)),
      (reads) => readingOf(reads, symbol),
      { concurrency: "unbounded" }
    )
  )

  return PerpsVenues.of({ venues: venues.map(({ key }) => key), ourBps, read })
})

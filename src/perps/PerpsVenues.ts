import { Clock, Context, Effect, Layer, Result } from "effect"
import { watchUpstream } from "../health/SourceMonitor.ts"
import type { PerpsVenue } from "../domain/Perps.ts"
import { defaultRules, makeSharedReads, type ReadRules, type SharedReads } from "./SharedReads.ts"
import type { Fees, Venue, VenueFault, VenueMarket } from "./Venue.ts"

/** The reading of a market at one venue. */
export interface VenueReading {
  readonly venue: PerpsVenue
  readonly outcome: Result.Result<VenueMarket, VenueFault>
  /** The venue's fees where they are the same for all markets. */
  readonly fees: Fees | null
  /** Listed markets of the venue that cannot be read; null before the first listing. */
  readonly unreadable: number | null
  /** Share of fresh reads in the last hour, this one included; null before the first. */
  readonly reliability: number | null
}

/** Limits on reads of the venues, and the fee that this service adds. */
export interface PerpsOptions extends ReadRules {
  /** In millionths of a basis point. */
  readonly ourBps: bigint
}

/** Public market data of perpetual futures exchanges. */
export class PerpsVenues extends Context.Service<
  PerpsVenues,
  {
    /** The configured venues. */
    readonly venues: ReadonlyArray<PerpsVenue>
    /** The fee of this service on the value of an order, in millionths of a basis point. */
    readonly ourBps: bigint
    /**
     * The market of a base symbol at each of these venues, at most a second old. All are read concurrently, each until the
     * deadline; a venue that fails is a reading like any other.
     */
    read(symbol: string, venues: ReadonlyArray<PerpsVenue>): Effect.Effect<ReadonlyArray<VenueReading>>
  }
>()("fathom/perps/PerpsVenues") {
  /** Reads these venues by these rules. The fee of this service is zero unless given. */
  static readonly layer = (
    venues: ReadonlyArray<Venue>,
    options: Partial<PerpsOptions> = {}
  ): Layer.Layer<PerpsVenues> => Layer.effect(PerpsVenues, make(venues, { ...defaultRules, ourBps: 0n, ...options }))
}

/** True for the answer of a venue that was reached: it does not list the market, or its book is old. */
const isAnswer = (fault: VenueFault): boolean => fault._tag !== "VenueUnreadable"

/** A venue's reads, whose last outcome is reported. */
interface WatchedReads extends SharedReads {
  readonly watched: (read: ReturnType<SharedReads["read"]>) => ReturnType<SharedReads["read"]>
}

const readingOf = Effect.fnUntraced(function* ({ read, reliability, venue, watched }: WatchedReads, symbol: string) {
  const outcome = yield* Effect.result(watched(read(symbol)))
  if (Result.isFailure(outcome) && outcome.failure._tag === "VenueUnreadable" && outcome.failure.why !== "resting") {
    const { detail, why } = outcome.failure
    yield* Effect.logDebug("A venue could not be read", { venue: venue.key, why, detail })
  }
  const nowMs = yield* Clock.currentTimeMillis
  return {
    venue: venue.key,
    outcome,
    fees: venue.fees,
    unreadable: venue.unreadable(),
    reliability: reliability.share(nowMs)
  }
})

const make = Effect.fnUntraced(function* (venues: ReadonlyArray<Venue>, { ourBps, ...rules }: PerpsOptions) {
  const shared = yield* Effect.forEach(
    venues,
    Effect.fnUntraced(function* (venue) {
      const watch = yield* watchUpstream(`perps_${venue.key}`)
      return { ...(yield* makeSharedReads(venue, rules)), watched: watch(isAnswer) }
    })
  )

  const read = Effect.fn("PerpsVenues.read")((symbol: string, wanted: ReadonlyArray<PerpsVenue>) =>
    Effect.forEach(
      shared.filter(({ venue }) => wanted.includes(venue.key)),
      (reads) => readingOf(reads, symbol),
      { concurrency: "unbounded" }
    )
  )

  return PerpsVenues.of({ venues: venues.map(({ key }) => key), ourBps, read })
})

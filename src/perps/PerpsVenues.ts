import { Clock, Context, Duration, Effect, Layer, Option, Result } from "effect"
import { watchUpstream } from "../operations/SourceMonitor.ts"
import type { PerpsVenue } from "../api/schemas/Perps.ts"
import { depthOf, type Side } from "./bookWalk.ts"
import { type FundingPage, type FundingRequest, makeFundingReads } from "./FundingReads.ts"
import { defaultRules, makeSharedReads, type ReadRules, type SharedReads } from "./SharedReads.ts"
import { makeMarketReads, type MarketsReading } from "./MarketReads.ts"
import { mayList } from "./symbols.ts"
import { type Fees, NoMarket, type Venue, type VenueFault, type VenueMarket } from "./Venue.ts"

/** A market as read at one venue. */
export interface VenueReading {
  readonly venue: PerpsVenue
  readonly outcome: Result.Result<VenueMarket, VenueFault>
  /** The venue's fees, when they are the same for all its markets. */
  readonly fees: Fees | null
  /** How many listed markets of the venue cannot be read; null before the first listing. */
  readonly unreadable: number | null
  /** Share of fresh reads in the last hour, including this one; null before the first. */
  readonly reliability: number | null
}

/** The side and the size of an order, in units of 10^-30. */
export interface OrderSize {
  readonly side: Side
  readonly size: bigint
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
    /** The fee of this service on an order's value, in millionths of a basis point. */
    readonly ourBps: bigint
    /**
     * The market of a base symbol at each of these venues, at most a second old. All venues are read concurrently, each
     * until the deadline. A venue that fails is a reading like any other. A book that is smaller than the order is read
     * deeper where the venue has more, within the same deadline.
     */
    read(
      symbol: string,
      venues: ReadonlyArray<PerpsVenue>,
      order?: OrderSize
    ): Effect.Effect<ReadonlyArray<VenueReading>>
    /** The markets that each of these venues lists, at most a minute old where the venue can be read. */
    markets(venues: ReadonlyArray<PerpsVenue>): Effect.Effect<ReadonlyArray<MarketsReading>>
    /** A page of the past funding of a market at a venue, newest first; null when the venue publishes none. */
    funding(venue: PerpsVenue, request: FundingRequest): Effect.Effect<FundingPage | null, VenueFault>
  }
>()("fathom/perps/PerpsVenues") {
  /** Reads these venues. The fee of this service is zero unless the options set it. */
  static readonly layer = (
    venues: ReadonlyArray<Venue>,
    options: Partial<PerpsOptions> = {}
  ): Layer.Layer<PerpsVenues> => Layer.effect(PerpsVenues, make(venues, { ...defaultRules, ourBps: 0n, ...options }))
}

/** True when the venue was reached: it does not list the market, or its book is old. Nothing was asked while `paced`. */
const isAnswer = (fault: VenueFault): boolean => fault._tag !== "VenueUnreadable" || fault.why === "paced"

interface ReadRequest {
  readonly symbol: string
  readonly order: OrderSize | undefined
  readonly deadline: Duration.Duration
}

/** A venue's reads. The outcome of the last one is reported as the state of the source. */
interface WatchedReads extends SharedReads {
  readonly watched: (read: ReturnType<SharedReads["read"]>) => ReturnType<SharedReads["read"]>
}

const isTooSmall = ({ asks, bids }: VenueMarket, { side, size }: OrderSize): boolean =>
  depthOf(side === "buy" ? asks : bids) < size

/** The market for the order: with the deeper book when the usual one is too small and the deeper one comes in time. */
const marketFor = Effect.fnUntraced(function* (
  { read, readDeep, watched }: WatchedReads,
  { deadline, order, symbol }: ReadRequest
) {
  const beganMs = yield* Clock.currentTimeMillis
  const market = yield* watched(read(symbol))
  if (readDeep === null || order === undefined || !isTooSmall(market, order)) {
    return market
  }
  const spentMs = (yield* Clock.currentTimeMillis) - beganMs
  const leftMs = Math.max(0, Duration.toMillis(deadline) - spentMs)
  const deep = yield* Effect.option(Effect.timeoutOption(readDeep(symbol), leftMs))
  return Option.getOrElse(Option.flatten(deep), () => market)
})

const readingOf = Effect.fnUntraced(function* (reads: WatchedReads, request: ReadRequest) {
  const { reliability, venue } = reads
  const { symbol } = request
  const outcome = mayList(venue.key, symbol)
    ? yield* Effect.result(marketFor(reads, request))
    : Result.fail(new NoMarket({ symbol }))
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

  const read = Effect.fn("PerpsVenues.read")((symbol: string, wanted: ReadonlyArray<PerpsVenue>, order?: OrderSize) =>
    Effect.forEach(
      shared.filter(({ venue }) => wanted.includes(venue.key)),
      (reads) => readingOf(reads, { symbol, order, deadline: rules.deadline }),
      { concurrency: "unbounded" }
    )
  )

  const listings = yield* Effect.forEach(venues, (venue) =>
    Effect.map(makeMarketReads(venue, rules), (reading) => ({ key: venue.key, reading }))
  )

  const markets = Effect.fn("PerpsVenues.markets")((wanted: ReadonlyArray<PerpsVenue>) =>
    Effect.forEach(
      listings.filter(({ key }) => wanted.includes(key)),
      ({ reading }) => reading,
      { concurrency: "unbounded" }
    )
  )

  const pasts = new Map(
    yield* Effect.forEach(
      venues.flatMap((venue) => (venue.past === undefined ? [] : [{ venue, past: venue.past }])),
      ({ past, venue }) => Effect.map(makeFundingReads(venue, past, rules), (reads) => [venue.key, reads] as const)
    )
  )

  const funding = Effect.fn("PerpsVenues.funding")(function* (venue: PerpsVenue, request: FundingRequest) {
    if (!mayList(venue, request.symbol)) {
      return yield* new NoMarket({ symbol: request.symbol })
    }
    const reads = pasts.get(venue)
    return reads === undefined ? null : yield* reads.page(request)
  })

  return PerpsVenues.of({ venues: venues.map(({ key }) => key), ourBps, read, markets, funding })
})

/** Answers of a request at a past slot. */
import { Clock, Effect } from "effect"
import { type ErrorDetail, retryAfter } from "../../api/errors/Problem.ts"
import { Meter } from "../../api/middleware/Metering.ts"
import type { Mint } from "../../domain/Address.ts"
import { type PastMarketBusy, PastMarkets, type SlotNotRecorded } from "../../past/PastMarkets.ts"
import type { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import type { TokenReader } from "../../tokens/TokenReader.ts"
import { invalid, storeUnavailable, unavailable } from "../problems.ts"

/** Least units of an answer at a past slot, because its state is read from files. */
export const PAST_UNITS = 5

const notRecorded = (part: ErrorDetail["in"], { first, last }: SlotNotRecorded) => {
  const known =
    first === null || last === null
      ? "this service has no recording"
      : `the recording has slots from ${first} to ${last}, and this slot is not among them`
  return invalid({ in: part, field: "atSlot", issue: "out_of_range" }, `atSlot cannot be answered: ${known}.`)
}

const busy = ({ retryInMs }: PastMarketBusy) =>
  retryAfter(unavailable("Other slots are being read from the recording: try again."), retryInMs / 1000)

const unreadable = storeUnavailable("The recording cannot be read", "The recording cannot be read: try again.")

/** When a market is wanted: `slot` is undefined for now. */
export interface AtSlot {
  readonly slot: number | undefined
  /** Where the request names the slot. */
  readonly part: ErrorDetail["in"]
  /** Mints whose pools the answer needs. */
  readonly mints: ReadonlyArray<Mint>
}

/** What answers are read from. */
export interface ReadMarket {
  readonly engine: QuoteEngine["Service"]
  readonly tokens: TokenReader["Service"]
}

/** Reads from the live market, or from the market of a past slot. A past slot costs at least five units. */
export const makeAtSlot = Effect.fnUntraced(function* (live: ReadMarket) {
  const markets = yield* PastMarkets

  const inPast = Effect.fnUntraced(function* <A, E, R>(
    { mints, part }: AtSlot,
    slot: number,
    read: (market: ReadMarket) => Effect.Effect<A, E, R>
  ) {
    const meter = yield* Meter
    yield* meter.raiseTo(PAST_UNITS)
    const market = yield* markets.at(slot, mints).pipe(
      Effect.catchTags({
        SlotNotRecorded: (missing) => Effect.fail(notRecorded(part, missing)),
        PastMarketBusy: (reason) => Effect.fail(busy(reason)),
        RecordingUnreadable: (cause) => unreadable({ cause })
      })
    )
    return yield* Effect.provideService(read(market), Clock.Clock, market.clock)
  }, Effect.scoped)

  return <A, E, R>(when: AtSlot, read: (market: ReadMarket) => Effect.Effect<A, E, R>) =>
    when.slot === undefined ? read(live) : inPast(when, when.slot, read)
})

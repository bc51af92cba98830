/**
 * Velocity, the fork of Drift v2 that replaced it in July 2026. Books come from its order book server (`GET /l2`:
 * prices in 10^-6, sizes in 10^-9), markets with their fees from its data service (`GET /stats/markets`), and funding
 * too (`GET /market/{symbol}/fundingRates`). A funding record is USDT for one coin and hour; divided by the oracle's
 * average price it is a rate. Longs pay while it is positive. Open interest is stated by side in coins, shorts negative.
 * Quoted and settled in USDT.
 */
import { Cache, Clock, Effect, Exit, Option, Result, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { tenTo } from "../domain/decimal.ts"
import { SCALE } from "./exact.ts"
import { listingOf, makeListing, namesIn, readEach } from "./marketListing.ts"
import { HOUR_MS, hourlyRate, pastRatesOf } from "./pastRates.ts"
import { type FundingPast, type NoMarket, type PastRates, type Venue, VenueUnreadable } from "./Venue.ts"
import { VenueBudget, venueLimits } from "./VenueBudget.ts"
import { makeAsk, type VenueAnswer, whileGood } from "./venueHttp.ts"
import { bookOf, DecimalNumber, feeOfShare, RateText, WholeText } from "./venueSchemas.ts"

const PRICE_DIGITS = 6
const SIZE_DIGITS = 9
const SUFFIX = "-PERP"

const Levels = Schema.Array(Schema.Struct({ price: WholeText, size: WholeText }))
const L2 = Schema.Struct({ ts: Schema.Int, bids: Levels, asks: Levels })

const Stats = Schema.Struct({ markets: Schema.Array(Schema.Unknown) })
const Market = Schema.Struct({
  symbol: Schema.String,
  marketType: Schema.String,
  status: Schema.optionalKey(Schema.String),
  fees: Schema.optionalKey(Schema.Struct({ taker: DecimalNumber, maker: DecimalNumber })),
  limits: Schema.optionalKey(Schema.Struct({ amount: Schema.Struct({ min: DecimalNumber, max: DecimalNumber }) })),
  openInterest: Schema.optionalKey(Schema.Unknown)
})
const Sides = Schema.Struct({ long: RateText, short: RateText })

const FundingRecord = Schema.Struct({
  ts: Schema.Finite,
  fundingRate: RateText,
  oraclePriceTwap: RateText.check(Schema.isGreaterThanBigInt(0n))
})
const hasWholeMs = Schema.makeFilter(({ ts }: typeof FundingRecord.Type) => Number.isSafeInteger(ts * 1000))
const PastRecord = FundingRecord.check(hasWholeMs)
const FundingRates = Schema.Struct({ records: Schema.Array(FundingRecord) })
/** Records newest first, and the page after them. The venue keeps about a month. */
const FundingPages = Schema.Struct({
  records: Schema.Array(Schema.Unknown),
  meta: Schema.optionalKey(Schema.Struct({ nextPage: Schema.optionalKey(Schema.NullOr(Schema.String)) }))
})

const PAST_HOURS = 480
const MOST_PAST = 750
const MOST_PAGES = 4
/** How long each page after the first may take. */
const LATER_PAGE = "1 second"

/** Fees of the first tier by the venue's documentation of July 2026, for a market that states none. */
const usualFees = { taker: 3_500_000n, maker: -250_000n }

const levelOf = ({ price, size }: (typeof Levels.Type)[number]) => ({
  price: price * tenTo(SCALE - PRICE_DIGITS),
  size: size * tenTo(SCALE - SIZE_DIGITS)
})

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

/** Coins of the larger side: the venue's own pool holds the difference. Null in another form. */
const openInterestOf = (stated: unknown): bigint | null =>
  Option.match(Schema.decodeUnknownOption(Sides)(stated), {
    onNone: () => null,
    onSome: ({ long, short }) => (absolute(long) > absolute(short) ? absolute(long) : absolute(short))
  })

const termsOf = ({ fees, limits, marketType, openInterest, status = "active" }: typeof Market.Type) =>
  marketType !== "perp" || status !== "active"
    ? null
    : {
        fees: fees === undefined ? usualFees : { taker: feeOfShare(fees.taker), maker: feeOfShare(fees.maker) },
        lots: {
          step: tenTo(SCALE - SIZE_DIGITS),
          least: limits?.amount.min ?? null,
          most: limits?.amount.max ?? null,
          leastValue: null
        },
        openInterest: openInterestOf(openInterest)
      }

/** The last settled rate: the newest record, wherever it is in the list. */
const newestRate = ({ records: [first, ...rest] }: typeof FundingRates.Type) => {
  if (first === undefined) {
    return new VenueUnreadable({ why: "malformed", detail: "no funding record" })
  }
  const { fundingRate, oraclePriceTwap } = rest.reduce((newest, one) => (one.ts > newest.ts ? one : newest), first)
  return Effect.succeed({ numerator: fundingRate, denominator: oraclePriceTwap })
}

const inTime = Effect.timeoutOrElse({
  duration: LATER_PAGE,
  orElse: () => new VenueUnreadable({ why: "late", detail: "no page in time" })
})

/** Reads from the order book server and the data service at these addresses. */
export const velocity = Effect.fnUntraced(function* (urls: { readonly book: string; readonly data: string }) {
  const budget = new VenueBudget(venueLimits.velocity)
  const ask = yield* makeAsk(budget)

  const listing = yield* makeListing(
    ask(HttpClientRequest.get(`${urls.data}/stats/markets`), Stats, { isListing: true }).pipe(
      Effect.map(({ value }) => listingOf(readEach(value.markets, Market, "symbol", termsOf)))
    )
  )

  const rateOf = (symbol: string) =>
    ask(
      HttpClientRequest.get(`${urls.data}/market/${symbol}${SUFFIX}/fundingRates`, { urlParams: { limit: "2" } }),
      FundingRates,
      { absence: { symbol, statuses: [400, 404] } }
    ).pipe(Effect.flatMap(({ value }) => newestRate(value)))

  const bookOfSymbol = (symbol: string) =>
    ask(
      HttpClientRequest.get(`${urls.book}/l2`, {
        urlParams: { marketName: `${symbol}${SUFFIX}`, depth: "100", includeVamm: "true", includeIndicative: "true" }
      }),
      L2,
      { absence: { symbol, statuses: [400, 404] } }
    )

  // A rate changes once an hour.
  const rates = yield* Cache.makeWith(rateOf, { capacity: 256, timeToLive: whileGood("1 minute") })

  const read = Effect.fnUntraced(function* (symbol: string) {
    const terms = yield* listing.of(`${symbol}${SUFFIX}`)
    const [{ value: book }, rate] = yield* Effect.all([bookOfSymbol(symbol), Cache.get(rates, symbol)], {
      concurrency: 2
    })
    return {
      ...(yield* bookOf(book.bids, book.asks, levelOf)),
      ...terms,
      asOfMs: book.ts,
      funding: { rate, rateHours: 1, intervalHours: 1 }
    }
  })

  /** Everything that the venue keeps of a market. It has no reads of a span. */
  const kept = Effect.fnUntraced(function* (symbol: string) {
    const readAtMs = yield* Clock.currentTimeMillis
    const records: Array<unknown> = []
    let page: string | null = null
    let fault: NoMarket | VenueUnreadable | null = null
    let isCut = false
    for (let count = 0; count < MOST_PAGES; count++) {
      const request: HttpClientRequest.HttpClientRequest = HttpClientRequest.get(
        `${urls.data}/market/${symbol}${SUFFIX}/fundingRates`,
        { urlParams: { limit: String(MOST_PAST), ...(page !== null && { page }) } }
      )
      const asked = ask(request, FundingPages, { isPast: true })
      const answer: Result.Result<
        VenueAnswer<typeof FundingPages.Type>,
        NoMarket | VenueUnreadable
      > = yield* Effect.result(count === 0 ? asked : inTime(asked))
      if (Result.isFailure(answer)) {
        fault = answer.failure
        break
      }
      const { meta, records: some } = answer.success.value
      records.push(...some.slice(0, MOST_PAST))
      isCut ||= some.length > MOST_PAST
      page = some.length === 0 ? null : (meta?.nextPage ?? null)
      if (page === null) {
        break
      }
    }
    const past = pastRatesOf(records, PastRecord, ({ fundingRate, oraclePriceTwap, ts }) =>
      hourlyRate(ts * 1000, fundingRate, oraclePriceTwap)
    )
    if (fault !== null && past.rates.length === 0) {
      return yield* fault
    }
    const oldestMs = Math.min(...past.rates.map(({ atMs }) => atMs))
    const rates: PastRates = {
      rates: past.rates,
      readAtMs,
      isWhole: past.isWhole && !isCut && (fault !== null || page === null),
      ...(fault === null ? { keptFromMs: oldestMs } : { unread: { beforeMs: oldestMs, fault } })
    }
    return rates
  })
  const keptRates = yield* Cache.makeWith(kept, {
    capacity: 16,
    timeToLive: (exit) => (Exit.isFailure(exit) ? 0 : exit.value.unread === undefined ? "1 minute" : "5 seconds")
  })

  const markets = Effect.map(listing.all, (all) => namesIn(all, SUFFIX))

  const past: FundingPast = {
    kind: "settlement",
    spanMs: PAST_HOURS * HOUR_MS,
    read: Effect.fnUntraced(function* (symbol) {
      yield* listing.of(`${symbol}${SUFFIX}`)
      return yield* Cache.get(keptRates, symbol)
    })
  }

  // The server does not update the time of an unchanged book.
  const venue: Venue = {
    key: "velocity",
    fees: null,
    maxAgeMs: 30_000,
    budget,
    unreadable: listing.unreadable,
    read,
    markets,
    past
  }
  return venue
})

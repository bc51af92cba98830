/**
 * dYdX v4: the indexer. Funding is quoted for one hour and paid every hour; longs pay while it is positive. Fees of the
 * first tier, as of November 2026: 5 and 1 basis points. Books have no time, so they count as old as the newest block
 * that the indexer knows.
 */
import { Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { ONE } from "./exact.ts"
import { fundingOf } from "./fundingRates.ts"
import { listingOf, makeListing, namesIn, readEach } from "./marketListing.ts"
import { amountOf } from "./margin.ts"
import { HOUR_MS, hourlyRate, pastRatesOf } from "./pastRates.ts"
import type { FundingPast, Venue } from "./Venue.ts"
import { VenueBudget, venueLimits } from "./VenueBudget.ts"
import { makeAsk } from "./venueHttp.ts"
import { bookOf, DecimalText, PositiveText, RateText } from "./venueSchemas.ts"

const Markets = Schema.Struct({ markets: Schema.Record(Schema.String, Schema.Unknown) })
const Market = Schema.Struct({
  ticker: Schema.String,
  status: Schema.String,
  nextFundingRate: RateText,
  stepSize: PositiveText,
  openInterest: Schema.optionalKey(Schema.Unknown),
  initialMarginFraction: Schema.optionalKey(Schema.Unknown),
  maintenanceMarginFraction: Schema.optionalKey(Schema.Unknown)
})

const Levels = Schema.Array(Schema.Struct({ price: DecimalText, size: DecimalText }))
const Orderbook = Schema.Struct({ bids: Levels, asks: Levels })

const isTime = Schema.makeFilter((text: string) => !Number.isNaN(Date.parse(text)))
const Height = Schema.Struct({ height: Schema.String, time: Schema.String.check(isTime) })

const HistoricalFunding = Schema.Struct({ historicalFunding: Schema.Array(Schema.Unknown) })
const FundingRecord = Schema.Struct({ rate: RateText, effectiveAt: Schema.String.check(isTime) })

/** A read of past funding returns at most so many rates. Some indexers allow more. */
const MOST_PAST = 100
const PAST_HOURS = 96

/** What follows the base in the name of a market. */
const SUFFIX = "-USD"

const fees = { taker: 5_000_000n, maker: 1_000_000n }

/** One tier: the venue's fractions are for positions of any value. The initial one rises with the open interest. */
const marginOf = ({ initialMarginFraction, maintenanceMarginFraction }: typeof Market.Type) => {
  const [initial, maintenance] = [amountOf(initialMarginFraction), amountOf(maintenanceMarginFraction)]
  return initial === null || maintenance === null || initial === 0n || initial > ONE || maintenance > initial
    ? null
    : [{ from: 0n, initial, maintenance }]
}

const termsOf = (market: typeof Market.Type) => {
  const { nextFundingRate, openInterest, status, stepSize } = market
  return status === "ACTIVE"
    ? { nextFundingRate, stepSize, openInterest: amountOf(openInterest), margin: marginOf(market) }
    : null
}

/** Reads from the indexer at this address. */
export const dydx = Effect.fnUntraced(function* (baseUrl: string) {
  const budget = new VenueBudget(venueLimits.dydx)
  const ask = yield* makeAsk(budget)

  const listing = yield* makeListing(
    ask(HttpClientRequest.get(`${baseUrl}/v4/perpetualMarkets`), Markets, { isListing: true }).pipe(
      Effect.map(({ value }) => listingOf(readEach(Object.values(value.markets), Market, "ticker", termsOf)))
    )
  )

  const bookAndBlock = (symbol: string, ticker: string) =>
    Effect.all(
      [
        ask(HttpClientRequest.get(`${baseUrl}/v4/orderbooks/perpetualMarket/${ticker}`), Orderbook, {
          absence: { symbol, statuses: [404] }
        }),
        ask(HttpClientRequest.get(`${baseUrl}/v4/height`), Height)
      ],
      { concurrency: 2 }
    )

  const read = Effect.fnUntraced(function* (symbol: string) {
    const ticker = `${symbol}${SUFFIX}`
    const market = yield* listing.of(ticker)
    const [{ value: book }, { value: block }] = yield* bookAndBlock(symbol, ticker)
    return {
      ...(yield* bookOf(book.bids, book.asks, (level) => level)),
      asOfMs: Date.parse(block.time),
      lots: { step: market.stepSize, least: null, most: null, leastValue: null },
      funding: fundingOf(market.nextFundingRate, 1),
      openInterest: market.openInterest,
      margin: market.margin,
      fees
    }
  })

  const markets = Effect.map(listing.all, (all) => namesIn(all, SUFFIX))

  const past: FundingPast = {
    kind: "settlement",
    spanMs: PAST_HOURS * HOUR_MS,
    read: Effect.fnUntraced(function* (symbol, _fromMs, toMs) {
      const ticker = `${symbol}${SUFFIX}`
      yield* listing.of(ticker)
      const request = HttpClientRequest.get(`${baseUrl}/v4/historicalFunding/${ticker}`, {
        urlParams: { limit: String(MOST_PAST), effectiveBeforeOrAt: new Date(toMs - 1).toISOString() }
      })
      const { value } = yield* ask(request, HistoricalFunding, { isPast: true })
      return pastRatesOf(value.historicalFunding, FundingRecord, ({ effectiveAt, rate }) =>
        hourlyRate(Date.parse(effectiveAt), rate)
      )
    })
  }

  const venue: Venue = {
    key: "dydx",
    fees,
    maxAgeMs: 30_000,
    budget,
    unreadable: listing.unreadable,
    read,
    markets,
    past
  }
  return venue
})

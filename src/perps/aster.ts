/**
 * Aster: the futures API in the form of Binance's (github.com/asterdex/api-docs, 30 June 2026): `GET
 * /fapi/v1/exchangeInfo`, `/fundingInfo`, `/premiumIndex` and `/depth`. Funding is quoted for the market's own
 * interval, eight hours unless stated; longs pay while it is positive. Only accounts are told a market's fees, so these
 * are the fees of the first tier: 0.04 % and 0.005 % by docs.asterdex.com, read in November 2026. Quoted in USDT.
 */
import { Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { fundingOf } from "./fundingRates.ts"
import { listingOf, makeListing, readEach, unreadableMarket } from "./marketListing.ts"
import { HOUR_MS, hourlyRate, pastRatesOf } from "./pastRates.ts"
import type { FundingPast, PastRate, Venue } from "./Venue.ts"
import { VenueBudget, venueLimits } from "./VenueBudget.ts"
import { cacheListing, makeAsk } from "./venueHttp.ts"
import { bookOf, DecimalText, levelOfPair, LevelPairs, PositiveText, RateText } from "./venueSchemas.ts"

const QUOTE = "USDT"
const USUAL_INTERVAL_HOURS = 8

const fees = { taker: 4_000_000n, maker: 500_000n }

const Filter = Schema.Union([
  Schema.Struct({
    filterType: Schema.Literals(["LOT_SIZE", "MARKET_LOT_SIZE"]),
    minQty: DecimalText,
    maxQty: DecimalText,
    stepSize: PositiveText
  }),
  Schema.Struct({ filterType: Schema.Literal("MIN_NOTIONAL"), notional: DecimalText }),
  Schema.Struct({ filterType: Schema.String })
])

type AsterFilter = typeof Filter.Type

/** The sizes of a market order; null when no filter states them. */
const lotsOf = (filters: ReadonlyArray<AsterFilter>) => {
  const sizes = filters.flatMap((filter) => ("stepSize" in filter ? [filter] : []))
  const lot = sizes.find(({ filterType }) => filterType === "MARKET_LOT_SIZE") ?? sizes[0]
  const [leastValue = null] = filters.flatMap((filter) => ("notional" in filter ? [filter.notional] : []))
  return lot === undefined ? null : { step: lot.stepSize, least: lot.minQty, most: lot.maxQty, leastValue }
}

const Market = Schema.Struct({
  symbol: Schema.String,
  contractType: Schema.String,
  status: Schema.String,
  filters: Schema.Array(Filter).check(Schema.makeFilter((filters) => lotsOf(filters) !== null))
})
const Items = Schema.Array(Schema.Unknown)
const ExchangeInfo = Schema.Struct({ symbols: Schema.Array(Schema.Unknown) })

const Interval = Schema.Struct({
  symbol: Schema.String,
  fundingIntervalHours: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 24 }))
})

const Premium = Schema.Struct({ symbol: Schema.String, lastFundingRate: RateText })

const FundingRecord = Schema.Struct({ fundingTime: Schema.Int, fundingRate: RateText })

const PAST_HOURS = 480
/** A read of past funding returns at most so many rates. */
const MOST_PAST = 1000

const Depth = Schema.Struct({ E: Schema.Int, bids: LevelPairs, asks: LevelPairs })

/** The readable items of a list by their symbol. */
const bySymbol = <Item extends { readonly symbol: string }>(
  items: ReadonlyArray<unknown>,
  schema: Schema.ConstraintCodec<Item, unknown>
) => listingOf(readEach(items, schema, "symbol", (item) => item)).markets

const termsOf = ({ contractType, filters, status }: typeof Market.Type) => {
  const lots = lotsOf(filters)
  return contractType === "PERPETUAL" && status === "TRADING" && lots !== null ? { lots } : null
}

/** The longest interval between two settlements, and a minute more. */
const LONGEST_MS = 8 * HOUR_MS + 60_000

/** Adds the hours since the rate before. The venue states the interval of the present alone. */
const sinceTheLast = (rates: ReadonlyArray<PastRate>): ReadonlyArray<PastRate> => {
  const inOrder = rates.toSorted((a, b) => a.atMs - b.atMs)
  return inOrder.map((rate, place) => {
    const passedMs = rate.atMs - (inOrder[place - 1]?.atMs ?? Number.NEGATIVE_INFINITY)
    return { ...rate, rateHours: passedMs <= LONGEST_MS ? Math.round(passedMs / HOUR_MS) || null : null }
  })
}

/** What a read of 100 levels costs. */
const DEPTH_UNITS = 5
const listed = { isListing: true } as const

/** Reads from the API at this address. */
export const aster = Effect.fnUntraced(function* (baseUrl: string) {
  const budget = new VenueBudget(venueLimits.aster)
  const ask = yield* makeAsk(budget)
  const get = (path: string) => HttpClientRequest.get(`${baseUrl}/fapi/v1/${path}`)

  const listing = yield* makeListing(
    ask(get("exchangeInfo"), ExchangeInfo, listed).pipe(
      Effect.map(({ value }) => listingOf(readEach(value.symbols, Market, "symbol", termsOf)))
    )
  )
  const rates = yield* cacheListing(
    Effect.all([ask(get("premiumIndex"), Items, listed), ask(get("fundingInfo"), Items, listed)], {
      concurrency: 2
    }).pipe(
      Effect.map(([premiums, intervals]) => ({
        premiums: bySymbol(premiums.value, Premium),
        intervals: bySymbol(intervals.value, Interval)
      }))
    )
  )

  const fundingIn = Effect.fnUntraced(function* (name: string) {
    const { intervals, premiums } = yield* rates
    const premium = premiums.get(name)
    const hours = intervals.get(name)?.fundingIntervalHours ?? USUAL_INTERVAL_HOURS
    return premium === undefined ? yield* unreadableMarket(name) : fundingOf(premium.lastFundingRate, hours)
  })

  const read = Effect.fnUntraced(function* (symbol: string) {
    const name = `${symbol}${QUOTE}`
    const { lots } = yield* listing.of(name)
    const [funding, { value: book }] = yield* Effect.all(
      [fundingIn(name), ask(get(`depth?symbol=${name}&limit=100`), Depth, { units: DEPTH_UNITS })],
      { concurrency: 2 }
    )
    return { ...(yield* bookOf(book.bids, book.asks, levelOfPair)), asOfMs: book.E, lots, funding, fees }
  })

  const past: FundingPast = {
    kind: "settlement",
    spanMs: PAST_HOURS * HOUR_MS,
    read: Effect.fnUntraced(function* (symbol, fromMs, toMs) {
      const name = `${symbol}${QUOTE}`
      yield* listing.of(name)
      const span = `startTime=${fromMs - LONGEST_MS}&endTime=${toMs - 1}`
      const { value } = yield* ask(get(`fundingRate?symbol=${name}&${span}&limit=${MOST_PAST}`), Items, {
        isPast: true
      })
      const { isWhole, rates } = pastRatesOf(value, FundingRecord, ({ fundingRate, fundingTime }) => ({
        ...hourlyRate(fundingTime, fundingRate),
        rateHours: null
      }))
      return { rates: sinceTheLast(rates), isWhole }
    })
  }

  const venue: Venue = { key: "aster", fees, maxAgeMs: 10_000, budget, unreadable: listing.unreadable, read, past }
  return venue
})

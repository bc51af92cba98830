/**
 * Aster: the futures API in the form of Binance's (github.com/asterdex/api-docs, 30 June 2026): `GET
 * /fapi/v1/exchangeInfo`, `/fundingInfo`, `/premiumIndex` and `/depth`. Funding is quoted for the market's own
 * interval, eight hours unless stated; longs pay while it is positive. Only accounts are told a market's fees, so these
 * are the fees of the first tier: 0.04 % and 0.005 % by docs.asterdex.com, read in November 2026. Quoted in USDT.
 */
import { Clock, Effect, Option, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { fundingOf } from "./fundingRates.ts"
import { listingOf, makeListing, namesIn, readEach, unreadableMarket } from "./marketListing.ts"
import { HOUR_MS, hourlyRate, listedFrom, pastRatesOf } from "./pastRates.ts"
import type { FundingPast, Venue } from "./Venue.ts"
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
  onboardDate: Schema.optionalKey(Schema.Unknown),
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
/** The time of a record whose rate may be in an unknown form. */
const timeOf = Schema.decodeUnknownOption(Schema.Struct({ fundingTime: Schema.Int }))

const PAST_HOURS = 480
/** A read of past funding returns at most so many rates. */
const MOST_PAST = 1000

const Depth = Schema.Struct({ E: Schema.Int, bids: LevelPairs, asks: LevelPairs })

/** The readable items of a list by their symbol. */
const bySymbol = <Item extends { readonly symbol: string }>(
  items: ReadonlyArray<unknown>,
  schema: Schema.ConstraintCodec<Item, unknown>
) => listingOf(readEach(items, schema, "symbol", (item) => item))

const termsOf = ({ contractType, filters, onboardDate, status }: typeof Market.Type) => {
  const lots = lotsOf(filters)
  return contractType === "PERPETUAL" && status === "TRADING" && lots !== null ? { lots, onboardDate } : null
}

/** The longest interval between two settlements. */
const LONGEST_HOURS = 24
const LONGEST_MS = LONGEST_HOURS * HOUR_MS
/** How far from its time a settlement may be. */
const NEAR_MS = 60_000

/** The whole hours between two settlements, where a day has a whole number of such intervals; null for any others. */
const intervalOf = (passedMs: number): number | null => {
  const hours = Math.round(passedMs / HOUR_MS)
  return LONGEST_HOURS % hours === 0 && Math.abs(passedMs - hours * HOUR_MS) <= NEAR_MS ? hours : null
}

/**
 * The hours that each settlement covers, by its time. The venue states the interval of the present alone. The time since
 * the settlement before may have a missing one in it, so it counts where the distance before or after is the same. The
 * stated interval confirms the newest settlement.
 *
 *     00:00   08:00   16:00           08:00   16:00   00:00
 *               8       8       16      8       8       8     the 16 is confirmed by no neighbour
 */
const hoursOf = (timesMs: ReadonlyArray<number>, stated: number | null): ReadonlyMap<number, number> => {
  const inOrder = [...new Set(timesMs)].toSorted((a, b) => a - b)
  const passed = inOrder.map((atMs, place) => intervalOf(atMs - (inOrder[place - 1] ?? Number.NaN)))
  return new Map(
    inOrder.flatMap((atMs, place) => {
      const hours = passed[place] ?? null
      const isStated = place === inOrder.length - 1 && (place === 0 || hours === stated)
      const isConfirmed = hours !== null && (hours === passed[place - 1] || hours === passed[place + 1])
      const known = isConfirmed ? hours : isStated ? stated : null
      return known === null ? [] : [[atMs, known] as const]
    })
  )
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
  const premiums = yield* cacheListing(
    Effect.map(ask(get("premiumIndex"), Items, listed), ({ value }) => bySymbol(value, Premium))
  )
  const intervals = yield* cacheListing(
    Effect.map(ask(get("fundingInfo"), Items, listed), ({ value }) => bySymbol(value, Interval))
  )

  /** The present interval of a market. Fails when it is stated in an unknown form. */
  const intervalIn = Effect.fnUntraced(function* (name: string) {
    const { markets, unreadable } = yield* intervals
    return unreadable.has(name)
      ? yield* unreadableMarket(name)
      : (markets.get(name)?.fundingIntervalHours ?? USUAL_INTERVAL_HOURS)
  })

  const fundingIn = Effect.fnUntraced(function* (name: string) {
    const [{ markets }, hours] = yield* Effect.all([premiums, intervalIn(name)], { concurrency: 2 })
    const premium = markets.get(name)
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

  const markets = Effect.map(listing.all, (all) => namesIn(all, QUOTE))

  const past: FundingPast = {
    kind: "settlement",
    spanMs: PAST_HOURS * HOUR_MS,
    read: Effect.fnUntraced(function* (symbol, fromMs, toMs) {
      const name = `${symbol}${QUOTE}`
      const { onboardDate } = yield* listing.of(name)
      // The two intervals before the span and the one after it confirm the distances within.
      const [firstMs, endMs] = [fromMs - 2 * LONGEST_MS, toMs + LONGEST_MS]
      const span = `startTime=${firstMs}&endTime=${endMs - 1}`
      const { value } = yield* ask(get(`fundingRate?symbol=${name}&${span}&limit=${MOST_PAST}`), Items, {
        isPast: true
      })
      const { isWhole, rates } = pastRatesOf(value, FundingRecord, ({ fundingRate, fundingTime }) => ({
        ...hourlyRate(fundingTime, fundingRate),
        rateHours: null
      }))
      const hasNewest = endMs > (yield* Clock.currentTimeMillis)
      const stated = hasNewest ? yield* Effect.option(intervalIn(name)) : Option.none()
      const timesMs = value.flatMap((record) => Option.toArray(timeOf(record)).map(({ fundingTime }) => fundingTime))
      // A record without a time may be between any two.
      const hours = hoursOf(timesMs.length === value.length ? timesMs : [], Option.getOrNull(stated))
      return {
        rates: rates.map((rate) => ({ ...rate, rateHours: hours.get(rate.atMs) ?? null })),
        isWhole,
        ...listedFrom(onboardDate)
      }
    })
  }

  const venue: Venue = {
    key: "aster",
    fees,
    maxAgeMs: 10_000,
    budget,
    unreadable: listing.unreadable,
    read,
    markets,
    past
  }
  return venue
})

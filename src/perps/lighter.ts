/**
 * Lighter: `GET /orderBookDetails`, `/funding-rates` and `/orderBookOrders`. Rates are quoted for eight hours, and an
 * eighth is paid every hour; longs pay while they are positive. Fees come with the market, in percent. Books have no
 * time, so they count as old as the answer, by its `Date`. Past rates (`GET /fundings`) are percent of one hour.
 */
import { Clock, Effect, Option, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { tenTo } from "../domain/decimal.ts"
import { ONE, SCALE } from "./exact.ts"
import { fundingOf } from "./fundingRates.ts"
import { listingOf, makeListing, namesIn, readEach } from "./marketListing.ts"
import { amountOf } from "./margin.ts"
import { HOUR_MS, hourlyRate, MARGIN_MS, pastRatesOf } from "./pastRates.ts"
import { type FundingPast, NoMarket, type Venue } from "./Venue.ts"
import { VenueBudget, venueLimits } from "./VenueBudget.ts"
import { cacheListing, makeAsk } from "./venueHttp.ts"
import { bookOf, DecimalNumber, DecimalText, feeOfShare } from "./venueSchemas.ts"

const Details = Schema.Struct({ order_book_details: Schema.Array(Schema.Unknown) })
const Market = Schema.Struct({
  symbol: Schema.String,
  market_id: Schema.Int,
  market_type: Schema.optionalKey(Schema.String),
  status: Schema.String,
  taker_fee: DecimalText,
  maker_fee: DecimalText,
  min_base_amount: DecimalText,
  min_quote_amount: DecimalText,
  supported_size_decimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: SCALE })),
  open_interest: Schema.optionalKey(Schema.Unknown)
})

const FundingRates = Schema.Struct({ funding_rates: Schema.Array(Schema.Unknown) })
const Rate = Schema.Struct({ market_id: Schema.Int, exchange: Schema.String, rate: DecimalNumber })

const Orders = Schema.Array(Schema.Struct({ price: DecimalText, remaining_base_amount: DecimalText }))
const OrderBook = Schema.Struct({ bids: Orders, asks: Orders })

const Fundings = Schema.Struct({ fundings: Schema.Array(Schema.Unknown) })
/** A rate of an hour in percent without a sign, and the side that pays it. */
const FundingRecord = Schema.Struct({
  timestamp: Schema.Int,
  rate: DecimalText.check(Schema.isGreaterThanOrEqualToBigInt(0n)),
  direction: Schema.Literals(["long", "short"])
})

/** A read of past funding returns at most 500 rates. */
const PAST_HOURS = 480

const levelOf = ({ price, remaining_base_amount: size }: (typeof Orders.Type)[number]) => ({ price, size })

/** A percentage as a share of one. */
const percent = (value: bigint): bigint => value / 100n

const termsOf = ({ market_type = "perp", status, ...market }: typeof Market.Type) =>
  market_type === "perp" && status === "active" ? market : null

/** The venue's own rates by market. The list also has rates of other exchanges. */
const ratesOf = (rates: ReadonlyArray<unknown>) =>
  new Map(
    rates.flatMap((item) => {
      const rate = Schema.decodeUnknownOption(Rate)(item)
      return Option.isSome(rate) && rate.value.exchange === "lighter" ? [[rate.value.market_id, rate.value.rate]] : []
    })
  )

/** How long the markets and their rates are kept: a minute has 60 requests in all. Rates change once an hour. */
const KEPT = "1 minute"

/** Reads from the API at this address. */
export const lighter = Effect.fnUntraced(function* (baseUrl: string) {
  const budget = new VenueBudget(venueLimits.lighter)
  const ask = yield* makeAsk(budget)
  const get = (path: string) => HttpClientRequest.get(`${baseUrl}/api/v1/${path}`)

  const listing = yield* makeListing(
    ask(get("orderBookDetails"), Details, { isListing: true }).pipe(
      Effect.map(({ value }) => listingOf(readEach(value.order_book_details, Market, "symbol", termsOf)))
    ),
    KEPT
  )
  const rates = yield* ask(get("funding-rates"), FundingRates, { isListing: true }).pipe(
    Effect.map(({ value }) => ratesOf(value.funding_rates)),
    (rates) => cacheListing(rates, KEPT)
  )

  const read = Effect.fnUntraced(function* (symbol: string) {
    const market = yield* listing.of(symbol)
    const rate = (yield* rates).get(market.market_id)
    if (rate === undefined) {
      return yield* new NoMarket({ symbol })
    }
    const { sentAtMs, value } = yield* ask(get(`orderBookOrders?market_id=${market.market_id}&limit=100`), OrderBook)
    const nowMs = yield* Clock.currentTimeMillis
    return {
      ...(yield* bookOf(value.bids, value.asks, levelOf)),
      asOfMs: Math.min(nowMs, sentAtMs ?? nowMs),
      lots: {
        step: tenTo(SCALE - market.supported_size_decimals),
        least: market.min_base_amount,
        most: null,
        leastValue: market.min_quote_amount
      },
      funding: fundingOf(rate, 8, 1),
      openInterest: amountOf(market.open_interest),
      fees: { taker: feeOfShare(percent(market.taker_fee)), maker: feeOfShare(percent(market.maker_fee)) }
    }
  })

  /** A market without a rate cannot be read. */
  const markets = Effect.gen(function* () {
    const all = yield* listing.all
    const known = yield* rates
    const markets = new Map(Array.from(all.markets).filter(([, { market_id }]) => known.has(market_id)))
    return namesIn({ ...all, markets, dropped: all.dropped + all.markets.size - markets.size })
  })

  const past: FundingPast = {
    kind: "settlement",
    spanMs: PAST_HOURS * HOUR_MS,
    read: Effect.fnUntraced(function* (symbol, fromMs, toMs) {
      const { market_id } = yield* listing.of(symbol)
      const request = HttpClientRequest.get(`${baseUrl}/api/v1/fundings`, {
        urlParams: {
          market_id: String(market_id),
          resolution: "1h",
          start_timestamp: String(Math.floor((fromMs - MARGIN_MS) / 1000)),
          end_timestamp: String(Math.floor((toMs - 1) / 1000)),
          count_back: String(PAST_HOURS + MARGIN_MS / HOUR_MS)
        }
      })
      const { value } = yield* ask(request, Fundings, { isPast: true })
      return pastRatesOf(value.fundings, FundingRecord, ({ direction, rate, timestamp }) =>
        hourlyRate(timestamp * 1000, direction === "long" ? rate : -rate, 100n * ONE)
      )
    })
  }

  // The `Date` header has whole seconds.
  const venue: Venue = {
    key: "lighter",
    fees: null,
    maxAgeMs: 10_000,
    budget,
    unreadable: listing.unreadable,
    read,
    markets,
    past
  }
  return venue
})

/**
 * Lighter: `GET /orderBookDetails`, `/funding-rates` and `/orderBookOrders`. Rates are quoted for eight hours and paid by
 * the hour, an eighth each; longs pay while they are positive. A standard account pays no fees. Books carry no time, so
 * they are as old as the answer, by its `Date`.
 */
import { Clock, Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { tenTo } from "../domain/decimal.ts"
import { SCALE } from "./exact.ts"
import { fundingOf } from "./fundingRates.ts"
import { NoMarket, type Venue } from "./Venue.ts"
import { cacheListing, makeAsk } from "./venueHttp.ts"
import { bookOf, DecimalNumber, DecimalText } from "./venueSchemas.ts"

const Details = Schema.Struct({
  order_book_details: Schema.Array(
    Schema.Struct({
      symbol: Schema.String,
      market_id: Schema.Int,
      market_type: Schema.optionalKey(Schema.String),
      status: Schema.String,
      min_base_amount: DecimalText,
      min_quote_amount: DecimalText,
      supported_size_decimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: SCALE }))
    })
  )
})

const FundingRates = Schema.Struct({
  funding_rates: Schema.Array(Schema.Struct({ market_id: Schema.Int, exchange: Schema.String, rate: DecimalNumber }))
})

const Orders = Schema.Array(Schema.Struct({ price: DecimalText, remaining_base_amount: DecimalText }))
const OrderBook = Schema.Struct({ bids: Orders, asks: Orders })

const fees = { taker: 0n, maker: 0n }

const levelOf = ({ price, remaining_base_amount: size }: (typeof Orders.Type)[number]) => ({ price, size })

const listingOf = (details: typeof Details.Type, rates: typeof FundingRates.Type) => {
  const own = rates.funding_rates.filter(({ exchange }) => exchange === "lighter")
  const rateOf = new Map(own.map(({ market_id, rate }) => [market_id, rate]))
  const open = details.order_book_details.filter(
    ({ market_type = "perp", status }) => market_type === "perp" && status === "active"
  )
  return new Map(open.map((market) => [market.symbol, { market, rate: rateOf.get(market.market_id) }]))
}

/** Reads from the API under this address. */
export const lighter = Effect.fnUntraced(function* (baseUrl: string) {
  const ask = yield* makeAsk
  const get = (path: string) => HttpClientRequest.get(`${baseUrl}/api/v1/${path}`)

  const listing = yield* Effect.all([ask(get("orderBookDetails"), Details), ask(get("funding-rates"), FundingRates)], {
    concurrency: 2
  }).pipe(
    Effect.map(([details, rates]) => listingOf(details.value, rates.value)),
    cacheListing
  )

  const read = Effect.fnUntraced(function* (symbol: string) {
    const listed = (yield* listing).get(symbol)
    if (listed === undefined || listed.rate === undefined) {
      return yield* new NoMarket({ symbol })
    }
    const { market, rate } = listed
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
      fees
    }
  })

  // A date is of whole seconds.
  const venue: Venue = { key: "lighter", fees, maxAgeMs: 10_000, read }
  return venue
})

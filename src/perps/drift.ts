/**
 * Drift: books from its order book server (`GET /l2`: prices in 10^-6, sizes in 10^-9), funding from its data service
 * (`GET /fundingRates`). A funding record is dollars for a coin and an hour in 10^-9; over the oracle's average price in
 * 10^-6 it is a rate. Longs pay while it is positive. Fees of the first tier: 0.035 % and a rebate of 0.0025 %.
 */
import { Cache, Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { tenTo } from "../domain/decimal.ts"
import { SCALE } from "./exact.ts"
import { type Venue, VenueUnreadable } from "./Venue.ts"
import { makeAsk, whileGood } from "./venueHttp.ts"
import { bookOf, WholeText } from "./venueSchemas.ts"

const PRICE_DIGITS = 6
const SIZE_DIGITS = 9
const RATE_DIGITS = 9

const Levels = Schema.Array(Schema.Struct({ price: WholeText, size: WholeText }))
const L2 = Schema.Struct({ marketName: Schema.String, ts: Schema.Int, bids: Levels, asks: Levels })

const FundingRates = Schema.Struct({
  fundingRates: Schema.Array(
    Schema.Struct({
      ts: WholeText,
      fundingRate: WholeText,
      oraclePriceTwap: WholeText.check(Schema.isGreaterThanBigInt(0n))
    })
  )
})

const fees = { taker: 3_500_000n, maker: -250_000n }
const lots = { step: tenTo(SCALE - SIZE_DIGITS), least: null, most: null, leastValue: null }

const levelOf = ({ price, size }: (typeof Levels.Type)[number]) => ({
  price: price * tenTo(SCALE - PRICE_DIGITS),
  size: size * tenTo(SCALE - SIZE_DIGITS)
})

/** The last settled rate, which is the newest record wherever it stands. */
const newestRate = ({ fundingRates: [first, ...rest] }: typeof FundingRates.Type) => {
  if (first === undefined) {
    return new VenueUnreadable({ why: "malformed", detail: "no funding record" })
  }
  const { fundingRate, oraclePriceTwap } = rest.reduce((newest, one) => (one.ts > newest.ts ? one : newest), first)
  return Effect.succeed({
    numerator: fundingRate * tenTo(PRICE_DIGITS),
    denominator: oraclePriceTwap * tenTo(RATE_DIGITS)
  })
}

/** Reads from the order book server and the data service under these addresses. */
export const drift = Effect.fnUntraced(function* (urls: { readonly book: string; readonly data: string }) {
  const ask = yield* makeAsk

  const rateOf = (symbol: string) =>
    ask(
      HttpClientRequest.get(`${urls.data}/fundingRates`, { urlParams: { marketName: `${symbol}-PERP` } }),
      FundingRates,
      { symbol, statuses: [400, 404] }
    ).pipe(Effect.flatMap(({ value }) => newestRate(value)))

  const bookOfSymbol = (symbol: string) =>
    ask(
      HttpClientRequest.get(`${urls.book}/l2`, {
        urlParams: { marketName: `${symbol}-PERP`, depth: "100", includeVamm: "true", includeOracle: "true" }
      }),
      L2,
      { symbol, statuses: [400, 404] }
    )

  // A month of records for a rate that changes once an hour.
  const rates = yield* Cache.makeWith(rateOf, {
    capacity: 256,
    timeToLive: whileGood("1 minute")
  })

  const read = Effect.fnUntraced(function* (symbol: string) {
    const { value: book } = yield* bookOfSymbol(symbol)
    return {
      ...(yield* bookOf(book.bids, book.asks, levelOf)),
      asOfMs: book.ts,
      lots,
      funding: { rate: yield* Cache.get(rates, symbol), rateHours: 1, intervalHours: 1 },
      fees
    }
  })

  // The server does not update the time of an unchanged book.
  const venue: Venue = { key: "drift", fees, maxAgeMs: 30_000, read }
  return venue
})

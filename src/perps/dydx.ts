/**
 * dYdX v4: the indexer. Funding is quoted for the hour and paid every hour; longs pay while it is positive. Fees of the
 * first tier: 5 and 1 basis points. Books carry no time, so they are as old as the newest block that the indexer knows.
 */
import { Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { fundingOf } from "./fundingRates.ts"
import { NoMarket, type Venue } from "./Venue.ts"
import { cacheListing, makeAsk } from "./venueHttp.ts"
import { bookOf, DecimalText, PositiveText } from "./venueSchemas.ts"

const Markets = Schema.Struct({
  markets: Schema.Record(
    Schema.String,
    Schema.Struct({ status: Schema.String, nextFundingRate: DecimalText, stepSize: PositiveText })
  )
})

const Levels = Schema.Array(Schema.Struct({ price: DecimalText, size: DecimalText }))
const Orderbook = Schema.Struct({ bids: Levels, asks: Levels })

const isTime = Schema.makeFilter((text: string) => !Number.isNaN(Date.parse(text)))
const Height = Schema.Struct({ height: Schema.String, time: Schema.String.check(isTime) })

const fees = { taker: 5_000_000n, maker: 1_000_000n }

/** Reads from the indexer under this address. */
export const dydx = Effect.fnUntraced(function* (baseUrl: string) {
  const ask = yield* makeAsk

  const markets = yield* ask(HttpClientRequest.get(`${baseUrl}/v4/perpetualMarkets`), Markets).pipe(
    Effect.map(({ value }) => new Map(Object.entries(value.markets))),
    cacheListing
  )

  const bookAndBlock = (symbol: string, ticker: string) =>
    Effect.all(
      [
        ask(HttpClientRequest.get(`${baseUrl}/v4/orderbooks/perpetualMarket/${ticker}`), Orderbook, {
          symbol,
          statuses: [404]
        }),
        ask(HttpClientRequest.get(`${baseUrl}/v4/height`), Height)
      ],
      { concurrency: 2 }
    )

  const read = Effect.fnUntraced(function* (symbol: string) {
    const ticker = `${symbol}-USD`
    const market = (yield* markets).get(ticker)
    if (market === undefined || market.status !== "ACTIVE") {
      return yield* new NoMarket({ symbol })
    }
    const [{ value: book }, { value: block }] = yield* bookAndBlock(symbol, ticker)
    return {
      ...(yield* bookOf(book.bids, book.asks, (level) => level)),
      asOfMs: Date.parse(block.time),
      lots: { step: market.stepSize, least: null, most: null, leastValue: null },
      funding: fundingOf(market.nextFundingRate, 1),
      fees
    }
  })

  const venue: Venue = { key: "dydx", fees, maxAgeMs: 30_000, read }
  return venue
})

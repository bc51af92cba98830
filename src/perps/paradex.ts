/**
 * Paradex: `GET /markets`, `/markets/summary` and `/orderbook`. Funding accrues all the time; its rate is for the market's
 * own funding period, eight hours where it states none, and longs pay while it is positive. Fees come with the
 * market, as those of orders that are sent through the API.
 */
import { Cache, Effect, Exit, Option, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { fundingOf } from "./fundingRates.ts"
import { listingOf, readEach, unreadableMarket } from "./marketListing.ts"
import { NoMarket, type Venue, type VenueUnreadable } from "./Venue.ts"
import { makeAsk } from "./venueHttp.ts"
import { bookOf, DecimalText, feeOfShare, PositiveText, RateText } from "./venueSchemas.ts"

const USUAL_PERIOD_HOURS = 8

const Fee = Schema.Struct({ fee: DecimalText })

const Results = Schema.Struct({ results: Schema.Array(Schema.Unknown) })
const Market = Schema.Struct({
  symbol: Schema.String,
  asset_kind: Schema.String,
  order_size_increment: PositiveText,
  min_notional: Schema.optionalKey(DecimalText),
  max_order_size: Schema.optionalKey(DecimalText),
  funding_period_hours: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 24 }))),
  fee_config: Schema.Struct({ api_fee: Schema.Struct({ taker_fee: Fee, maker_fee: Fee }) })
})
const Summary = Schema.Struct({ symbol: Schema.String, funding_rate: RateText })

const Levels = Schema.Array(Schema.Tuple([DecimalText, DecimalText]))
const Orderbook = Schema.Struct({ market: Schema.String, last_updated_at: Schema.Int, bids: Levels, asks: Levels })

const levelOf = ([price, size]: (typeof Levels.Type)[number]) => ({ price, size })

const feeOf = ({ fee }: typeof Fee.Type): bigint => feeOfShare(fee)

const isAbsent = (exit: Exit.Exit<unknown, NoMarket | VenueUnreadable>): boolean =>
  Option.exists(Exit.findErrorOption(exit), ({ _tag }) => _tag === "NoMarket")

const marketOf = (symbol: string) => `${symbol}-USD-PERP`
const only = (symbol: string) => ({ urlParams: { market: marketOf(symbol) } })
const absence = (symbol: string) => ({ symbol, statuses: [400, 404] })

const perpetual = (market: typeof Market.Type) => (market.asset_kind === "PERP" ? market : null)

/** The summary of a market; fails where there is none, or it cannot be read. */
const summaryOf = (results: ReadonlyArray<unknown>, name: string) => {
  const { markets, odd } = listingOf(readEach(results, Summary, "symbol", (summary) => summary))
  const summary = markets.get(name)
  const fault = odd.has(name) ? unreadableMarket(name) : new NoMarket({ symbol: name })
  return summary === undefined ? Effect.fail(fault) : Effect.succeed(summary)
}

/** Reads from the API under this address. */
export const paradex = Effect.fnUntraced(function* (baseUrl: string) {
  const ask = yield* makeAsk
  const oddNames = new Set<string>()

  const termsOf = Effect.fnUntraced(function* (symbol: string) {
    const name = marketOf(symbol)
    const { value } = yield* ask(HttpClientRequest.get(`${baseUrl}/markets`, only(symbol)), Results, absence(symbol))
    const { markets, odd } = listingOf(readEach(value.results, Market, "symbol", perpetual))
    oddNames[odd.has(name) ? "add" : "delete"](name)
    const market = markets.get(name)
    if (market === undefined) {
      return yield* odd.has(name) ? unreadableMarket(name) : new NoMarket({ symbol })
    }
    return market
  })

  // That there is no such market is worth remembering as much as what one is like.
  const terms = yield* Cache.makeWith(termsOf, {
    capacity: 256,
    timeToLive: (exit) => (Exit.isSuccess(exit) || isAbsent(exit) ? "30 seconds" : 0)
  })

  const bookAndRate = (symbol: string) =>
    Effect.all(
      [
        ask(
          HttpClientRequest.get(`${baseUrl}/orderbook/${marketOf(symbol)}`, { urlParams: { depth: "100" } }),
          Orderbook,
          absence(symbol)
        ),
        ask(HttpClientRequest.get(`${baseUrl}/markets/summary`, only(symbol)), Results, absence(symbol))
      ],
      { concurrency: 2 }
    )

  const read = Effect.fnUntraced(function* (symbol: string) {
    const market = yield* Cache.get(terms, symbol)
    const [{ value: book }, { value: summaries }] = yield* bookAndRate(symbol)
    const summary = yield* summaryOf(summaries.results, market.symbol)
    const hours = market.funding_period_hours ?? USUAL_PERIOD_HOURS
    return {
      ...(yield* bookOf(book.bids, book.asks, levelOf)),
      asOfMs: book.last_updated_at,
      lots: {
        step: market.order_size_increment,
        least: null,
        most: market.max_order_size ?? null,
        leastValue: market.min_notional ?? null
      },
      funding: fundingOf(summary.funding_rate, hours),
      fees: { taker: feeOf(market.fee_config.api_fee.taker_fee), maker: feeOf(market.fee_config.api_fee.maker_fee) }
    }
  })

  // A quiet market's book is not updated, and is no worse for it.
  const venue: Venue = { key: "paradex", fees: null, maxAgeMs: 60_000, unreadable: () => oddNames.size, read }
  return venue
})

/**
 * Paradex: `GET /markets`, `/markets/summary` and `/orderbook`. Funding accrues all the time. Its rate is for the
 * market's own funding period, eight hours unless stated; longs pay while it is positive. Fees come with the market;
 * these are the fees of orders sent through the API. Past rates (`GET /funding/data`) are rates of each second, never
 * payments: a position pays the change of the funding index.
 */
import { Cache, Clock, Duration, Effect, Exit, Option, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { fundingOf } from "./fundingRates.ts"
import { listingOf, namesIn, readEach, termsIn, withReadTime } from "./marketListing.ts"
import { amountOf } from "./margin.ts"
import { HOUR_MS, hourlyRate, listedFrom, pastRatesOf } from "./pastRates.ts"
import {
  type FundingPast,
  isAbsent,
  type NoMarket,
  type PastRate,
  type PastRates,
  type Venue,
  VenueUnreadable
} from "./Venue.ts"
import { VenueBudget, venueLimits } from "./VenueBudget.ts"
import { makeAsk } from "./venueHttp.ts"
import { bookOf, DecimalText, feeOfShare, levelOfPair, LevelPairs, PositiveText, RateText } from "./venueSchemas.ts"

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
  open_at: Schema.optionalKey(Schema.Unknown),
  fee_config: Schema.Struct({ api_fee: Schema.Struct({ taker_fee: Fee, maker_fee: Fee }) })
})
/** A market in the list of all, which has options too. */
const Named = Schema.Struct({ symbol: Schema.String, asset_kind: Schema.String })
const Summary = Schema.Struct({
  symbol: Schema.String,
  funding_rate: RateText,
  open_interest: Schema.optionalKey(Schema.Unknown)
})

const Orderbook = Schema.Struct({
  market: Schema.String,
  last_updated_at: Schema.Int,
  bids: LevelPairs,
  asks: LevelPairs
})

const FundingRecord = Schema.Struct({
  created_at: Schema.Int,
  funding_rate: RateText,
  funding_index: Schema.optionalKey(Schema.Unknown),
  funding_period_hours: Schema.optionalKey(Schema.Unknown)
})
const Hours = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 24 }))

/** A span of past funding is read by the hour, because the venue has a rate for every second. */
const PAST_HOURS = 24
/** How long after the full hour its rate may be. */
const NEAR_MS = 10_000
const AT_ONCE = 4
/** After this many failed requests a span is not read further. */
const MOST_FAULTS = 3
const usualPatience = Duration.seconds(4)
/** A rate that is older than this is kept for days. */
const FINAL_MS = HOUR_MS
/** How many hours are kept, of all markets together: a little more than a year of one. */
const HOURS_KEPT = 10_000

/** True for a failure that may be of one hour, however often it is asked for. */
const isOfOneHour = (fault: NoMarket | VenueUnreadable | undefined): boolean =>
  fault?._tag === "VenueUnreadable" && (fault.why === "down" || fault.why === "malformed")

const signedText = Schema.decodeUnknownOption(RateText)

const pastRate = ({
  created_at: atMs,
  funding_index,
  funding_period_hours: hours,
  funding_rate
}: typeof FundingRecord.Type): PastRate => ({
  ...hourlyRate(atMs, funding_rate),
  rateHours: Schema.is(Hours)(hours) ? hours : null,
  index: Option.getOrNull(signedText(funding_index))
})

const feeOf = ({ fee }: typeof Fee.Type): bigint => feeOfShare(fee)

/** What follows the base in the name of a market. */
const SUFFIX = "-USD-PERP"

const marketOf = (symbol: string) => `${symbol}${SUFFIX}`
const only = (symbol: string) => ({ urlParams: { market: marketOf(symbol) } })
const absence = (symbol: string) => ({ absence: { symbol, statuses: [400, 404] } })

const perpetual = <M extends typeof Named.Type>(market: M) => (market.asset_kind === "PERP" ? market : null)

/** The summary of a market. Fails when there is none, or it cannot be read. */
const summaryOf = (results: ReadonlyArray<unknown>, name: string) =>
  termsIn(listingOf(readEach(results, Summary, "symbol", (summary) => summary)), name)

/** Reads from the API at this address. */
export const paradex = Effect.fnUntraced(function* (baseUrl: string) {
  const budget = new VenueBudget(venueLimits.paradex)
  const ask = yield* makeAsk(budget)
  const unreadableNames = new Set<string>()

  const termsOf = Effect.fnUntraced(function* (symbol: string) {
    const name = marketOf(symbol)
    const { value } = yield* ask(HttpClientRequest.get(`${baseUrl}/markets`, only(symbol)), Results, absence(symbol))
    const listing = listingOf(readEach(value.results, Market, "symbol", perpetual))
    unreadableNames[listing.unreadable.has(name) ? "add" : "delete"](name)
    return yield* termsIn(listing, name)
  })

  // A missing market is worth remembering as well.
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
      ...(yield* bookOf(book.bids, book.asks, levelOfPair)),
      asOfMs: book.last_updated_at,
      lots: {
        step: market.order_size_increment,
        least: null,
        most: market.max_order_size ?? null,
        leastValue: market.min_notional ?? null
      },
      funding: fundingOf(summary.funding_rate, hours),
      openInterest: amountOf(summary.open_interest),
      fees: { taker: feeOf(market.fee_config.api_fee.taker_fee), maker: feeOf(market.fee_config.api_fee.maker_fee) }
    }
  })

  /** The first rate after a full hour; none when the venue has none within seconds. */
  const rateAt = Effect.fnUntraced(function* (key: string) {
    const [hourText = "", symbol = ""] = key.split(" ")
    const hourMs = Number(hourText)
    const request = HttpClientRequest.get(`${baseUrl}/funding/data`, {
      urlParams: {
        market: marketOf(symbol),
        start_at: hourText,
        end_at: String(hourMs + NEAR_MS),
        page_size: "100"
      }
    })
    const { value } = yield* ask(request, Results, { isPast: true })
    const { isWhole, rates } = pastRatesOf(value.results, FundingRecord, pastRate)
    const [first] = rates
      .filter(({ atMs }) => atMs >= hourMs && atMs <= hourMs + NEAR_MS)
      .toSorted((a, b) => a.atMs - b.atMs)
    const isFinal = first !== undefined && isWhole && hourMs + FINAL_MS <= (yield* Clock.currentTimeMillis)
    return { rates: first === undefined ? [] : [first], isWhole, isFinal }
  })

  const hours = yield* Cache.makeWith(rateAt, {
    capacity: HOURS_KEPT,
    timeToLive: (exit) => (Exit.isFailure(exit) ? 0 : exit.value.isFinal ? "7 days" : "1 minute")
  })

  /**
   * Reads the first rates after these hours, newest first, until the time is up or several requests have failed. Each
   * hour is kept, so a later read goes on from there. An hour that the venue alone fails to send is left out.
   */
  const readHours = Effect.fnUntraced(function* (
    symbol: string,
    hoursMs: ReadonlyArray<number>,
    patience: Duration.Duration
  ) {
    const read = new Map<number, PastRates>()
    const faults = new Map<number, VenueUnreadable | NoMarket>()
    const readHour = Effect.fnUntraced(function* (hourMs: number) {
      const key = `${hourMs} ${symbol}`
      const kept = yield* Cache.getSuccess(hours, key)
      if (Option.isSome(kept)) {
        read.set(hourMs, kept.value)
      } else if (faults.size < MOST_FAULTS) {
        yield* Effect.match(Cache.get(hours, key), {
          onSuccess: (hour) => read.set(hourMs, hour),
          onFailure: (fault) => faults.set(hourMs, fault)
        })
      }
    })
    yield* Effect.forEach(hoursMs, readHour, { concurrency: AT_ONCE, discard: true }).pipe(
      Effect.timeoutOption(patience)
    )
    const isLeftOut = (hourMs: number) => faults.size < MOST_FAULTS && isOfOneHour(faults.get(hourMs))
    const end = hoursMs.findIndex((hourMs) => !read.has(hourMs) && !isLeftOut(hourMs))
    const [unreadMs] = end < 0 ? [] : hoursMs.slice(end)
    const reached = end < 0 ? hoursMs : hoursMs.slice(0, end)
    const [anyFault = new VenueUnreadable({ why: "late", detail: "no rate in time" })] = faults.values()
    if (hoursMs.length > 0 && !reached.some((hourMs) => read.has(hourMs))) {
      return yield* anyFault
    }
    const past: PastRates = {
      rates: reached.flatMap((hourMs) => read.get(hourMs)?.rates ?? []),
      isWhole: reached.every((hourMs) => read.get(hourMs)?.isWhole === true),
      ...(unreadMs !== undefined && {
        unread: { beforeMs: unreadMs + HOUR_MS, fault: faults.get(unreadMs) ?? anyFault }
      })
    }
    return past
  })

  const past: FundingPast = {
    kind: "hourly",
    spanMs: PAST_HOURS * HOUR_MS,
    read: Effect.fnUntraced(function* (symbol, fromMs, toMs, patience = usualPatience) {
      const { open_at } = yield* Cache.get(terms, symbol)
      const hoursMs = Array.from({ length: PAST_HOURS }, (_, hour) => fromMs + hour * HOUR_MS)
        .filter((hourMs) => hourMs + NEAR_MS <= toMs)
        .toReversed()
      return { ...(yield* readHours(symbol, hoursMs, patience)), ...listedFrom(open_at) }
    })
  }

  // Books are read market by market: this list is for those who ask for it.
  const markets = ask(HttpClientRequest.get(`${baseUrl}/markets`), Results).pipe(
    Effect.map(({ value }) => listingOf(readEach(value.results, Named, "symbol", perpetual))),
    withReadTime,
    Effect.map((listed) => namesIn(listed, SUFFIX))
  )

  // The book of a quiet market is not updated, and is still good.
  const venue: Venue = {
    key: "paradex",
    fees: null,
    maxAgeMs: 60_000,
    budget,
    unreadable: () => unreadableNames.size,
    read,
    markets,
    past
  }
  return venue
})

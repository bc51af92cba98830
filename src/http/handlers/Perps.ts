import { Clock, Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import {
  PerpsUnavailable,
  UpstreamInvalid,
  UpstreamRateLimited,
  UpstreamTimeout,
  UpstreamUnavailable
} from "../../api/errors/problems.ts"
import {
  defaults,
  FORMER_KEYS,
  MOST_FUNDING_DAYS,
  type PerpsFundingQuery,
  type PerpsMarketsQuery,
  type PerpsQuery
} from "../../api/Perps.ts"
import { PerpsVenue } from "../../api/schemas/Perps.ts"
import { COMPLETE, incomplete } from "../../domain/Scalar.ts"
import { compare, hasAnswer } from "../../perps/compare.ts"
import { fixedNumber, fixedText, parseFixed } from "../../perps/exact.ts"
import { shownRate } from "../../perps/fundingPage.ts"
import type { FundingPage } from "../../perps/FundingReads.ts"
import type { MarketsReading } from "../../perps/MarketReads.ts"
import { marketRows, namelessOf } from "../../perps/marketRows.ts"
import { PerpsVenues } from "../../perps/PerpsVenues.ts"
import { venueName } from "../../perps/symbols.ts"
import type { VenueFault, VenueUnreadable } from "../../perps/Venue.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { invalid } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, sealedBy, startOf } from "./paging.ts"

/** The fraction of decimal text that the contract has validated. */
const exact = (text: string) => {
  const value = parseFixed(text)
  return value === null ? Effect.die("decimal text passed the contract and cannot be parsed") : Effect.succeed(value)
}

/** The present key of a venue. */
const presentKey = (venue: string): PerpsVenue | null =>
  FORMER_KEYS[venue] ?? PerpsVenue.literals.find((key) => key === venue) ?? null

const problemOf = (why: VenueUnreadable["why"]) => {
  switch (why) {
    case "late":
      return new UpstreamTimeout()
    case "limited":
    case "paced":
      return new UpstreamRateLimited()
    case "malformed":
      return new UpstreamInvalid()
    case "down":
    case "resting":
      return new UpstreamUnavailable()
  }
}

const DAY_SECONDS = 86_400
const DIGITS = /^[0-9]{1,15}$/u

/** The span of a page from its cursor: rates from the first time until before the second, in milliseconds. */
const spanOf = ([before = "", from = ""]: ReadonlyArray<string>) =>
  DIGITS.test(before) && DIGITS.test(from) ? { beforeMs: Number(before), fromMs: Number(from) } : null

/** The requested span without a cursor, up to now. */
const requestedSpan = Effect.fnUntraced(function* ({ from, to }: typeof PerpsFundingQuery.Type) {
  const nowMs = yield* Clock.currentTimeMillis
  const beforeMs = to === undefined ? nowMs : Math.min(to * 1000, nowMs)
  const fromMs = from === undefined ? Math.max(0, beforeMs - defaults.fundingDays * DAY_SECONDS * 1000) : from * 1000
  return fromMs > beforeMs || beforeMs - fromMs > MOST_FUNDING_DAYS * DAY_SECONDS * 1000
    ? yield* invalid(
        { in: "query", field: "from", issue: "out_of_range" },
        `from must not be in the future, and at most ${MOST_FUNDING_DAYS} days before to.`
      )
    : { fromMs, beforeMs }
})

const NOTHING = { kind: null, rates: [], nextBeforeMs: null, readAtMs: null, toMs: null } as const

/** A page, or why there is none: the market does not exist, or the venue publishes no past funding. */
const pageOf = (read: Result.Result<FundingPage | null, VenueFault>) => {
  if (Result.isFailure(read)) {
    const { failure } = read
    return failure._tag === "NoMarket"
      ? Effect.succeed({ ...NOTHING, reason: "no_market" as const, coverage: incomplete("not_captured") })
      : Effect.fail(failure._tag === "VenueUnreadable" ? problemOf(failure.why) : new UpstreamInvalid())
  }
  return Effect.succeed(
    read.success === null
      ? { ...NOTHING, reason: "not_published" as const, coverage: incomplete("not_captured") }
      : {
          ...read.success,
          reason: null,
          coverage: read.success.missing === null ? COMPLETE : incomplete(read.success.missing)
        }
  )
}

const listReason = {
  late: "timeout",
  down: "unavailable",
  limited: "unavailable",
  paced: "unavailable",
  resting: "unavailable",
  malformed: "unreadable"
} as const satisfies Readonly<Record<VenueUnreadable["why"], string>>

/** How well the list of a venue is known. */
const listKnowledge = (reading: MarketsReading) => {
  const { fault, listed, venue } = reading
  const nameless = namelessOf(reading)
  const isPartial = listed !== null && listed.unreadable > 0
  return {
    venue,
    status: listed === null ? "unavailable" : fault !== null ? "stale" : isPartial ? "partial" : "known",
    reason: fault === null ? null : fault._tag === "VenueUnreadable" ? listReason[fault.why] : "unreadable",
    markets: listed && listed.names.length - (nameless ?? 0),
    unreadableMarkets: listed && listed.unreadable,
    namelessMarkets: nameless,
    observedAtMs: listed && listed.readAtMs
  } as const
}

/** How well the lists are known together. */
const knowledgeOf = (readings: ReadonlyArray<MarketsReading>) => {
  const venues = readings.map(listKnowledge)
  const missing = venues.some(({ status }) => status === "unavailable" || status === "partial")
  const isStale = venues.some(({ status }) => status === "stale")
  const coverage = missing ? incomplete("not_captured") : isStale ? incomplete("source_stale") : COMPLETE
  return {
    venues,
    observedAtMs: Math.min(...venues.flatMap(({ observedAtMs }) => observedAtMs ?? [])),
    status: missing ? "partial" : isStale ? "stale" : "known",
    coverage
  } as const
}

export const layer = HttpApiBuilder.group(
  Api,
  "perps",
  Effect.fnUntraced(function* (handlers) {
    const perps = yield* PerpsVenues
    const { ourBps, read, venues: known } = perps

    /** The configured venues among those that were named; all of them without names. */
    const wantedOf = (named: ReadonlyArray<string> | undefined) => {
      const wanted = named?.map((venue) => FORMER_KEYS[venue] ?? venue)
      return known.filter((venue) => wanted === undefined || wanted.includes(venue))
    }

    const quote = Effect.fnUntraced(function* ({ query }: { readonly query: typeof PerpsQuery.Type }) {
      const { side, symbol, venues: named } = query
      const size = yield* exact(query.size)
      const holdHours = yield* exact(query.holdHours ?? defaults.holdHours)
      const leverage = query.leverage === undefined ? null : yield* exact(query.leverage)
      const venues = wantedOf(named)
      const readings = yield* read(symbol, venues, { side, size })
      if (!hasAnswer(readings)) {
        return yield* new PerpsUnavailable()
      }
      const { id: requestId } = yield* RequestContext
      return {
        query: {
          symbol,
          side,
          size: fixedText(size),
          holdHours: fixedNumber(holdHours),
          leverage: leverage === null ? null : fixedNumber(leverage),
          venues: named === undefined ? null : venues
        },
        ...compare({ symbol, side, size, holdHours, leverage }, readings, ourBps),
        requestId
      }
    })

    const funding = Effect.fnUntraced(function* ({ query }: { readonly query: typeof PerpsFundingQuery.Type }) {
      const { cursor, limit = defaults.fundingLimit, symbol } = query
      const venue = presentKey(query.venue)
      const sealed = sealedBy("perps.funding", { venue, symbol, from: query.from, to: query.to }, limit)
      const { beforeMs, fromMs } = (yield* startOf(cursor, sealed, spanOf)) ?? (yield* requestedSpan(query))
      if (venue === null || !known.includes(venue)) {
        return yield* new PerpsUnavailable()
      }
      const page = yield* pageOf(yield* Effect.result(perps.funding(venue, { symbol, fromMs, beforeMs, limit })))
      const { coverage, kind, nextBeforeMs, rates, readAtMs, reason, toMs } = page
      const next = nextBeforeMs === null ? null : [String(nextBeforeMs), String(fromMs)]
      return {
        data: rates.map(shownRate),
        nextCursor: yield* nextOf(next, sealed),
        meta: yield* metaWith({
          methodVersion: "public-perps-funding-v1",
          venue,
          symbol,
          venueSymbol: venueName(venue, symbol).name,
          from: Math.floor(fromMs / 1000),
          to: Math.floor((toMs ?? beforeMs) / 1000),
          kind,
          reason,
          observedAtMs: readAtMs,
          status: coverage.complete ? "known" : reason === null ? "partial" : "unavailable",
          coverage
        } as const)
      }
    })

    const markets = Effect.fnUntraced(function* ({ query }: { readonly query: typeof PerpsMarketsQuery.Type }) {
      const { builder, cursor, limit = defaults.marketsLimit, venues: named } = query
      const venues = wantedOf(named)
      const sealed = sealedBy("perps.markets", { venues, builder }, limit)
      const after = yield* startOf(cursor, sealed, ([symbol = ""]) => symbol)
      const readings = yield* perps.markets(venues)
      if (readings.every(({ listed }) => listed === null)) {
        return yield* new PerpsUnavailable()
      }
      const rows = marketRows(readings).filter(
        (row) => (builder === undefined || row.builder === builder) && (after === null || row.symbol > after)
      )
      const data = rows.slice(0, limit)
      const last = rows.length > limit ? data.at(-1) : undefined
      return {
        data,
        nextCursor: yield* nextOf(last === undefined ? null : [last.symbol], sealed),
        meta: yield* metaWith({ methodVersion: "public-perps-markets-v1", ...knowledgeOf(readings) } as const)
      }
    })

    return handlers.handleAll({ quote, funding, markets })
  })
)

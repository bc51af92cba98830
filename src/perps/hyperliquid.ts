/**
 * Hyperliquid: `POST /info`. Funding is quoted for one hour and paid every hour; longs pay while it is positive. Fees
 * of the first tier, as of November 2026: 0.045 % and 0.015 %. Orders below ten dollars are rejected. A book has 20
 * levels. With `nSigFigs`, prices are rounded away from the middle, so that 20 levels reach further.
 *
 * Builders run exchanges of their own there (`perpDexs`). Their markets have the name of the exchange in front, such as
 * `xyz:TSLA`, and their own list (`metaAndAssetCtxs` with `dex`). One request lists the markets of all (`allPerpMetas`). Fees are those above times the builder's scale by the
 * venue's fee formula; in growth mode a tenth. Collateral other than USDC may make them cheaper.
 */
import { Cache, Effect, Option, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { tenTo } from "../domain/decimal.ts"
import { type Book, joinBooks } from "./bookWalk.ts"
import { ONE, SCALE } from "./exact.ts"
import { fundingOf } from "./fundingRates.ts"
import { HOUR_MS, hourlyRate, MARGIN_MS, pastRatesOf } from "./pastRates.ts"
import { listingOf, makeListing, namesIn, readEach, termsIn, withReadTime } from "./marketListing.ts"
import { amountOf, type MarginTier, tierOf } from "./margin.ts"
import { builderOf } from "./symbols.ts"
import { type Fees, type FundingPast, NoMarket, type Venue, type VenueUnreadable } from "./Venue.ts"
import { VenueBudget, venueLimits } from "./VenueBudget.ts"
import { cacheListing, makeAsk, whileGood } from "./venueHttp.ts"
import { bookOf, DecimalText, RateText } from "./venueSchemas.ts"

const Contexts = Schema.Tuple([
  Schema.Struct({ universe: Schema.Array(Schema.Unknown), marginTables: Schema.optionalKey(Schema.Unknown) }),
  Schema.Array(Schema.Unknown)
])
const Leverage = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))
const MarginTables = Schema.Array(
  Schema.Tuple([
    Schema.Int,
    Schema.Struct({
      marginTiers: Schema.NonEmptyArray(Schema.Struct({ lowerBound: DecimalText, maxLeverage: Leverage }))
    })
  ])
)
/** An entry of the universe with its context, which has the same index in the second list. */
const Listed = Schema.Struct({
  name: Schema.String,
  szDecimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: SCALE })),
  isDelisted: Schema.optionalKey(Schema.Boolean),
  maxLeverage: Schema.optionalKey(Schema.Unknown),
  marginTableId: Schema.optionalKey(Schema.Unknown),
  context: Schema.Struct({ funding: RateText, openInterest: Schema.optionalKey(Schema.Unknown) })
})

/** An entry of a builder's list. */
const BuilderListed = Schema.Struct({
  ...Listed.fields,
  deployerFeeScale: DecimalText,
  growthMode: Schema.optionalKey(Schema.Unknown)
})
/** The lists of the venue and of every builder, without what changes all the time. */
const AllMetas = Schema.Array(Schema.Unknown)
const Meta = Schema.Struct({ universe: Schema.Array(Schema.Unknown) })
const Named = Schema.Struct({ name: Schema.String, isDelisted: Schema.optionalKey(Schema.Boolean) })

const Builders = Schema.Array(Schema.Unknown)
const Builder = Schema.Struct({ name: Schema.String })

const Levels = Schema.Array(Schema.Struct({ px: DecimalText, sz: DecimalText }))
const L2Book = Schema.NullOr(
  Schema.Struct({ coin: Schema.String, time: Schema.Int, levels: Schema.Tuple([Levels, Levels]) })
)

const FundingHistory = Schema.Array(Schema.Unknown)
const FundingRecord = Schema.Struct({ time: Schema.Int, fundingRate: RateText })

const fees = { taker: 4_500_000n, maker: 1_500_000n }
const LEAST_VALUE = 10n * ONE

const LISTING_UNITS = 20
const BOOK_UNITS = 2

/** A read of past funding returns at most 500 rates, and costs a unit more for each 20 of them. */
const PAST_HOURS = 480
const PAST_UNITS = LISTING_UNITS + Math.ceil((PAST_HOURS + MARGIN_MS / HOUR_MS) / 20)

/**
 * Digits of the prices of the books that a deep read joins; undefined for all digits. With three digits, 20 levels reach
 * 2 to 20 percent from the price.
 */
const RESOLUTIONS = [undefined, 4, 3] as const

const levelOf = ({ px, sz }: (typeof Levels.Type)[number]) => ({ price: px, size: sz })

/** A position is kept with half of the margin that opens it. */
const HALF = { numerator: 1n, denominator: 2n }

type Tables = ReadonlyMap<unknown, ReadonlyArray<MarginTier>>

/** Margin tiers by the id of their table. Without readable tables, no market has tiers. */
const tablesOf = (marginTables: unknown): Tables =>
  new Map(
    Option.match(Schema.decodeUnknownOption(MarginTables)(marginTables), {
      onNone: () => [],
      onSome: (tables) =>
        tables.map(([id, { marginTiers }]) => [
          id,
          marginTiers.map(({ lowerBound, maxLeverage }) => tierOf(lowerBound, maxLeverage, HALF))
        ])
    })
  )

/** The tiers of a market: those of its table, else one of its greatest leverage; null when it states neither. */
const marginOf = (tables: Tables, { marginTableId, maxLeverage }: typeof Listed.Type) =>
  tables.get(marginTableId) ?? (Schema.is(Leverage)(maxLeverage) ? [tierOf(0n, maxLeverage, HALF)] : null)

const termsOf = (tables: Tables) => (listed: typeof Listed.Type) => {
  const { context, isDelisted, szDecimals } = listed
  return isDelisted === true
    ? null
    : {
        fees,
        funding: context.funding,
        szDecimals,
        openInterest: amountOf(context.openInterest),
        margin: marginOf(tables, listed)
      }
}

const paired = (universe: ReadonlyArray<unknown>, contexts: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  universe.map((entry, i) => (typeof entry === "object" ? { ...entry, context: contexts[i] } : entry))

/** The fees of a builder's market. A scale below one adds to the venue's fees, a greater one doubles. */
const builderFees = ({ deployerFeeScale, growthMode }: typeof BuilderListed.Type): Fees => {
  const scale = deployerFeeScale < ONE ? deployerFeeScale + ONE : 2n * deployerFeeScale
  const scaled = (fee: bigint) => (fee * scale) / (ONE * (growthMode === "enabled" ? 10n : 1n))
  return { taker: scaled(fees.taker), maker: scaled(fees.maker) }
}

const builderTerms = (tables: Tables) => (listed: typeof BuilderListed.Type) => {
  const terms = termsOf(tables)(listed)
  return terms === null ? null : { ...terms, fees: builderFees(listed) }
}

/** Names of the builders' exchanges. The first entry is null and stands for the venue's own. */
const namesOf = (builders: ReadonlyArray<unknown>): ReadonlySet<string> =>
  new Set(builders.flatMap((item) => Option.toArray(Schema.decodeUnknownOption(Builder)(item)).map(({ name }) => name)))

/** The markets of all lists. Null stands for an exchange without one; another list in an unknown form counts as a market. */
const listedIn = (metas: ReadonlyArray<unknown>) => {
  const lists = metas.filter((meta) => meta !== null).map((meta) => Schema.decodeUnknownOption(Meta)(meta))
  const entries = lists.flatMap((meta) => (Option.isNone(meta) ? [] : meta.value.universe))
  return listingOf([
    ...lists.filter(Option.isNone).map(() => ({ name: null, terms: Option.none() })),
    ...readEach(entries, Named, "name", ({ isDelisted }) => (isDelisted === true ? null : {}))
  ])
}

/** Reads from the API at this address. */
export const hyperliquid = Effect.fnUntraced(function* (baseUrl: string) {
  const budget = new VenueBudget(venueLimits.hl)
  const ask = yield* makeAsk(budget)
  const info = (body: object) => HttpClientRequest.post(`${baseUrl}/info`).pipe(HttpClientRequest.bodyJsonUnsafe(body))

  const listing = yield* makeListing(
    ask(info({ type: "metaAndAssetCtxs" }), Contexts, { isListing: true, units: LISTING_UNITS }).pipe(
      Effect.map(({ value: [{ marginTables, universe }, contexts] }) =>
        listingOf(readEach(paired(universe, contexts), Listed, "name", termsOf(tablesOf(marginTables))))
      )
    )
  )

  const builders = yield* cacheListing(
    ask(info({ type: "perpDexs" }), Builders, { units: LISTING_UNITS }).pipe(Effect.map(({ value }) => namesOf(value))),
    "5 minutes"
  )
  const builderListing = (dex: string) =>
    ask(info({ type: "metaAndAssetCtxs", dex }), Contexts, { units: LISTING_UNITS }).pipe(
      Effect.map(({ value: [{ marginTables, universe }, contexts] }) =>
        listingOf(readEach(paired(universe, contexts), BuilderListed, "name", builderTerms(tablesOf(marginTables))))
      )
    )
  // There are a dozen builders, and each list costs as much as ten books.
  const builderListings = yield* Cache.makeWith(builderListing, {
    capacity: 64,
    timeToLive: whileGood("1 minute")
  })

  const listedAs = Effect.fnUntraced(function* (symbol: string) {
    const builder = builderOf(symbol)
    if (builder === null) {
      return yield* listing.of(symbol)
    }
    return (yield* builders).has(builder)
      ? yield* termsIn(yield* Cache.get(builderListings, builder), symbol)
      : yield* new NoMarket({ symbol })
  })

  /** The book with prices of so many digits; with all digits when left out. A read has 20 levels of each side. */
  const bookWith = Effect.fnUntraced(function* (coin: string, nSigFigs?: number) {
    const request = info({ type: "l2Book", coin, ...(nSigFigs !== undefined && { nSigFigs }) })
    const { value: book } = yield* ask(request, L2Book, { units: BOOK_UNITS })
    if (book === null) {
      return yield* new NoMarket({ symbol: coin })
    }
    const [bids, asks] = book.levels
    return { ...(yield* bookOf(bids, asks, levelOf)), asOfMs: book.time }
  })

  const marketWith = Effect.fnUntraced(function* (
    symbol: string,
    book: Effect.Effect<Book & { readonly asOfMs: number }, NoMarket | VenueUnreadable>
  ) {
    const listed = yield* listedAs(symbol)
    return {
      ...(yield* book),
      lots: { step: tenTo(SCALE - listed.szDecimals), least: null, most: null, leastValue: LEAST_VALUE },
      funding: fundingOf(listed.funding, 1),
      openInterest: listed.openInterest,
      margin: listed.margin,
      fees: listed.fees
    }
  })

  const deepBook = (symbol: string) =>
    Effect.map(
      Effect.forEach(RESOLUTIONS, (digits) => bookWith(symbol, digits), { concurrency: RESOLUTIONS.length }),
      (books) => ({ ...books.reduce(joinBooks), asOfMs: Math.min(...books.map(({ asOfMs }) => asOfMs)) })
    )

  const past: FundingPast = {
    kind: "settlement",
    spanMs: PAST_HOURS * HOUR_MS,
    read: Effect.fnUntraced(function* (coin, fromMs, toMs) {
      yield* listedAs(coin)
      const request = info({ type: "fundingHistory", coin, startTime: fromMs - MARGIN_MS, endTime: toMs - 1 })
      const { value } = yield* ask(request, FundingHistory, { units: PAST_UNITS, isPast: true })
      return pastRatesOf(value, FundingRecord, ({ fundingRate, time }) => hourlyRate(time, fundingRate))
    })
  }

  const markets = ask(info({ type: "allPerpMetas" }), AllMetas, { units: LISTING_UNITS }).pipe(
    Effect.map(({ value }) => listedIn(value)),
    withReadTime,
    Effect.map((listed) => namesIn(listed))
  )

  const venue: Venue = {
    key: "hl",
    fees,
    maxAgeMs: 10_000,
    budget,
    unreadable: listing.unreadable,
    read: (symbol) => marketWith(symbol, bookWith(symbol)),
    readDeep: (symbol) => marketWith(symbol, deepBook(symbol)),
    markets,
    past
  }
  return venue
})

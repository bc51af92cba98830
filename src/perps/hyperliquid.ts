/**
 * Hyperliquid: `POST /info`. Funding is quoted for one hour and paid every hour; longs pay while it is positive. Fees
 * of the first tier, as of November 2026: 0.045 % and 0.015 %. Orders below ten dollars are rejected.
 */
import { Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { tenTo } from "../domain/decimal.ts"
import { ONE, SCALE } from "./exact.ts"
import { fundingOf } from "./fundingRates.ts"
import { listingOf, makeListing, readEach } from "./marketListing.ts"
import { NoMarket, type Venue } from "./Venue.ts"
import { makeAsk } from "./venueHttp.ts"
import { bookOf, DecimalText, RateText } from "./venueSchemas.ts"

const Contexts = Schema.Tuple([Schema.Struct({ universe: Schema.Array(Schema.Unknown) }), Schema.Array(Schema.Unknown)])
/** An entry of the universe with its context, which has the same index in the second list. */
const Listed = Schema.Struct({
  name: Schema.String,
  szDecimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: SCALE })),
  isDelisted: Schema.optionalKey(Schema.Boolean),
  context: Schema.Struct({ funding: RateText })
})

const Levels = Schema.Array(Schema.Struct({ px: DecimalText, sz: DecimalText }))
const L2Book = Schema.NullOr(
  Schema.Struct({ coin: Schema.String, time: Schema.Int, levels: Schema.Tuple([Levels, Levels]) })
)

const fees = { taker: 4_500_000n, maker: 1_500_000n }
const LEAST_VALUE = 10n * ONE

const levelOf = ({ px, sz }: (typeof Levels.Type)[number]) => ({ price: px, size: sz })

const termsOf = ({ context: { funding }, isDelisted, szDecimals }: typeof Listed.Type) =>
  isDelisted === true ? null : { funding, szDecimals }

const paired = (universe: ReadonlyArray<unknown>, contexts: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  universe.map((entry, i) => (typeof entry === "object" ? { ...entry, context: contexts[i] } : entry))

/** Reads from the API at this address. */
export const hyperliquid = Effect.fnUntraced(function* (baseUrl: string) {
  const ask = yield* makeAsk
  const info = (body: object) => HttpClientRequest.post(`${baseUrl}/info`).pipe(HttpClientRequest.bodyJsonUnsafe(body))

  const listing = yield* makeListing(
    ask(info({ type: "metaAndAssetCtxs" }), Contexts).pipe(
      Effect.map(({ value: [{ universe }, contexts] }) =>
        listingOf(readEach(paired(universe, contexts), Listed, "name", termsOf))
      )
    )
  )

  const read = Effect.fnUntraced(function* (symbol: string) {
    const listed = yield* listing.of(symbol)
    const { value: book } = yield* ask(info({ type: "l2Book", coin: symbol }), L2Book)
    if (book === null) {
      return yield* new NoMarket({ symbol })
    }
    const [bids, asks] = book.levels
    return {
      ...(yield* bookOf(bids, asks, levelOf)),
      asOfMs: book.time,
      lots: { step: tenTo(SCALE - listed.szDecimals), least: null, most: null, leastValue: LEAST_VALUE },
      funding: fundingOf(listed.funding, 1),
      fees
    }
  })

  const venue: Venue = { key: "hl", fees, maxAgeMs: 10_000, unreadable: listing.unreadable, read }
  return venue
})

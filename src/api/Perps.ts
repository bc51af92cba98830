import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  InvalidCursor,
  PerpsUnavailable,
  UpstreamInvalid,
  UpstreamRateLimited,
  UpstreamTimeout,
  UpstreamUnavailable
} from "./errors/problems.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { pageOf, pageParameters } from "./pages.ts"
import { CommaList, DecimalParameter, optional, refuse, UnixSecond } from "./parameters.ts"
import {
  PerpsComparison,
  PerpsFundingMeta,
  PerpsFundingRate,
  PerpsMarket,
  PerpsMarketsMeta,
  PerpsSymbol,
  PerpsVenue
} from "./schemas/Perps.ts"
import { field } from "../domain/field.ts"
import { requestId } from "./schemas/fields.ts"
import { VenueLabel } from "./schemas/lists.ts"

/** Default values of optional parameters. */
export const defaults = { holdHours: "8", fundingDays: 7, fundingLimit: 100, marketsLimit: 100 } as const

/** Compares decimal text with a whole number exactly. */
const isAtMost = (text: string, most: bigint): boolean => {
  const [whole = "", fraction = ""] = text.split(".")
  return BigInt(whole) < most || (BigInt(whole) === most && /^0*$/u.test(fraction))
}

const isZero = (text: string): boolean => /^[0.]*$/u.test(text)

const MOST_COINS = 1_000_000_000_000n
const MOST_HOURS = 8760n
const MOST_LEVERAGE = 1000n

/** Former keys of venues that have been renamed. */
export const FORMER_KEYS: Readonly<Record<string, PerpsVenue>> = { drift: "velocity" }

const knownVenues: ReadonlySet<string> = new Set([...PerpsVenue.literals, ...Object.keys(FORMER_KEYS)])

const sizeInRange = ({ size }: { readonly size: string }) =>
  (!isZero(size) && isAtMost(size, MOST_COINS)) ||
  refuse("size", "out_of_range", `size must be above 0 and at most ${MOST_COINS}.`)

const holdInRange = ({ holdHours = defaults.holdHours }: { readonly holdHours?: string }) =>
  isAtMost(holdHours, MOST_HOURS) || refuse("holdHours", "out_of_range", `holdHours must be from 0 to ${MOST_HOURS}.`)

const leverageInRange = ({ leverage = "1" }: { readonly leverage?: string }) =>
  (isAtMost(leverage, MOST_LEVERAGE) && BigInt(leverage.split(".")[0] ?? "0") >= 1n) ||
  refuse("leverage", "out_of_range", `leverage must be from 1 to ${MOST_LEVERAGE}.`)

const venuesKnown = ({ venues = [] }: { readonly venues?: ReadonlyArray<string> }) =>
  venues.every((venue) => knownVenues.has(venue)) ||
  refuse("venues", "unknown", `venues must be one of ${PerpsVenue.literals.join(", ")}.`)

const SymbolParameter = field(
  PerpsSymbol,
  "Base symbol in upper case, 1 to 64 characters, for example BTC. A market of a builder on Hyperliquid has the builder in front: xyz:TSLA."
)

const VenuesParameter = Schema.optionalKey(
  Schema.String.check(Schema.isMaxLength(256, { expected: "at most 256 characters" }))
    .annotate({
      description: `Only these venues: ${PerpsVenue.literals.join(", ")}, separated by commas. drift is read as velocity.`
    })
    .pipe(Schema.decodeTo(CommaList(VenueLabel, 64)))
)

export const PerpsQuery = Schema.Struct({
  symbol: SymbolParameter,
  side: field(Schema.Literals(["buy", "sell"]), "Side of the order."),
  size: field(DecimalParameter, `Coins as plain decimal text, above 0 and at most ${MOST_COINS}.`),
  holdHours: field(
    Schema.optionalKey(DecimalParameter),
    `Hours for which the position is held, 0 to ${MOST_HOURS}; ${defaults.holdHours} by default.`
  ),
  leverage: field(
    Schema.optionalKey(DecimalParameter),
    `Value of the position in multiples of its margin, 1 to ${MOST_LEVERAGE}, for the liquidation price; none by default.`
  ),
  venues: VenuesParameter
}).check(
  Schema.makeFilter(sizeInRange),
  Schema.makeFilter(holdInRange),
  Schema.makeFilter(leverageInRange),
  Schema.makeFilter(venuesKnown)
)

export class PerpsQuote extends Schema.Opaque<PerpsQuote>()(
  Schema.Struct({
    query: field(
      Schema.Struct({
        symbol: field(Schema.String, "Symbol of the market, such as BTC."),
        side: field(Schema.Literals(["buy", "sell"]), "Side of the trade."),
        size: field(Schema.String, "Coins as exact decimal text."),
        holdHours: field(Schema.Finite, "Hours for which the position is held."),
        leverage: field(Schema.NullOr(Schema.Finite), "The requested leverage; null for none."),
        venues: field(Schema.NullOr(Schema.Array(PerpsVenue)), "The requested venues; null for all.")
      }),
      "The request as it was understood."
    ),
    ...PerpsComparison.fields,
    requestId
  }).annotate({ identifier: "PerpsQuote", description: "Venues compared for one hypothetical order." })
) {}

/** The longest time that past funding is read for at once, in days. */
export const MOST_FUNDING_DAYS = 366

const fundingOrdered = ({ from, to }: { readonly from?: number; readonly to?: number }) =>
  from === undefined || to === undefined || from < to || refuse("to", "conflict", "to must be after from.")

export const PerpsFundingQuery = Schema.Struct({
  venue: field(
    Schema.Literals([...PerpsVenue.literals, "drift"]),
    `One of ${PerpsVenue.literals.join(", ")}. drift is read as velocity.`
  ),
  symbol: SymbolParameter,
  from: optional(
    UnixSecond,
    `Only rates from this Unix second on, at most ${MOST_FUNDING_DAYS} days before to; ${defaults.fundingDays} days by default.`
  ),
  to: optional(UnixSecond, "Only rates before this Unix second; now by default, and where it is later."),
  ...pageParameters(500, defaults.fundingLimit)
}).check(Schema.makeFilter(fundingOrdered))

export class PerpsFunding extends Schema.Opaque<PerpsFunding>()(
  pageOf(PerpsFundingRate, PerpsFundingMeta, {
    identifier: "PerpsFunding",
    description:
      "Past funding of a market at a venue, newest first. The coverage is for the time of the page. A page may be shorter than its limit: the last page is the one without nextCursor."
  })
) {}

const BUILDER = "a name of 1 to 16 of a-z and 0-9"

export const PerpsMarketsQuery = Schema.Struct({
  venues: VenuesParameter,
  builder: optional(
    Schema.String.check(Schema.isPattern(/^[a-z0-9]{1,16}$/u, { expected: BUILDER })),
    "Only markets of this builder on Hyperliquid, such as xyz."
  ),
  ...pageParameters(500, defaults.marketsLimit)
}).check(Schema.makeFilter(venuesKnown))

export class PerpsMarkets extends Schema.Opaque<PerpsMarkets>()(
  pageOf(PerpsMarket, PerpsMarketsMeta, {
    identifier: "PerpsMarkets",
    description:
      "Markets by symbol, in the order of its characters. A page begins after the symbol of the last row: a market that is listed meanwhile may be on no page."
  })
) {}

/** Comparison of perpetual futures venues. Reads only: nothing here signs or submits an order. */
export class PerpsGroup extends HttpApiGroup.make("perps")
  .add(
    HttpApiEndpoint.get("quote", "/api/v1/perps/quote", {
      query: PerpsQuery,
      success: PerpsQuote,
      error: PerpsUnavailable
    }).annotate(OpenApi.Summary, "Compare venues for one order"),
    HttpApiEndpoint.get("funding", "/api/v1/perps/funding", {
      query: PerpsFundingQuery,
      success: PerpsFunding,
      error: [
        InvalidCursor,
        PerpsUnavailable,
        UpstreamTimeout,
        UpstreamUnavailable,
        UpstreamRateLimited,
        UpstreamInvalid
      ]
    })
      .annotate(OpenApi.Summary, "Past funding of a market at a venue")
      .annotate(
        OpenApi.Description,
        "The funding rates that the venue publishes, newest first and page by page. Where it publishes none, the meta says so."
      )
  )
  .add(
    HttpApiEndpoint.get("markets", "/api/v1/perps/markets", {
      query: PerpsMarketsQuery,
      success: PerpsMarkets,
      error: [InvalidCursor, PerpsUnavailable]
    })
      .annotate(OpenApi.Summary, "Markets of every venue, those of builders on Hyperliquid too")
      .annotate(
        OpenApi.Description,
        "The symbols that `GET /perps/quote` and `GET /perps/funding` take, with the venues that list each. Lists are at most a minute old. The meta says of each venue whether its list could be read; without any list the answer is a 503."
      )
  )
  .annotateEndpoints(Scope, ["perps.read"])
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Comparison of perpetual futures venues. Reads only: nothing here signs or submits an order."
  ) {}

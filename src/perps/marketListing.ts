/** The markets that a venue lists. Each is read on its own: one in an unknown form does not affect the others. */
import { Clock, type Duration, Effect, Exit, Option, Schema } from "effect"
import { type ListedMarkets, NoMarket, VenueUnreadable } from "./Venue.ts"
import { cacheListing } from "./venueHttp.ts"

/** A listed market: its name if it states one, and its terms, which are null while it is not traded. */
export interface Listed<Terms> {
  readonly name: string | null
  /** None when they cannot be read. */
  readonly terms: Option.Option<Terms | null>
}

/** A listing, by the names of markets. */
export interface MarketListing<Terms> {
  readonly markets: ReadonlyMap<string, Terms>
  /** Names of markets that cannot be read. */
  readonly unreadable: ReadonlySet<string>
  /** How many markets cannot be read, including markets without a name. */
  readonly dropped: number
}

export const listingOf = <Terms>(listed: ReadonlyArray<Listed<Terms>>): MarketListing<Terms> => {
  const unreadable = listed.filter(({ terms }) => Option.isNone(terms))
  return {
    markets: new Map(
      listed.flatMap(({ name, terms }) =>
        name === null || Option.isNone(terms) || terms.value === null ? [] : [[name, terms.value] as const]
      )
    ),
    unreadable: new Set(unreadable.flatMap(({ name }) => name ?? [])),
    dropped: unreadable.length
  }
}

/** Reads each item of a listing by the schema. `nameField` holds the name, even in an item that the schema rejects. */
export const readEach = <Item, Terms>(
  items: ReadonlyArray<unknown>,
  schema: Schema.ConstraintCodec<Item, unknown>,
  nameField: string,
  termsOf: (item: Item) => Terms | null
): ReadonlyArray<Listed<Terms>> => {
  const read = Schema.decodeUnknownExit(schema)
  return items.map((item) => {
    const exit = read(item)
    return {
      name: textOf(item, nameField),
      terms: Exit.isSuccess(exit) ? Option.some(termsOf(exit.value)) : Option.none()
    }
  })
}

const textOf = (item: unknown, field: string): string | null => {
  const value: unknown = typeof item === "object" && item !== null ? Reflect.get(item, field) : null
  return typeof value === "string" ? value : null
}

/** The fault of a market that is listed in an unknown form. */
export const unreadableMarket = (name: string): VenueUnreadable =>
  new VenueUnreadable({ why: "malformed", detail: `${name} is listed in an unknown form` })

/** The terms of a listed market. Fails when it is not traded, or cannot be read. */
export const termsIn = <Terms>(
  { markets, unreadable }: MarketListing<Terms>,
  name: string
): Effect.Effect<Terms, NoMarket | VenueUnreadable> => {
  const terms = markets.get(name)
  const fault = unreadable.has(name) ? unreadableMarket(name) : new NoMarket({ symbol: name })
  return terms === undefined ? Effect.fail(fault) : Effect.succeed(terms)
}

/** The markets of a listing by the names of their bases. A market whose name lacks the suffix is left out. */
export const namesIn = (
  { dropped, markets, readAtMs }: MarketListing<unknown> & { readonly readAtMs: number },
  suffix = ""
): ListedMarkets => ({
  names: Array.from(markets.keys()).flatMap((name) =>
    name.endsWith(suffix) ? [name.slice(0, name.length - suffix.length)] : []
  ),
  unreadable: dropped,
  readAtMs
})

/** What was read, with the time. */
export const withReadTime = <A extends object, E, R>(read: Effect.Effect<A, E, R>) =>
  Effect.flatMap(read, (value) => Effect.map(Clock.currentTimeMillis, (readAtMs) => ({ ...value, readAtMs })))

/** Cached reads of a listing. */
export interface ListingReads<Terms> {
  /** Every market that is traded. */
  readonly all: Effect.Effect<MarketListing<Terms> & { readonly readAtMs: number }, NoMarket | VenueUnreadable>
  /** The terms of a market. Fails when it is not traded, or cannot be read. */
  readonly of: (name: string) => Effect.Effect<Terms, NoMarket | VenueUnreadable>
  /** How many markets of the last listing could not be read; null before the first. */
  readonly unreadable: () => number | null
}

/** Reads single markets of a listing. The listing itself is kept for 15 s unless stated otherwise. */
export const makeListing = Effect.fnUntraced(function* <Terms>(
  read: Effect.Effect<MarketListing<Terms>, NoMarket | VenueUnreadable>,
  kept?: Duration.Input
) {
  let last: number | null = null
  const noted = Effect.tap(withReadTime(read), ({ dropped }) => Effect.sync(() => (last = dropped)))
  const listing = yield* cacheListing(noted, kept)
  const reads: ListingReads<Terms> = {
    all: listing,
    of: (name) => Effect.flatMap(listing, (listed) => termsIn(listed, name)),
    unreadable: () => last
  }
  return reads
})

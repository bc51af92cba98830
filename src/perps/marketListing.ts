/** The markets that a venue lists, each read on its own: one in an unknown form leaves the others as they are. */
import { Effect, Exit, Option, Schema } from "effect"
import { NoMarket, VenueUnreadable } from "./Venue.ts"
import { cacheListing } from "./venueHttp.ts"

/** One listed market: its name where it states one, and its terms; null when it is listed and not traded now. */
export interface Listed<Terms> {
  readonly name: string | null
  /** None when they cannot be read. */
  readonly terms: Option.Option<Terms | null>
}

/** A listing, by the names of markets. */
export interface MarketListing<Terms> {
  readonly markets: ReadonlyMap<string, Terms>
  /** Markets of an unreadable form by name. */
  readonly odd: ReadonlySet<string>
  /** Markets of an unreadable form, those without a name included. */
  readonly dropped: number
}

/** A listing of these markets. */
export const listingOf = <Terms>(listed: ReadonlyArray<Listed<Terms>>): MarketListing<Terms> => {
  const odd = listed.filter(({ terms }) => Option.isNone(terms))
  return {
    markets: new Map(
      listed.flatMap(({ name, terms }) =>
        name === null || Option.isNone(terms) || terms.value === null ? [] : [[name, terms.value] as const]
      )
    ),
    odd: new Set(odd.flatMap(({ name }) => name ?? [])),
    dropped: odd.length
  }
}

/** Reads the items of a listing by the schema of one; `nameOf` reads the name of an item that may be of any form. */
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

/** The fault of a market that is listed in a form that cannot be read. */
export const unreadableMarket = (name: string): VenueUnreadable =>
  new VenueUnreadable({ why: "malformed", detail: `${name} is listed in an unknown form` })

/** Cached reads of a listing. */
export interface ListingReads<Terms> {
  /** The terms of a market; fails when it is not traded, or cannot be read. */
  readonly of: (name: string) => Effect.Effect<Terms, NoMarket | VenueUnreadable>
  /** Markets of the last listing that could not be read; null before the first. */
  readonly unreadable: () => number | null
}

/** Reads of one market of the listing, which is read once in 15 s. */
export const makeListing = Effect.fnUntraced(function* <Terms>(
  read: Effect.Effect<MarketListing<Terms>, NoMarket | VenueUnreadable>
) {
  let last: number | null = null
  const noted = Effect.tap(read, ({ dropped }) => Effect.sync(() => (last = dropped)))
  const listing = yield* cacheListing(noted)
  const of = Effect.fnUntraced(function* (name: string) {
    const { markets, odd } = yield* listing
    const terms = markets.get(name)
    if (terms === undefined) {
      return yield* odd.has(name) ? unreadableMarket(name) : new NoMarket({ symbol: name })
    }
    return terms
  })
  const reads: ListingReads<Terms> = { of, unreadable: () => last }
  return reads
})

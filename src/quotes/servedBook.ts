/** The pools in memory, without pools of refused venues. */
import type { Pool } from "../programs/interface/Program.ts"
import type { MintPools } from "./pools/MintPools.ts"
import type { PoolBook } from "./pools/PoolBook.ts"
import type { VenueProofs } from "./VenueProofs.ts"

type Book = PoolBook["Service"]

/** Moves the pools of these venues to the refused pools, with the reason. */
const withoutVenues = (known: MintPools, venues: ReadonlyMap<string, string>): MintPools => {
  const refused = known.pools.flatMap(({ address, dex, mintA, mintB }) => {
    const detail = venues.get(dex)
    return detail === undefined
      ? []
      : [{ address, dex, reason: "unsupported" as const, detail, mints: [mintA, mintB] as const }]
  })
  return refused.length === 0
    ? known
    : { pools: known.pools.filter(({ dex }) => !venues.has(dex)), refused: [...known.refused, ...refused] }
}

const bookWithout = (book: Book, venues: ReadonlyMap<string, string>): Book => {
  const isServed = ({ dex }: Pool): boolean => !venues.has(dex)
  return {
    ...book,
    between: (a, b) => {
      const known = book.between(a, b)
      return known === null ? null : withoutVenues(known, venues)
    },
    graph: {
      partnersOf: (mint) => book.graph.partnersOf(mint),
      poolsBetween: (a, b) => book.graph.poolsBetween(a, b).filter(isServed)
    }
  }
}

/**
 * Returns the book to quote from, without the venues that are refused at that moment. It is `book` itself when no
 * venue is refused.
 */
export const servedBook = (book: Book, proofs: VenueProofs): (() => Book) => {
  let served: { readonly venues: ReadonlyMap<string, string>; readonly book: Book } | null = null
  return () => {
    const venues = proofs.refused()
    if (venues.size === 0) {
      return book
    }
    if (served?.venues !== venues) {
      served = { venues, book: bookWithout(book, venues) }
    }
    return served.book
  }
}

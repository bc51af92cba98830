/** Route search of each engine, with checks in a fixed order. */
import { type Mint, SOL } from "../domain/Address.ts"
import { NoRoute, PoolsNotSearched, type QuoteRefusal, type QuoteRequest, StateCold } from "../domain/quotes/Quote.ts"
import { bestDirect } from "./bestDirect.ts"
import { candidates, sameMint, tokenOf, unsupportedShape } from "./directRoute.ts"
import type { PoolBook } from "../pools/PoolBook.ts"
import { pricedRoute } from "./routedQuote.ts"
import { directRoute, type Moment, type PricedRoute } from "./spotQuote.ts"

/** One way to answer requests. */
export interface RouteFinder {
  /** Why this shape of request is never served, whatever the state, or null. */
  readonly unsupportedShape: (request: QuoteRequest) => QuoteRefusal | null
  /** The only mint that exits are measured in; null for any. */
  readonly exitMint: Mint | null
  /** The route of a request that the state is fit for, or why there is none. */
  readonly find: (book: PoolBook["Service"], request: QuoteRequest, moment: Moment) => PricedRoute | QuoteRefusal
}

const NO_HUBS: ReadonlySet<Mint> = new Set()

/**
 * The refusal without a route: none exists, or an end may have pools that the node refused to search. A hub counts only where no
 * other end has pools of its own: nodes often refuse to search its many pools, and each belongs to its other mint too.
 */
const noRoute = (
  book: PoolBook["Service"],
  { inputMint, outputMint }: QuoteRequest,
  hubs: ReadonlySet<Mint>
): NoRoute | PoolsNotSearched => {
  const ends = [inputMint, outputMint].filter((mint) => mint !== SOL)
  const tokens = ends.filter((mint) => !hubs.has(mint))
  const mint = (tokens.length > 0 ? tokens : ends).find((end) => book.lacking(end) === "not_captured")
  return mint === undefined ? new NoRoute({ inputMint, outputMint }) : new PoolsNotSearched({ mint })
}

/** One SOL leg with a fee of `feeBps`, one pool. */
export const nativeFinder = (feeBps: bigint): RouteFinder => ({
  unsupportedShape,
  exitMint: SOL,
  find: (book, request, moment) => {
    const known = book.between(request.inputMint, request.outputMint)
    const pools = known === null ? new StateCold({ mint: tokenOf(request) }) : candidates(known, request)
    if ("_tag" in pools) {
      return pools._tag === "NoRoute" ? noRoute(book, request, NO_HUBS) : pools
    }
    const best = bestDirect(pools, request, moment.clock)
    const route = best === null ? null : directRoute(request, best, moment, feeBps)
    return route === null || route.outAmount === 0n ? noRoute(book, request, NO_HUBS) : route
  }
})

/** Any mint to any mint, over every pool in memory. */
export const routerFinder = (hubs: ReadonlySet<Mint>): RouteFinder => ({
  unsupportedShape: sameMint,
  exitMint: null,
  find: (book, request, { clock }) => {
    const { inputMint, outputMint } = request
    const cold = [inputMint, outputMint].find((mint) => !book.isLoaded(mint))
    if (cold !== undefined) {
      return new StateCold({ mint: cold })
    }
    const route = pricedRoute(book.graph, request, clock)
    if (route !== null && route.outAmount > 0n) {
      return route
    }
    // The direct pools give the best reason: a mode that is not served, or a pool that is still being read.
    const known = book.between(inputMint, outputMint)
    const pools = known === null ? null : candidates(known, request)
    return pools !== null && "_tag" in pools && pools._tag !== "NoRoute" ? pools : noRoute(book, request, hubs)
  }
})

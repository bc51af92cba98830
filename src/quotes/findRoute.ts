/** Route search of each engine, with checks in a fixed order. */
import { type Mint, SOL } from "../domain/Address.ts"
import { NoRoute, PoolsNotSearched, type QuoteRefusal, type QuoteRequest, StateCold } from "../api/schemas/Quote.ts"
import { bestDirect } from "./bestDirect.ts"
import { candidates, sameMint, tokenOf, unsupportedShape } from "./directRoute.ts"
import type { PoolBook } from "./pools/PoolBook.ts"
import { pricedRoute } from "./routedQuote.ts"
import { directRoute, type Moment, type PricedRoute } from "./spotQuote.ts"

/** One way to answer requests. */
export interface RouteFinder {
  /** The reason why this shape of request is never served, whatever the state, or null. */
  readonly unsupportedShape: (request: QuoteRequest) => QuoteRefusal | null
  /** The only mint that exits are measured in; null for any. */
  readonly exitMint: Mint | null
  /** The route, for a request that passed the other checks, or the reason why there is none. */
  readonly find: (book: PoolBook["Service"], request: QuoteRequest, moment: Moment) => PricedRoute | QuoteRefusal
}

const NO_HUBS: ReadonlySet<Mint> = new Set()

/**
 * The refusal when no route was found: `NoRoute`, or `PoolsNotSearched` if the node refused to search the pools of one
 * end. A hub counts only where no other end has pools of its own. Nodes often refuse to search a hub's many pools, and
 * each of these also belongs to its other mint.
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

/** Finds routes of one pool with a SOL leg, with a fee of `feeBps`. */
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

/** Finds routes from any mint to any mint, over every pool in memory. */
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
    // The direct pools give the best reason: an unsupported mode, or a pool that is still being read.
    const known = book.between(inputMint, outputMint)
    const pools = known === null ? null : candidates(known, request)
    return pools !== null && "_tag" in pools && pools._tag !== "NoRoute" ? pools : noRoute(book, request, hubs)
  }
})

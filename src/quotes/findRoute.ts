/** Finds routes, one finder per engine. Checks run in a fixed order. */
import { type Mint, SOL } from "../domain/Address.ts"
import { MAX_U64 } from "../domain/Amount.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Pool } from "../programs/interface/Program.ts"
import {
  NoRoute,
  PoolsNotSearched,
  type QuoteRefusal,
  type QuoteRequest,
  RouteNotSupported,
  StateCold
} from "../api/schemas/Quote.ts"
import { type Best, bestDirect, cheapestDirect, hasExactOut } from "./bestDirect.ts"
import { candidates, grossOfSolFee, sameMint, tokenOf, unsupportedShape } from "./directRoute.ts"
import type { ExecutedTerms } from "./ExecutedQuotes.ts"
import type { PoolBook } from "./pools/PoolBook.ts"
import { exactOutRoute, filtered, pricedRoute } from "./routedQuote.ts"
import { directRoute, type Moment, type PricedRoute } from "./spotQuote.ts"

/** How an engine finds routes. */
export interface RouteFinder {
  /** Why a request of this shape is never served, whatever the state; null when it can be. */
  readonly unsupportedShape: (request: QuoteRequest) => QuoteRefusal | null
  /** The only mint that exits are measured in; null when any mint will do. */
  readonly exitMint: Mint | null
  /** How its routes over executed venues look. */
  readonly terms: ExecutedTerms
  /** Finds the route of a request that passed the other checks, or says why there is none. */
  readonly find: (book: PoolBook["Service"], request: QuoteRequest, moment: Moment) => PricedRoute | QuoteRefusal
}

const NO_HUBS: ReadonlySet<Mint> = new Set()

/**
 * The refusal when no route was found: `NoRoute`, or `PoolsNotSearched` if the node refused to search the pools of
 * one of the two mints. A hub's refused search counts only when the other mint has no pools of its own: nodes often
 * refuse to search a hub's many pools, and each of these pools also belongs to its other mint.
 */
const noRoute = (
  book: PoolBook["Service"],
  { inputMint, outputMint }: QuoteRequest,
  hubs: ReadonlySet<Mint>,
  paysNothing = false
): NoRoute | PoolsNotSearched => {
  const ends = [inputMint, outputMint].filter((mint) => mint !== SOL)
  const tokens = ends.filter((mint) => !hubs.has(mint))
  const mint = (tokens.length > 0 ? tokens : ends).find((end) => book.lacking(end) === "not_captured")
  return mint === undefined
    ? new NoRoute({ inputMint, outputMint, ...(paysNothing && { paysNothing }) })
    : new PoolsNotSearched({ mint })
}

/** Multiples of a refused amount that are tried, to learn whether it was too small. */
const GREATER: ReadonlyArray<bigint> = [10n, 1000n, 1_000_000n, 1_000_000_000n]

/** True when one of the pools trades a greater amount, although none pays anything for this one. */
const isTooSmall = (pools: ReadonlyArray<Pool>, request: QuoteRequest, { clock }: Moment): boolean =>
  GREATER.map((times) => times * request.amount)
    .filter((amount) => amount <= MAX_U64)
    .some((amount) => bestDirect(pools, { inputMint: request.inputMint, amount }, clock)?.swap.ending === "filled")

/** Venues of these pools that have no exact-output swap for the request's direction, each once. */
const venuesWithoutExactOut = (pools: ReadonlyArray<Pool>, { inputMint }: QuoteRequest): ReadonlyArray<string> =>
  Array.from(new Set(pools.filter((pool) => !hasExactOut(pool, inputMint)).map(({ dex }) => dex))).toSorted()

/** The refusal of an exact output that no pool of the pair could be asked for. It names the venues. */
const noExactOut = (venues: ReadonlyArray<string>): RouteNotSupported =>
  new RouteNotSupported({
    detail: `The pools of this pair have no swap with an exact output in this direction: ${venues.join(", ")}. Send swapMode exactIn.`
  })

/** The best direct swap of a request. The fee of a sale is added to the output that the pool has to pay. */
const bestSwap = (
  pools: ReadonlyArray<Pool>,
  request: QuoteRequest,
  clock: ChainClock,
  feeBps: bigint
): Best | null => {
  if (request.swapMode !== "exactOut") {
    return bestDirect(pools, request, clock)
  }
  const amount = request.outputMint === SOL ? grossOfSolFee(request.amount, feeBps) : request.amount
  return cheapestDirect(pools, { inputMint: request.inputMint, amount }, clock)
}

/** Finds routes through one pool with a SOL leg. `feeBps` is the fee. */
export const nativeFinder = (feeBps: bigint): RouteFinder => ({
  unsupportedShape,
  exitMint: SOL,
  terms: { feeBps, isDirect: true },
  find: (book, request, moment) => {
    const known = book.between(request.inputMint, request.outputMint)
    const pools = known === null ? new StateCold({ mint: tokenOf(request) }) : candidates(known, request)
    if ("_tag" in pools) {
      return pools._tag === "NoRoute" ? noRoute(book, request, NO_HUBS) : pools
    }
    const best = bestSwap(pools, request, moment.clock, feeBps)
    const route = best === null ? null : directRoute(request, best, moment, feeBps)
    if (request.swapMode !== "exactOut") {
      return route === null || route.outAmount === 0n
        ? noRoute(book, request, NO_HUBS, isTooSmall(pools, request, moment))
        : route
    }
    const withoutExactOut = venuesWithoutExactOut(pools, request)
    if (route !== null) {
      return { ...route, withoutExactOut }
    }
    return pools.some((pool) => hasExactOut(pool, request.inputMint))
      ? noRoute(book, request, NO_HUBS)
      : noExactOut(withoutExactOut)
  }
})

/** Finds routes from any mint to any mint, over every pool in memory. */
export const routerFinder = (hubs: ReadonlySet<Mint>): RouteFinder => ({
  unsupportedShape: sameMint,
  exitMint: null,
  terms: { feeBps: 0n, isDirect: false },
  find: (book, request, moment) => {
    const { inputMint, outputMint } = request
    const cold = [inputMint, outputMint].find((mint) => !book.isLoaded(mint))
    if (cold !== undefined) {
      return new StateCold({ mint: cold })
    }
    const isExactOut = request.swapMode === "exactOut"
    const route = (isExactOut ? exactOutRoute : pricedRoute)(book.graph, request, moment.clock)
    if (route !== null && route.outAmount > 0n) {
      const direct = isExactOut ? filtered(book.graph, request).poolsBetween(inputMint, outputMint) : []
      return isExactOut ? { ...route, withoutExactOut: venuesWithoutExactOut(direct, request) } : route
    }
    // Direct pools give the best reason, such as an unsupported mode or a pool that is still being read.
    const known = book.between(inputMint, outputMint)
    const pools = known === null ? null : candidates(known, request)
    if (pools !== null && "_tag" in pools) {
      return pools._tag === "NoRoute" ? noRoute(book, request, hubs) : pools
    }
    return isExactOut && pools !== null && !pools.some((pool) => hasExactOut(pool, inputMint))
      ? noExactOut(venuesWithoutExactOut(pools, request))
      : noRoute(book, request, hubs, !isExactOut && pools !== null && isTooSmall(pools, request, moment))
  }
})

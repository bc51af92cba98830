/** Turns a route of several hops into the parts of a quote. */
import type { Rate } from "../programs/interface/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import type { QuoteRequest } from "../api/schemas/Quote.ts"
import { impactAgainst, impactPct, rateOf } from "./bestDirect.ts"
import { poolFilter } from "./directRoute.ts"
import { exactOutPath } from "./exactOutPath.ts"
import type { PoolGraph } from "./pools/PoolGraph.ts"
import { MAX_HOPS, type Trade } from "./bestPath.ts"
import type { PricedRoute, RouteSwap } from "./spotQuote.ts"
import type { Share } from "./splitRoute.ts"
import { spreadRoute } from "./spreadRoute.ts"

export const ROUTER_ENGINE = "svc_router"
/** Most hops of a route when the request does not say. */
const DEFAULT_HOPS = 3

/** The graph without the pools that the request filters out by venue or address. */
export const filtered = (graph: PoolGraph, request: QuoteRequest): PoolGraph => {
  const passes = poolFilter(request)
  return passes === null ? graph : { ...graph, poolsBetween: (a, b) => graph.poolsBetween(a, b).filter(passes) }
}

const hopsOf = (shares: ReadonlyArray<Share>, clock: ChainClock): ReadonlyArray<RouteSwap> =>
  shares.map(({ pool, inputMint, outputMint, percent, swap }) => ({
    dex: pool.dex,
    inputMint,
    outputMint,
    pool: pool.address,
    percent,
    amountIn: swap.amountIn,
    amountOut: swap.amountOut,
    priceImpactPct: impactPct({ pool, swap }, inputMint, clock)
  }))

const ONE: Rate = { numerator: 1n, denominator: 1n }

/**
 * The best rate along the route's pools for an infinitely small trade, by mint. The shares are in execution order.
 */
const ratesOf = (shares: ReadonlyArray<Share>, clock: ChainClock): ReadonlyMap<Mint, Rate> => {
  const rates = new Map<Mint, Rate>()
  for (const { pool, inputMint, outputMint } of shares) {
    const before = rates.get(inputMint) ?? ONE
    const own = rateOf(pool, inputMint, clock)
    const rate = {
      numerator: before.numerator * own.numerator,
      denominator: before.denominator * own.denominator
    }
    const known = rates.get(outputMint)
    if (known === undefined || rate.numerator * known.denominator > known.numerator * rate.denominator) {
      rates.set(outputMint, rate)
    }
  }
  return rates
}

/** The trade of a request, with the hops that it may take. */
export const tradeOf = ({
  inputMint,
  outputMint,
  amount,
  directOnly,
  maxHops = DEFAULT_HOPS
}: QuoteRequest): Trade => ({
  inputMint,
  outputMint,
  amount,
  maxHops: directOnly === true ? 1 : Math.min(maxHops, MAX_HOPS)
})

/** The path that costs least for an exact output, over one pool a hop; null when there is none. */
export const exactOutRoute = (graph: PoolGraph, request: QuoteRequest, clock: ChainClock): PricedRoute | null => {
  const shares = exactOutPath(filtered(graph, request), tradeOf(request), clock)
  const inAmount = shares?.at(0)?.swap.amountIn ?? 0n
  const outAmount = shares?.at(-1)?.swap.amountOut ?? 0n
  const rate = shares === null ? undefined : ratesOf(shares, clock).get(request.outputMint)
  return shares === null
    ? null
    : {
        engine: ROUTER_ENGINE,
        route: hopsOf(shares, clock),
        inAmount,
        outAmount,
        priceImpactPct: rate === undefined ? null : impactAgainst(rate, inAmount, outAmount),
        clamped: false,
        stateSlot: Math.min(...shares.map(({ pool }) => pool.slot)),
        feeBasis: undefined
      }
}

/** The route that pays most, spread over several pools and paths where that pays more; null when there is none. */
export const pricedRoute = (graph: PoolGraph, request: QuoteRequest, clock: ChainClock): PricedRoute | null => {
  const { outputMint, amount } = request
  const spread = spreadRoute(filtered(graph, request), tradeOf(request), clock)
  if (spread === null) {
    return null
  }
  const { shares, amountOut, isExhausted } = spread
  const rate = isExhausted ? undefined : ratesOf(shares, clock).get(outputMint)
  return {
    engine: ROUTER_ENGINE,
    route: hopsOf(shares, clock),
    inAmount: amount,
    outAmount: amountOut,
    priceImpactPct: rate === undefined ? null : impactAgainst(rate, amount, amountOut),
    clamped: isExhausted,
    stateSlot: Math.min(...shares.map(({ pool }) => pool.slot)),
    feeBasis: undefined
  }
}

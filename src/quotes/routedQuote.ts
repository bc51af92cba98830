/** Turns a route of several hops into the parts of a quote. */
import type { Pool, Rate } from "../programs/interface/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import type { QuoteRequest } from "../api/schemas/Quote.ts"
import { impactAgainst, impactPct, rateOf } from "./bestDirect.ts"
import type { PoolGraph } from "./pools/PoolGraph.ts"
import { bestPath, MAX_HOPS } from "./bestPath.ts"
import type { PricedRoute, RouteSwap } from "./spotQuote.ts"
import { type Leg, splitRoute } from "./splitRoute.ts"

export const ROUTER_ENGINE = "svc_router"
/** Most hops of a route when the request does not say. */
const DEFAULT_HOPS = 3

/** The graph that the request's venue and pool filters leave. */
export const filtered = (graph: PoolGraph, { venues, pools }: QuoteRequest): PoolGraph => {
  if (venues === undefined && pools === undefined) {
    return graph
  }
  const passes = ({ address, dex }: Pool) =>
    (venues === undefined || venues.includes(dex)) && (pools === undefined || pools.includes(address))
  return { ...graph, poolsBetween: (a, b) => graph.poolsBetween(a, b).filter(passes) }
}

const hopsOf = ({ shares }: Leg, clock: ChainClock): ReadonlyArray<RouteSwap> =>
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

/** The best rate among this hop's pools for a vanishingly small trade. */
const rateOfLeg = ({ shares }: Leg, clock: ChainClock): Rate =>
  shares
    .map(({ pool, inputMint }) => rateOf(pool, inputMint, clock))
    .reduce((best, rate) => (rate.numerator * best.denominator > best.numerator * rate.denominator ? rate : best))

/** Shortfall of the whole route against its marginal rate. Null in the same cases as for a single swap. */
const routeImpact = (legs: ReadonlyArray<Leg>, amount: bigint, out: bigint, clock: ChainClock): number | null => {
  const rate = legs
    .map((leg) => rateOfLeg(leg, clock))
    .reduce((all, { numerator, denominator }) => ({
      numerator: all.numerator * numerator,
      denominator: all.denominator * denominator
    }))
  return impactAgainst(rate, amount, out)
}

const slotsOf = (legs: ReadonlyArray<Leg>): ReadonlyArray<number> =>
  legs.flatMap(({ shares }) => shares.map(({ pool }) => pool.slot))

/** The route that pays most, with hops divided where that pays more; null when there is none. */
export const pricedRoute = (graph: PoolGraph, request: QuoteRequest, clock: ChainClock): PricedRoute | null => {
  const { inputMint, outputMint, amount, directOnly, maxHops = DEFAULT_HOPS } = request
  const trade: { inputMint: Mint; outputMint: Mint; amount: bigint; maxHops: number } = {
    inputMint,
    outputMint,
    amount,
    maxHops: directOnly === true ? 1 : Math.min(maxHops, MAX_HOPS)
  }
  const usable = filtered(graph, request)
  const last = bestPath(usable, trade, clock)
  if (last === null) {
    return null
  }
  const legs = splitRoute(usable, last, amount, clock)
  const outAmount = legs.at(-1)?.amountOut ?? 0n
  return {
    engine: ROUTER_ENGINE,
    route: legs.flatMap((leg) => hopsOf(leg, clock)),
    outAmount,
    priceImpactPct: last.exhausted ? null : routeImpact(legs, amount, outAmount, clock),
    clamped: last.exhausted,
    stateSlot: Math.min(...slotsOf(legs)),
    feeBasis: undefined
  }
}

/** The quote object, and the route of one direct swap. */
import type { ChainClock } from "../domain/OnChainAccount.ts"
import { SOL } from "../domain/Address.ts"
import { uiNumber } from "../domain/decimal.ts"
import type { Hop, QuoteRequest, SpotQuote } from "../api/schemas/Quote.ts"
import type { Freshness } from "../chain/ChainFeed.ts"
import { type Best, impactPct } from "./bestDirect.ts"
import { maximumIn, minimumOut, netOfSolFee } from "./directRoute.ts"
import { silence } from "./pools/freshness.ts"
import type { VenueProofs } from "./VenueProofs.ts"

const NATIVE_ENGINE = "svc_native_cache"

/** When a quote is made, and from which state. */
export interface Moment {
  readonly nowMs: number
  readonly freshness: Freshness
  readonly clock: ChainClock
  readonly proofs: Pick<VenueProofs, "provenAtSlot">
}

/** One swap of a route, without its evidence. `executedAtSlot` is of a swap that was priced by executing it. */
export type RouteSwap = Omit<Hop, "provenAtSlot"> & { readonly executedAtSlot?: number }

/** What the trader receives. On a sale the SOL fee comes out of the proceeds; on a purchase it is paid on top. */
const proceeds = (request: QuoteRequest, { swap }: Best, feeBps: bigint): bigint =>
  request.outputMint === SOL ? netOfSolFee(swap.amountOut, feeBps) : swap.amountOut

/** How the service's fee is charged; undefined without one. */
export const feeBasisOf = ({ outputMint }: QuoteRequest, feeBps: bigint): SpotQuote["feeBasis"] => {
  if (feeBps === 0n) {
    return undefined
  }
  return outputMint === SOL ? "net" : "principal"
}

/** A priced route, from either finder. */
export interface PricedRoute {
  readonly engine: string
  readonly route: ReadonlyArray<RouteSwap>
  /** What the trade takes from the trader, before a fee on top of it. */
  readonly inAmount: bigint
  /** What the trader receives, after fees. */
  readonly outAmount: bigint
  readonly priceImpactPct: number | null
  readonly clamped: boolean
  readonly stateSlot: number
  /** How the service's fee is charged; undefined for an engine without one. */
  readonly feeBasis: SpotQuote["feeBasis"] | undefined
  /** Venues of the pair that have no exact-output swap and were left out; missing for an exact input. */
  readonly withoutExactOut?: ReadonlyArray<string>
}

/** One direct swap as a route. `feeBps` is the service's fee on the SOL leg. */
export const directRoute = (request: QuoteRequest, best: Best, { clock }: Moment, feeBps: bigint): PricedRoute => {
  const { inputMint, outputMint } = request
  const { pool, swap } = best
  const { amountIn, amountOut } = swap
  const priceImpactPct = impactPct(best, inputMint, clock)
  return {
    engine: NATIVE_ENGINE,
    route: [
      { dex: pool.dex, inputMint, outputMint, pool: pool.address, percent: 100, amountIn, amountOut, priceImpactPct }
    ],
    inAmount: request.swapMode === "exactOut" ? amountIn : request.amount,
    outAmount: proceeds(request, best, feeBps),
    priceImpactPct,
    clamped: swap.ending === "exhausted",
    stateSlot: pool.slot,
    feeBasis: feeBasisOf(request, feeBps)
  }
}

/** What only the quote of an exact output has. */
const exactOutFields = ({ slippageBps, swapMode }: QuoteRequest, route: PricedRoute) =>
  swapMode === "exactOut" && {
    swapMode,
    maxInAmount: maximumIn(route.inAmount, slippageBps),
    withoutExactOut: route.withoutExactOut ?? []
  }

/** The quote object, without its id and duration. */
export const spotQuote = (
  request: QuoteRequest,
  route: PricedRoute,
  { nowMs, freshness, proofs }: Moment
): Omit<SpotQuote, "requestId" | "engineTimeMs"> => {
  const { inputMint, outputMint, slippageBps, outputDecimals } = request
  const { outAmount, feeBasis, ...priced } = route
  const minOutAmount = request.swapMode === "exactOut" ? outAmount : minimumOut(outAmount, slippageBps)
  return {
    inputMint,
    outputMint,
    inAmount: priced.inAmount,
    outAmount,
    minOutAmount,
    ...exactOutFields(request, route),
    ...(outputDecimals !== undefined && {
      outUiAmount: uiNumber(outAmount, outputDecimals),
      minOutUiAmount: uiNumber(minOutAmount, outputDecimals)
    }),
    slippageBps,
    impactMeasurable: priced.priceImpactPct !== null,
    clamped: priced.clamped,
    route: priced.route.map(({ executedAtSlot, ...swap }) => ({
      ...swap,
      provenAtSlot: executedAtSlot ?? proofs.provenAtSlot(swap.dex)
    })),
    venues: Array.from(new Set(priced.route.map(({ dex }) => dex))),
    engine: priced.engine,
    priceImpactPct: priced.priceImpactPct,
    contextSlot: freshness.slot,
    swapUsdValue: null,
    quotedAtMs: nowMs,
    stateSlot: priced.stateSlot,
    stateAgeMs: silence(freshness, nowMs),
    ...(feeBasis !== undefined && { feeBasis })
  }
}

/** The quote of one direct swap. */
import type { ChainClock } from "../domain/Account.ts"
import { SOL } from "../domain/Address.ts"
import { uiNumber } from "../domain/decimal.ts"
import type { QuoteRequest, SpotQuote } from "../domain/Quote.ts"
import type { Freshness } from "../solana/ChainFeed.ts"
import { type Best, impactPct } from "./bestDirect.ts"
import { minimumOut, netOfSolFee } from "./directRoute.ts"
import { silence } from "./freshness.ts"

/** Label of quotes priced from this process's own memory. */
export const NATIVE_ENGINE = "svc_native_cache"

/** When and from what a quote is made. */
export interface Moment {
  readonly nowMs: number
  readonly freshness: Freshness
  readonly clock: ChainClock
}

/** What the trader is left with: sales lose the SOL fee, purchases pay it on top. */
export const proceeds = (request: QuoteRequest, { swap }: Best): bigint =>
  request.outputMint === SOL ? netOfSolFee(swap.amountOut) : swap.amountOut

/** The quote object, but for what is known only once it is made: its id and how long it took. */
export const spotQuote = (
  request: QuoteRequest,
  best: Best,
  { nowMs, freshness, clock }: Moment
): Omit<SpotQuote, "requestId" | "engineTimeMs"> => {
  const { inputMint, outputMint, amount, slippageBps, outputDecimals } = request
  const { pool, swap } = best
  const outAmount = proceeds(request, best)
  const minOutAmount = minimumOut(outAmount, slippageBps)
  const priceImpactPct = impactPct(best, inputMint, clock)
  const { amountIn, amountOut } = swap
  return {
    inputMint,
    outputMint,
    inAmount: amount,
    outAmount,
    minOutAmount,
    ...(outputDecimals !== undefined && {
      outUiAmount: uiNumber(outAmount, outputDecimals),
      minOutUiAmount: uiNumber(minOutAmount, outputDecimals)
    }),
    slippageBps,
    impactMeasurable: priceImpactPct !== null,
    clamped: swap.ending === "exhausted",
    route: [
      { dex: pool.dex, inputMint, outputMint, pool: pool.address, percent: 100, amountIn, amountOut, priceImpactPct }
    ],
    venues: [pool.dex],
    engine: NATIVE_ENGINE,
    priceImpactPct,
    contextSlot: freshness.slot,
    swapUsdValue: null,
    quotedAtMs: nowMs,
    stateSlot: pool.slot,
    stateAgeMs: silence(freshness, nowMs),
    feeBasis: outputMint === SOL ? "net" : "principal"
  }
}

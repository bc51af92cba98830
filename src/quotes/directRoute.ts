/** Routes of the native engine: one SOL leg, one pool. Pure. Checks run in this file's order. */
import type { Pool } from "../programs/interface/Program.ts"
import { SOL, type Mint } from "../domain/Address.ts"
import { NoRoute, type QuoteRequest, RouteNotSupported, StateCold } from "../api/schemas/Quote.ts"
import { BPS } from "../domain/units.ts"
import type { MintPools } from "./pools/MintPools.ts"

/** The service's fee on the SOL leg in basis points, unless `PLATFORM_FEE_BPS` is set. */
export const SOL_FEE_BPS = 100

/** Why a request of this shape can never be served; null when it can. */
export const unsupportedShape = (request: QuoteRequest): RouteNotSupported | null => {
  if (request.inputMint !== SOL && request.outputMint !== SOL) {
    return new RouteNotSupported({ detail: "One side must be SOL." })
  }
  if (request.directOnly === false) {
    return new RouteNotSupported({ detail: "Only direct routes are served: leave directOnly out or send true." })
  }
  return sameMint(request)
}

/** Refuses to trade a mint for itself, on any engine. */
export const sameMint = ({ inputMint, outputMint }: QuoteRequest): RouteNotSupported | null =>
  inputMint === outputMint ? new RouteNotSupported({ detail: "The two mints are the same." }) : null

/** The mint of the pair whose pools have to be loaded. */
export const tokenOf = (request: QuoteRequest): Mint =>
  request.inputMint === SOL ? request.outputMint : request.inputMint

/** What a sale for `gross` lamports leaves after the fee. The fee is rounded up. */
export const netOfSolFee = (gross: bigint, feeBps: bigint): bigint => gross - (gross * feeBps + BPS - 1n) / BPS

/** The least proceeds of a sale that leave `net` lamports after the fee. `netOfSolFee` gives back exactly `net`. */
export const grossOfSolFee = (net: bigint, feeBps: bigint): bigint => (net * BPS + BPS - feeBps - 1n) / (BPS - feeBps)

/** The most input that the slippage allows, rounded up. */
export const maximumIn = (input: bigint, slippageBps: number): bigint =>
  (input * (BPS + BigInt(slippageBps)) + BPS - 1n) / BPS

/** The least output that the slippage allows, rounded down. */
export const minimumOut = (out: bigint, slippageBps: number): bigint => (out * (BPS - BigInt(slippageBps))) / BPS

type Filters = Pick<QuoteRequest, "venues" | "excludeVenues" | "pools">

/** True for pools that pass the request's filters; null when the request has no filter. */
export const poolFilter = ({ venues, excludeVenues, pools }: Filters): ((pool: Named) => boolean) | null =>
  venues === undefined && excludeVenues === undefined && pools === undefined
    ? null
    : ({ address, dex }) =>
        (venues === undefined || venues.includes(dex)) &&
        excludeVenues?.includes(dex) !== true &&
        (pools === undefined || pools.includes(address))

type Named = Pick<Pool, "address" | "dex">

/** The pair's pools that pass the request's filters, or why there is nothing to price. */
export const candidates = (
  known: MintPools,
  request: QuoteRequest
): ReadonlyArray<Pool> | NoRoute | StateCold | RouteNotSupported => {
  const { inputMint, outputMint } = request
  const passes = poolFilter(request)
  const usable = passes === null ? known.pools : known.pools.filter(passes)
  if (usable.length > 0) {
    return usable
  }
  const refused = passes === null ? known.refused : known.refused.filter(passes)
  if (refused.some(({ reason }) => reason === "incomplete")) {
    return new StateCold({ mint: tokenOf(request) })
  }
  const unsupported = refused.find(({ reason }) => reason === "unsupported")
  return unsupported === undefined
    ? new NoRoute({ inputMint, outputMint })
    : new RouteNotSupported({
        detail: `Pool ${unsupported.address} (${unsupported.dex}) is not served: ${unsupported.detail}.`
      })
}

/** Rules over several fields of market subscriptions. */
import { Schema } from "effect"
import type { Address } from "../../domain/Address.ts"

/** Trades need one of mint, pool and wallet, or a least value. */
export const oneSelector = Schema.makeFilter(
  (terms: {
    readonly mint?: Address
    readonly pool?: Address
    readonly wallet?: Address
    readonly minUsd?: string
  }) => {
    const selectors = [terms.mint, terms.pool, terms.wallet].filter((one) => one !== undefined)
    if (selectors.length > 1) {
      return { path: ["mint"], issue: "One of mint, pool and wallet may be given." }
    }
    return selectors.length === 1 || terms.minUsd !== undefined
      ? undefined
      : { path: ["minUsd"], issue: "One of mint, pool, wallet and minUsd is required." }
  },
  { toJsonSchema: () => ({ anyOf: ["mint", "pool", "wallet", "minUsd"].map((name) => ({ required: [name] })) }) }
)

/** Candles need either a mint or a pool. */
export const mintOrPool = Schema.makeFilter(
  ({ mint, pool }: { readonly mint?: Address; readonly pool?: Address }) =>
    (mint === undefined) === (pool === undefined)
      ? { path: ["mint"], issue: "Either mint or pool is required." }
      : undefined,
  { toJsonSchema: () => ({ oneOf: [{ required: ["mint"] }, { required: ["pool"] }] }) }
)

/** A quote needs two different mints. */
export const twoMints = Schema.makeFilter(
  ({ inputMint, outputMint }: { readonly inputMint: Address; readonly outputMint: Address }) =>
    inputMint === outputMint ? { path: ["outputMint"], issue: "outputMint must differ from inputMint." } : undefined,
  { toJsonSchema: () => ({}) }
)

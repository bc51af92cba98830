/** Tokens as market answers name them, from the loaded books. It loads nothing. */
import { type Mint, SOL, USDC } from "../../domain/Address.ts"
import { bareToken, type TokenRef } from "../../api/schemas/Token.ts"
import type { TokenBook } from "../../tokens/TokenBook.ts"
import type { Market } from "../tape/Market.ts"

/** Decimals of SOL and USDC. */
const MONEY_DECIMALS = new Map([
  [SOL, 9],
  [USDC, 6]
])

/** The sources of names, decimals and supplies. */
export interface TokenSources {
  readonly tokens: Pick<TokenBook["Service"], "read">
  readonly tape: Pick<Market["Service"], "decimalsOf">
}

/** A token with its known names and decimals. */
export const tokenRef = ({ tape, tokens }: TokenSources, mint: Mint): TokenRef => {
  const state = tokens.read(mint)
  const token = state?._tag === "Token" ? state : null
  return {
    ...bareToken(mint),
    symbol: token?.metadata?.symbol ?? null,
    name: token?.metadata?.name ?? null,
    decimals: MONEY_DECIMALS.get(mint) ?? token?.facts?.decimals ?? tape.decimalsOf(mint)
  }
}

/** Tokens that are loaded for one view. */
const MOST_LOADED = 20

/**
 * The tokens of a view that should be loaded, given with their liquidity (null is unknown). Tokens that are not loaded
 * at all come first. A token whose pools are not found stays among the others.
 */
export const tokensToLoad = (
  { tokens }: Pick<TokenSources, "tokens">,
  shown: ReadonlyArray<readonly [mint: Mint, liquidity: string | null]>
): ReadonlyArray<Mint> => {
  const unknown = shown.filter(([mint]) => tokens.read(mint) === null)
  const unpriced = shown.filter(([mint, liquidity]) => liquidity === null && tokens.read(mint) !== null)
  return [...unknown, ...unpriced].slice(0, MOST_LOADED).map(([mint]) => mint)
}

/** The supply of a token in its smallest units, and when it was observed on chain. */
export interface Supply {
  readonly units: bigint
  readonly decimals: number
  readonly observedAtMs: number | null
  /** The slots of the first and the last observation of this supply. No other supply was observed between them. */
  readonly fromSlot: number
  readonly toSlot: number
}

/** The supply; null when unknown. Wrapped SOL has none, because lamports are not minted there. */
export const supplyOf = ({ tokens }: TokenSources, mint: Mint): Supply | null => {
  const state = mint === SOL ? null : tokens.read(mint)
  return state?._tag !== "Token" || state.facts === null
    ? null
    : {
        units: state.facts.supply,
        decimals: state.facts.decimals,
        observedAtMs: state.observation.observedAtMs,
        fromSlot: state.supplySlot ?? state.observation.slot,
        toSlot: state.observation.slot
      }
}

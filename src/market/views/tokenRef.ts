/** Tokens as market answers name them, from what the books happen to hold. Nothing is loaded for it. */
import { type Mint, SOL, USDC } from "../../domain/Address.ts"
import { bareToken, type TokenRef } from "../../domain/market/Token.ts"
import type { TokenBook } from "../../tokens/TokenBook.ts"
import type { TradeTape } from "../tape/TradeTape.ts"

/** The money of the chain is known without asking it. */
const MONEY_DECIMALS = new Map([
  [SOL, 9],
  [USDC, 6]
])

/** Where names, decimals and supplies come from. */
export interface TokenSources {
  readonly tokens: Pick<TokenBook["Service"], "read">
  readonly tape: Pick<TradeTape["Service"], "decimalsOf">
}

/** The token by its address, with whatever is known of it. */
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

/** Every unit of a token there is, and when the chain said so. */
export interface Supply {
  readonly units: bigint
  readonly decimals: number
  readonly observedAtMs: number | null
}

/** The supply; null when unknown. The mint of wrapped SOL counts nothing: lamports are not minted there. */
export const supplyOf = ({ tokens }: TokenSources, mint: Mint): Supply | null => {
  const state = mint === SOL ? null : tokens.read(mint)
  return state?._tag !== "Token" || state.facts === null
    ? null
    : { units: state.facts.supply, decimals: state.facts.decimals, observedAtMs: state.observation.observedAtMs }
}

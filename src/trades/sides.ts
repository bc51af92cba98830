/** Side of a trade: which of its two mints is the quote. */
import { Address, type Mint, SOL, USDC } from "../domain/Address.ts"
import type { Quantity } from "../domain/market/Trade.ts"

/** Tether's dollar on Solana mainnet, 6 decimals. */
export const USDT: Mint = Address.make("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")

/** True for mints that count as a dollar. */
export const isDollar = (mint: Mint): boolean => mint === USDC || mint === USDT

/** True for quote mints: SOL or a dollar. */
export const isMoney = (mint: Mint): boolean => mint === SOL || isDollar(mint)

const rankOf = (mint: Mint): number => (mint === USDC ? 3 : mint === USDT ? 2 : mint === SOL ? 1 : 0)

/** Side, token and quote of a swap. Between two mints that are not quote mints, the input is the quote. */
export const sidesOf = (
  gave: Quantity,
  got: Quantity
): { readonly side: "buy" | "sell"; readonly token: Quantity; readonly quote: Quantity } =>
  rankOf(got.mint) > rankOf(gave.mint)
    ? { side: "sell", token: gave, quote: got }
    : { side: "buy", token: got, quote: gave }

/** Which of two mints is the money, and so whether a trade bought or sold. */
import { Address, type Mint, SOL, USDC } from "../domain/Address.ts"
import type { Quantity } from "../domain/market/Trade.ts"

/** Tether's dollar on Solana mainnet, 6 decimals. */
export const USDT: Mint = Address.make("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")

/** Whether the mint is taken as a dollar. */
export const isDollar = (mint: Mint): boolean => mint === USDC || mint === USDT

/** Whether the mint is what others are paid with: SOL or a dollar. */
export const isMoney = (mint: Mint): boolean => mint === SOL || isDollar(mint)

const rankOf = (mint: Mint): number => (mint === USDC ? 3 : mint === USDT ? 2 : mint === SOL ? 1 : 0)

/** The side, the token and the money of an exchange. Between two mints of no rank, what was given is the money. */
export const sidesOf = (
  gave: Quantity,
  got: Quantity
): { readonly side: "buy" | "sell"; readonly token: Quantity; readonly quote: Quantity } =>
  rankOf(got.mint) > rankOf(gave.mint)
    ? { side: "sell", token: gave, quote: got }
    : { side: "buy", token: got, quote: gave }

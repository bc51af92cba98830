/** Mints that count as dollars. */
import { Address, type Mint, SOL, USDC } from "./Address.ts"

/** Tether's dollar on Solana mainnet, 6 decimals. */
export const USDT: Mint = Address.make("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")

/** Stable coins of Solana mainnet with 6 decimals: USDC, USDT, USD1 and PYUSD. */
export const DOLLARS: ReadonlyArray<Mint> = [
  USDC,
  USDT,
  Address.make("USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB"),
  Address.make("2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo")
]

/** Decimals of every mint that counts as dollars. */
export const DOLLAR_DECIMALS = 6

const dollars: ReadonlySet<Mint> = new Set(DOLLARS)

/** True for mints that count as dollars. */
export const isDollar = (mint: Mint): boolean => dollars.has(mint)

/** True for SOL and for mints that count as dollars. */
export const isMoney = (mint: Mint): boolean => mint === SOL || isDollar(mint)

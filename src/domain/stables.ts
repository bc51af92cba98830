/** Mints that count as a dollar. */
import { Address, type Mint, USDC } from "./Address.ts"

/** Tether's dollar on Solana mainnet, 6 decimals. */
export const USDT: Mint = Address.make("Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB")

/** Stable coins of Solana mainnet with 6 decimals: USDC, USDT, USD1 and PYUSD. */
export const DOLLARS: ReadonlyArray<Mint> = [
  USDC,
  USDT,
  Address.make("USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB"),
  Address.make("2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo")
]

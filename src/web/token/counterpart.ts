/** The mints that tokens are traded against. */

/** A mint with its symbol and decimals. */
export interface Counterpart {
  readonly mint: string
  readonly symbol: string
  readonly decimals: number
}

/** Wrapped SOL. */
export const SOL: Counterpart = { mint: "So11111111111111111111111111111111111111112", symbol: "SOL", decimals: 9 }
/** The dollar that SOL itself is traded against. */
export const USDC: Counterpart = { mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", symbol: "USDC", decimals: 6 }

/** SOL or USDC by its mint; undefined for any other. */
export const counterpartOf = (mint: string): Counterpart | undefined => [SOL, USDC].find((each) => each.mint === mint)

/** The mints that tokens trade against. */

export interface Counterpart {
  readonly mint: string
  readonly symbol: string
  readonly decimals: number
}

/** Wrapped SOL. */
export const SOL: Counterpart = { mint: "So11111111111111111111111111111111111111112", symbol: "SOL", decimals: 9 }
/** The dollar that SOL itself trades against. */
export const USDC: Counterpart = { mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", symbol: "USDC", decimals: 6 }

/** SOL or USDC by mint; undefined for any other mint. */
export const counterpartOf = (mint: string): Counterpart | undefined => [SOL, USDC].find((each) => each.mint === mint)

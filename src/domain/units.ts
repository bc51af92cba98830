/** Ratios of a large unit to its small unit. */

/** 100 % in basis points. */
export const BPS = 10_000n

/** Decimals of dollar sums. Sums are whole nano-dollars. */
export const USD_DIGITS = 9

/** One dollar, in nano-dollars. */
export const NANOS_PER_USD = 1_000_000_000n

/** One SOL, in lamports. */
export const LAMPORTS_PER_SOL = 1_000_000_000n

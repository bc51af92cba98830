/** Finds the pool that pays most for a direct swap. Pure: every quote runs through here. */
import type { Pool, Rate, Swap } from "../programs/interface/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import { MAX_U64 } from "../domain/Amount.ts"
import { shortfallPct } from "../domain/decimal.ts"

/** The chosen pool and its swap. */
export interface Best {
  readonly pool: Pool
  readonly swap: Swap
}

/** An impact below this many percentage points is noise. */
const NOISE_FLOOR_PCT = 0.1
const REFUSED: Swap = { ending: "refused", amountIn: 0n, amountOut: 0n }

const UNKNOWN: Rate = { numerator: 0n, denominator: 0n }

/**
 * Asks one pool for a swap. A pool whose arithmetic throws counts as refusing, so that it does not fail the request.
 */
export const attempt = (pool: Pool, inputMint: Mint, amount: bigint, clock: ChainClock): Swap => {
  try {
    return pool.swap(pool.mintA === inputMint, amount, clock)
  } catch {
    return REFUSED
  }
}

/** True when the pool's program has a swap with an exact output that sells this mint. */
export const hasExactOut = ({ exactOutOnly, mintA, swapExactOut }: Pool, inputMint: Mint): boolean =>
  swapExactOut !== undefined && (exactOutOnly === undefined || (exactOutOnly === "aToB") === (mintA === inputMint))

/**
 * Asks one pool for the input of an exact output: what the program's own exact-output swap takes, which rounds the
 * input up. Refused when the program has no such swap, when the pool cannot pay the whole output, or when the input
 * is more than a token account can hold.
 */
export const attemptOut = (pool: Pool, inputMint: Mint, amountOut: bigint, clock: ChainClock): Swap => {
  try {
    const swap = hasExactOut(pool, inputMint)
      ? pool.swapExactOut?.(pool.mintA === inputMint, amountOut, clock)
      : undefined
    return swap?.ending === "filled" && swap.amountOut >= amountOut && swap.amountIn > 0n && swap.amountIn <= MAX_U64
      ? swap
      : REFUSED
  } catch {
    return REFUSED
  }
}

/** The pool's marginal rate; 0/0 when it is unknown. */
export const rateOf = (pool: Pool, inputMint: Mint, clock: ChainClock): Rate => {
  try {
    return pool.marginalRate(pool.mintA === inputMint, clock)
  } catch {
    return UNKNOWN
  }
}

const isBetter = (swap: Swap, pool: Pool, best: Best | null): boolean => {
  if (best === null || swap.ending !== best.swap.ending) {
    return best === null || swap.ending === "filled"
  }
  return (
    swap.amountOut > best.swap.amountOut || (swap.amountOut === best.swap.amountOut && pool.address < best.pool.address)
  )
}

/**
 * The pool with the greatest output. Pools that take the whole amount win over pools that run out of liquidity. Equal
 * outputs go to the lowest address. Null when every pool refuses or pays nothing.
 */
export const bestDirect = (
  pools: ReadonlyArray<Pool>,
  trade: { readonly inputMint: Mint; readonly amount: bigint },
  clock: ChainClock
): Best | null => {
  let best: Best | null = null
  for (const pool of pools) {
    const swap = attempt(pool, trade.inputMint, trade.amount, clock)
    if (swap.ending !== "refused" && swap.amountOut > 0n && isBetter(swap, pool, best)) {
      best = { pool, swap }
    }
  }
  return best
}

/** The pool with the least input for an exact output. Equal inputs go to the lowest address. Null when none pays it. */
export const cheapestDirect = (
  pools: ReadonlyArray<Pool>,
  trade: { readonly inputMint: Mint; readonly amount: bigint },
  clock: ChainClock
): Best | null => {
  let best: Best | null = null
  for (const pool of pools) {
    const swap = attemptOut(pool, trade.inputMint, trade.amount, clock)
    const isCheaper =
      best === null ||
      swap.amountIn < best.swap.amountIn ||
      (swap.amountIn === best.swap.amountIn && pool.address < best.pool.address)
    if (swap.ending === "filled" && isCheaper) {
      best = { pool, swap }
    }
  }
  return best
}

/**
 * How far a trade falls short of the rate, in percentage points with six decimals. Null when the rate is unknown, or
 * when the shortfall is below the noise floor of 0.1.
 */
export const impactAgainst = ({ numerator, denominator }: Rate, amountIn: bigint, amountOut: bigint): number | null => {
  if (numerator <= 0n || denominator <= 0n) {
    return null
  }
  const pct = shortfallPct(amountOut * denominator, amountIn * numerator)
  return pct < NOISE_FLOOR_PCT ? null : pct
}

/** Impact of one swap against its pool's marginal rate. Null also when the pool did not take the whole amount. */
export const impactPct = ({ pool, swap }: Best, inputMint: Mint, clock: ChainClock): number | null =>
  swap.ending === "filled" ? impactAgainst(rateOf(pool, inputMint, clock), swap.amountIn, swap.amountOut) : null

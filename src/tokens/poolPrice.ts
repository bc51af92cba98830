/** Mid rate, depth and fee of a pool, and the weighted median over pools. Pure. */
import { minBigInt } from "../programs/math/integers.ts"
import type { Pool } from "../programs/interface/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import { MAX_U64 } from "../domain/Amount.ts"
import { compare, type Rational } from "../domain/rational.ts"
import { attempt, rateOf } from "../quotes/bestDirect.ts"

/** A price and its weight. */
export interface Weighted {
  readonly price: Rational
  readonly weight: bigint
}

/** The other mint of the pool. */
export const otherSide = (pool: Pool, mint: Mint): Mint => (pool.mintA === mint ? pool.mintB : pool.mintA)

/** Divisor of a reserve for the probe swap that tests whether the pool trades. */
const PROBE_PARTS = 1000n

/**
 * True if the program accepts a swap in the pool now. A rate does not prove it: a pool that opens tomorrow has a rate
 * today.
 */
const isTrading = (pool: Pool, mid: Rational, mint: Mint, clock: ChainClock): boolean => {
  const held = pool.mintA === mint ? pool.reserves?.[0] : pool.reserves?.[1]
  const sold = held === undefined ? MAX_U64 : held / PROBE_PARTS + 1n
  const spent = held === undefined ? MAX_U64 : (sold * mid.numerator) / mid.denominator + 1n
  // One direction is enough: a bonding curve without purchases cannot buy back.
  return (
    attempt(pool, mint, sold, clock).ending !== "refused" ||
    attempt(pool, otherSide(pool, mint), spent, clock).ending !== "refused"
  )
}

/**
 * Units of the other side for one unit of `mint`: the mean of the marginal sale and purchase rates after fees. In this
 * mean fees cancel out to the second order. Null when one of the rates is missing or the pool does not trade now.
 */
export const midRate = (pool: Pool, mint: Mint, clock: ChainClock): Rational | null => {
  const bid = rateOf(pool, mint, clock)
  const ask = rateOf(pool, otherSide(pool, mint), clock)
  if (bid.numerator <= 0n || bid.denominator <= 0n || ask.numerator <= 0n || ask.denominator <= 0n) {
    return null
  }
  const mid = {
    numerator: bid.numerator * ask.numerator + bid.denominator * ask.denominator,
    denominator: 2n * bid.denominator * ask.numerator
  }
  return isTrading(pool, mid, mint, clock) ? mid : null
}

/** Depth is measured up to these prices of the base: 2 % lower for a sale, 2 % higher for a purchase. */
const LOWER: Rational = { numerator: 98n, denominator: 100n }
const HIGHER: Rational = { numerator: 102n, denominator: 100n }

/** A swap that moves the price of a pool by 2 %. */
export interface DepthSwap {
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** False when the accounts in memory end before the price has moved so far. The amounts then reach up to that end. */
  readonly complete: boolean
}

/** Depth of a pool within 2 % of its price, seen from one of its mints. */
export interface PoolDepth {
  /** Sale of the mint until its price is 2 % lower. Null when the pool does not accept it. */
  readonly sale: DepthSwap | null
  /** Purchase of the mint until its price is 2 % higher. Null when the pool does not accept it. */
  readonly purchase: DepthSwap | null
}

const NO_SWAP: DepthSwap = { amountIn: 0n, amountOut: 0n, complete: true }

const moveBy = (pool: Pool, input: Mint, share: Rational, clock: ChainClock): DepthSwap | null => {
  try {
    const move = pool.inputTo?.(pool.mintA === input, share, clock)
    if (move === undefined) {
      return null
    }
    if (move.amountIn <= 0n) {
      return { ...NO_SWAP, complete: move.complete }
    }
    const { amountIn, amountOut, ending } = pool.swap(pool.mintA === input, minBigInt(move.amountIn, MAX_U64), clock)
    return ending === "refused" ? null : { amountIn, amountOut, complete: move.complete }
  } catch {
    return null
  }
}

/**
 * Swaps that move the price of a pool by 2 %, computed by the pool itself. When the price is 2 % higher, the price of
 * the other side is divided by 1.02.
 */
export const depthOf = (pool: Pool, mint: Mint, clock: ChainClock): PoolDepth => ({
  sale: moveBy(pool, mint, LOWER, clock),
  purchase: moveBy(pool, otherSide(pool, mint), { numerator: HIGHER.denominator, denominator: HIGHER.numerator }, clock)
})

/**
 * Weight of a pool in the median, in units of `quote`: the smaller of what the pool pays for the sale and what it takes
 * for the purchase. So a pool that offers only one side of a false price has no weight. Zero when either amount is
 * unknown.
 */
export const weightOf = ({ purchase, sale }: PoolDepth): bigint =>
  minBigInt(sale?.amountOut ?? 0n, purchase?.amountIn ?? 0n)

/**
 * The item with the weighted median price. Pools with less than half of the weight cannot move it past the others. Null
 * for an empty list. O(n log n).
 */
export const medianPrice = <Item extends Weighted>(items: ReadonlyArray<Item>): Item | null => {
  const ascending = items.toSorted((a, b) => compare(a.price, b.price))
  const total = items.reduce((sum, { weight }) => sum + weight, 0n)
  let below = 0n
  for (const item of ascending) {
    below += item.weight
    if (2n * below >= total) {
      return item
    }
  }
  return null
}

/**
 * The fee of the pool in basis points, to two decimals: the mean of both directions for a vanishingly small swap at the
 * pool's price. Transfer fees of the mints are not included. Null when the pool does not state its fee.
 */
export const feeBpsOf = (pool: Pool, clock: ChainClock): number | null => {
  const sell = pool.feeRate?.(true, clock)
  const buy = pool.feeRate?.(false, clock)
  if (sell === undefined || buy === undefined || sell.denominator <= 0n || buy.denominator <= 0n) {
    return null
  }
  // Twice the mean, in hundredths of a basis point.
  const twice = (sell.numerator * buy.denominator + buy.numerator * sell.denominator) * 1_000_000n
  const divisor = sell.denominator * buy.denominator
  return Number((twice + divisor) / (2n * divisor)) / 100
}

/** Mid rate, payable amount and fee of a pool, and the weighted median over pools. Pure. */
import { squareRoot } from "../programs/math/integers.ts"
import type { Pool } from "../programs/Program.ts"
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
 * True if the program accepts a swap of the pool now. A rate does not imply it: a pool that opens tomorrow has one today.
 * For pools without stated reserves, `payable` has tested it.
 */
const isTrading = (pool: Pool, mid: Rational, mint: Mint, clock: ChainClock): boolean => {
  if (pool.reserves === undefined) {
    return true
  }
  const sold = (pool.mintA === mint ? pool.reserves[0] : pool.reserves[1]) / PROBE_PARTS + 1n
  const spent = (sold * mid.numerator) / mid.denominator + 1n
  // One direction suffices: a bonding curve without purchases cannot buy back.
  return (
    attempt(pool, mint, sold, clock).ending !== "refused" ||
    attempt(pool, otherSide(pool, mint), spent, clock).ending !== "refused"
  )
}

/**
 * Units of the other side for one unit of `mint`: the mean of the marginal sale and purchase rates after fees, so that the
 * fees cancel to the second order. Null when one of the rates is missing or the pool does not trade now.
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

/**
 * Units of `mint` that the pool can pay out: its reserve where stated, else the output of an unbounded sale. Null when the
 * program rejects such a sale.
 */
export const payable = (pool: Pool, mint: Mint, clock: ChainClock): bigint | null => {
  if (pool.reserves !== undefined) {
    return pool.mintA === mint ? pool.reserves[0] : pool.reserves[1]
  }
  const { amountOut, ending } = attempt(pool, otherSide(pool, mint), MAX_U64, clock)
  return ending === "refused" ? null : amountOut
}

/**
 * The weighted median price: the price of one item, which a pool with less than half of the weight cannot move past the
 * others. Null for an empty list. O(n log n).
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
 * The fee of the pool in basis points, to two decimals: the geometric mean of both directions, exact where both are equal.
 * Null for pools without stated reserves, because rates beside a price step include more than the fee.
 */
export const feeBpsOf = (pool: Pool, clock: ChainClock): number | null => {
  const sell = rateOf(pool, pool.mintA, clock)
  const buy = rateOf(pool, pool.mintB, clock)
  const dividend = sell.numerator * buy.numerator
  const divisor = sell.denominator * buy.denominator
  if (pool.reserves === undefined || dividend <= 0n || divisor <= 0n) {
    return null
  }
  // (1 - fee)², in units of 10^-24, so that its root is in units of 10^-12.
  const kept = squareRoot((dividend * 10n ** 24n) / divisor)
  return Math.max(0, Number((10n ** 12n - kept + 500_000n) / 1_000_000n)) / 100
}

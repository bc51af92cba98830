/** What one pool says of a price, and what it is worth listening to. Plain values in and out. */
import { squareRoot } from "../programs/math/integers.ts"
import type { Pool } from "../programs/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import { MAX_U64 } from "../domain/Amount.ts"
import { compare, type Rational } from "../domain/rational.ts"
import { attempt, rateOf } from "../quotes/bestDirect.ts"

/** A price, and how much money stands behind it. */
export interface Weighted {
  readonly price: Rational
  readonly weight: bigint
}

/** The other mint of the pool. */
export const otherSide = (pool: Pool, mint: Mint): Mint => (pool.mintA === mint ? pool.mintB : pool.mintA)

/** Parts of a reserve that are asked for to see whether the pool trades at all. */
const PROBE_PARTS = 1000n

/**
 * Whether the program takes any swap of the pool now. A rate alone does not tell: a pool that opens tomorrow has one today.
 * Where no reserves are stated, `payable` has asked already.
 */
const isTrading = (pool: Pool, mid: Rational, mint: Mint, clock: ChainClock): boolean => {
  if (pool.reserves === undefined) {
    return true
  }
  const sold = (pool.mintA === mint ? pool.reserves[0] : pool.reserves[1]) / PROBE_PARTS + 1n
  const spent = (sold * mid.numerator) / mid.denominator + 1n
  // Either way will do: a curve that nobody has bought from cannot buy back.
  return (
    attempt(pool, mint, sold, clock).ending !== "refused" ||
    attempt(pool, otherSide(pool, mint), spent, clock).ending !== "refused"
  )
}

/**
 * Units of the other side for one unit of `mint`: halfway between what a vanishing sale gets and what a vanishing purchase
 * costs, both after fees, so that the fees cancel to the second order. Null where the pool has no rate for one of the two,
 * and where it does not trade now.
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
 * Units of `mint` that the pool can pay out: its reserve where its accounts state it, else what a sale without end gets of
 * it. Null where the program refuses such a sale.
 */
export const payable = (pool: Pool, mint: Mint, clock: ChainClock): bigint | null => {
  if (pool.reserves !== undefined) {
    return pool.mintA === mint ? pool.reserves[0] : pool.reserves[1]
  }
  const { amountOut, ending } = attempt(pool, otherSide(pool, mint), MAX_U64, clock)
  return ending === "refused" ? null : amountOut
}

/**
 * The price at which half of the money stands below: one pool's own price, which no single pool with less than half of the
 * money can move past the others'. Null without any.
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
 * What the pool keeps of a trade, in basis points to two decimals: the geometric mean of both directions, which is the fee
 * itself where both pay the same. Null where the pool states no reserves: rates beside a price step are not fees alone.
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

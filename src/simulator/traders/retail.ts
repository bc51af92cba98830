/**
 * Trades of ordinary wallets. They compare a coin's believed value with its price and use the better of two pools.
 */
import { minBigInt } from "../../programs/math/integers.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import type { Worth } from "./arbitrage.ts"
import type { Random } from "../chain/Random.ts"
import type { SimPool } from "../chain/SimPool.ts"
import { type Carried, depthOf, otherMint, planSale, priceOf, reserveOf, sell, type Wrapper } from "../chain/trade.ts"
import type { World } from "../chain/World.ts"

/** A mint that can be traded. */
export interface Listing {
  readonly mint: Mint
  /** Open pools; at least one. */
  readonly pools: ReadonlyArray<SimPool>
  /** Initial value of an atomic unit in lamports. Beliefs revert to it. */
  readonly worth: number
  /** How much a belief changes per slot, as a fraction. */
  readonly volatility: number
  /** True for a coin that began on a launch curve. */
  readonly launched: boolean
}

/**
 * Makes one trade, or returns null. `worth` is the believed value of the mint, `share` the part of a pool's depth to
 * trade.
 */
type Retail = (wallet: Address, listing: Listing, worth: number, share: number, wrapper: Wrapper) => Carried | null

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

/** Makes retail trades. `prepare` tops a wallet up with a quote mint. */
export const makeRetail = (options: {
  readonly world: World
  readonly random: Random
  readonly worthOf: Worth
  readonly prepare: (wallet: Address, quote: Mint) => void
}): Retail => {
  const { world, random, worthOf, prepare } = options

  /** Sells in the better of two random pools. */
  const sellAtTheBetter = (
    wallet: Address,
    pools: ReadonlyArray<SimPool>,
    mint: Mint,
    share: number,
    most: bigint,
    wrapper: Wrapper
  ): Carried | null => {
    const tried = [random.pick(pools), random.pick(pools)].map((pool) => {
      const amountIn = minBigInt(most, BigInt(Math.floor(depthOf(pool, mint) * share)))
      const plan = planSale(world, pool, mint, amountIn)
      return { pool, amountIn, rate: plan === null ? -1 : Number(plan.amountOut) / Number(plan.amountIn) }
    })
    const [best] = tried.toSorted((a, b) => b.rate - a.rate)
    return best === undefined ? null : sell(world, wallet, best.pool, mint, best.amountIn, wrapper)
  }

  const spendable = (wallet: Address, mint: Mint): bigint => world.holding(wallet, mint) - reserveOf(mint)

  const buy = (wallet: Address, { mint, pools }: Listing, share: number, wrapper: Wrapper): Carried | null => {
    const quote = otherMint(random.pick(pools), mint)
    prepare(wallet, quote)
    const suitable = pools.filter((pool) => otherMint(pool, mint) === quote)
    return sellAtTheBetter(wallet, suitable, quote, share, spendable(wallet, quote) / 3n, wrapper)
  }

  return (wallet, listing, worth, share, wrapper) => {
    const { mint, pools } = listing
    const pool = random.pick(pools)
    const price = priceOf(pool, mint) * (worthOf(otherMint(pool, mint)) ?? 1)
    return random.chance(clamp(0.5 + (worth / price - 1) * 6, 0.12, 0.88))
      ? buy(wallet, listing, share, wrapper)
      : sellAtTheBetter(wallet, pools, mint, share, spendable(wallet, mint), wrapper)
  }
}

/** Arbitrage between the pools of one mint: buys in the cheapest and sells in the dearest, if there is a profit. */
import type { Address, Mint } from "../../domain/Address.ts"
import type { SimPool } from "../chain/SimPool.ts"
import { type Carried, depthOf, otherMint, planSale, priceOf, sell } from "../chain/trade.ts"
import type { World } from "../chain/World.ts"

/** What one atomic unit of a quote mint is worth in lamports; null for other mints. */
export type Worth = (mint: Mint) => number | null

/** A pool and its price of the mint, in lamports. */
interface Offer {
  readonly pool: SimPool
  readonly price: number
}

const offersOf = (pools: ReadonlyArray<SimPool>, mint: Mint, worth: Worth): ReadonlyArray<Offer> =>
  pools.flatMap((pool) => {
    const unit = worth(otherMint(pool, mint))
    return unit === null ? [] : [{ pool, price: priceOf(pool, mint) * unit }]
  })

/** How often a smaller size is tried: each attempt halves the previous size, until the round trip is profitable. */
const TRIES = 4

/** Transaction fees that a round trip must earn as well, in lamports. */
const FEE_LAMPORTS = 10_000

/** A smaller spread is never profitable: the fees of two swaps are higher in every program. */
const LEAST_SPREAD = 0.0015

/** Executes the two swaps of a profitable round trip; returns no swaps when there is none. */
export const arbitrage = (
  world: World,
  wallet: Address,
  pools: ReadonlyArray<SimPool>,
  mint: Mint,
  worth: Worth
): ReadonlyArray<Carried> => {
  const offers = offersOf(pools, mint, worth)
  const [first] = offers
  if (first === undefined) {
    return []
  }
  const low = offers.reduce((least, offer) => (offer.price < least.price ? offer : least), first)
  const high = offers.reduce((most, offer) => (offer.price > most.price ? offer : most), first)
  if (high.price / low.price < 1 + LEAST_SPREAD) {
    return []
  }
  const paid = otherMint(low.pool, mint)
  const earned = otherMint(high.pool, mint)
  const spread = high.price / low.price - 1
  // Closes half the spread on each side: a price moves by about twice the share of the depth that is traded.
  let size = (Math.min(depthOf(low.pool, mint), depthOf(high.pool, mint)) * spread) / 4
  for (let i = 0; i < TRIES; i++, size /= 2) {
    const amountIn = BigInt(Math.floor(size * priceOf(low.pool, mint)))
    const bought = planSale(world, low.pool, paid, amountIn)
    const sold = bought === null ? null : planSale(world, high.pool, mint, bought.amountOut)
    const gain =
      bought === null || sold === null
        ? 0
        : Number(sold.amountOut) * (worth(earned) ?? 0) - Number(bought.amountIn) * (worth(paid) ?? 0)
    if (bought !== null && gain > FEE_LAMPORTS) {
      const buy = sell(world, wallet, low.pool, paid, amountIn)
      const sale = buy === null ? null : sell(world, wallet, high.pool, mint, buy.amountOut)
      return [buy, sale].filter((swap) => swap !== null)
    }
  }
  return []
}

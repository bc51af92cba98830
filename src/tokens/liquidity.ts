/** Liquidity of the pools of a token. */
import type { Pool } from "../programs/Program.ts"
import type { Mint } from "../domain/Address.ts"
import { fromAtomic } from "../domain/decimal.ts"
import type { CoverageReason } from "../domain/Scalar.ts"
import type { PoolLiquidity } from "../domain/market/Token.ts"
import { feeBpsOf, otherSide, payable } from "./poolPrice.ts"
import type { Prices } from "./PriceBook.ts"

/** Pools valued per mint; further ones are ignored and the sum is marked as clipped. */
const MOST_POOLS = 1000

/** The pools of a token with their value, deepest first, and the sum. */
export interface Depth {
  readonly pools: ReadonlyArray<{ readonly pool: Pool; readonly micro: bigint | null }>
  /** Millionths of a dollar; null when there are pools and none could be valued. */
  readonly micro: bigint | null
  /** Coverage reason of an incomplete sum; null when complete. */
  readonly lacking: CoverageReason | null
}

/** Value of the units in millionths of a dollar, rounded down; null without an amount or a price. */
const valueOf = (prices: Prices, mint: Mint, units: bigint | null): bigint | null => {
  const price = prices.of(mint)?.usd ?? null
  return units === null || price === null ? null : (units * price.numerator) / price.denominator
}

const poolValue = (pool: Pool, prices: Prices): bigint | null => {
  const a = valueOf(prices, pool.mintA, payable(pool, pool.mintA, prices.clock))
  const b = valueOf(prices, pool.mintB, payable(pool, pool.mintB, prices.clock))
  return a === null || b === null ? null : a + b
}

type ValuedPool = Depth["pools"][number]

const byValue = (a: ValuedPool, b: ValuedPool): number => {
  if (a.micro === b.micro) {
    return a.pool.address < b.pool.address ? -1 : 1
  }
  return (a.micro ?? -1n) > (b.micro ?? -1n) ? -1 : 1
}

const lackingIn = (valued: ReadonlyArray<ValuedPool>, all: ReadonlyArray<Pool>): CoverageReason | null => {
  if (valued.some(({ micro }) => micro === null)) {
    return "mark_unknown"
  }
  if (all.length > valued.length) {
    return "limit_clipped"
  }
  // For concentrated pools only the liquidity around the price is in memory.
  return valued.some(({ pool }) => pool.reserves === undefined) ? "range_clipped" : null
}

/** Values the pools. No pools give a sum of zero. */
export const depthOf = (pools: ReadonlyArray<Pool>, prices: Prices): Depth => {
  const valued = pools
    .slice(0, MOST_POOLS)
    .map((pool) => ({ pool, micro: poolValue(pool, prices) }))
    .toSorted(byValue)
  const values = valued.flatMap(({ micro }) => (micro === null ? [] : [micro]))
  const isUnknown = values.length === 0 && valued.length > 0
  return {
    pools: valued,
    micro: isUnknown ? null : values.reduce((sum, micro) => sum + micro, 0n),
    lacking: lackingIn(valued, pools)
  }
}

/** The row of a pool. A stale value is null; reserves are always given, with the age of their state. */
export const poolRow = ({ micro, pool }: ValuedPool, mint: Mint, prices: Prices): PoolLiquidity => {
  const [a, b] = pool.reserves ?? [null, null]
  const isBase = pool.mintA === mint
  return {
    pool: pool.address,
    dex: pool.dex,
    baseMint: mint,
    quoteMint: otherSide(pool, mint),
    baseReserve: isBase ? a : b,
    quoteReserve: isBase ? b : a,
    liquidityUsd: micro === null || prices.isStale ? null : fromAtomic(micro, 6),
    feeBps: feeBpsOf(pool, prices.clock),
    lpBurnedPct: null,
    stateSlot: pool.slot,
    stateAgeMs: prices.silentMs
  }
}

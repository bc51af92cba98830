/** Liquidity of the pools of a token. */
import type { Pool } from "../programs/interface/Program.ts"
import { type Mint, SOL } from "../domain/Address.ts"
import { fromAtomic } from "../domain/decimal.ts"
import type { CoverageReason, Scalar } from "../domain/Scalar.ts"
import { DOLLARS } from "../domain/stables.ts"
import type { PoolLiquidity } from "../api/schemas/Token.ts"
import { depthOf as poolDepthOf, feeBpsOf, otherSide, type PoolDepth } from "./poolPrice.ts"
import type { Prices } from "./PriceBook.ts"

/** At most this many pools of a mint are valued. Further pools are ignored and the sum is marked as clipped. */
const MOST_POOLS = 1000

/** The pools of a token with their value, deepest first, and the sum. */
export interface Depth {
  readonly pools: ReadonlyArray<{ readonly pool: Pool; readonly micro: bigint | null }>
  /** Millionths of a dollar; null when the token has pools, in memory or not, and none could be valued. */
  readonly micro: bigint | null
  /** Why the sum is incomplete; null when it is complete. */
  readonly lacking: CoverageReason | null
}

/** Value of the units in millionths of a dollar, rounded down; null without an amount or a price. */
const valueOf = (prices: Prices, mint: Mint, units: bigint | null): bigint | null => {
  const price = prices.of(mint)?.usd ?? null
  return units === null || price === null ? null : (units * price.numerator) / price.denominator
}

const poolValue = (pool: Pool, prices: Prices): bigint | null => {
  const [heldA, heldB] = pool.reserves ?? [null, null]
  const a = valueOf(prices, pool.mintA, heldA)
  const b = valueOf(prices, pool.mintB, heldB)
  return a === null || b === null ? null : a + b
}

type ValuedPool = Depth["pools"][number]

const byValue = (a: ValuedPool, b: ValuedPool): number => {
  if (a.micro === b.micro) {
    return a.pool.address < b.pool.address ? -1 : 1
  }
  return (a.micro ?? -1n) > (b.micro ?? -1n) ? -1 : 1
}

/**
 * Why the sum of the pools is incomplete; null when it is complete. `unknown` is the reason when the token may have
 * pools that are not in `all`.
 */
const lackingIn = (
  valued: ReadonlyArray<ValuedPool>,
  all: ReadonlyArray<Pool>,
  unknown: CoverageReason | null
): CoverageReason | null => {
  if (valued.some(({ pool }) => pool.reserves === undefined)) {
    return "not_captured"
  }
  if (valued.some(({ micro }) => micro === null)) {
    return "mark_unknown"
  }
  return unknown ?? (all.length > valued.length ? "limit_clipped" : null)
}

/**
 * Values the pools by their reserves. Without pools the sum is zero, unless `unknown` says that pools may be missing.
 */
export const depthOf = (pools: ReadonlyArray<Pool>, prices: Prices, unknown: CoverageReason | null = null): Depth => {
  const valued = pools
    .slice(0, MOST_POOLS)
    .map((pool) => ({ pool, micro: poolValue(pool, prices) }))
    .toSorted(byValue)
  const values = valued.flatMap(({ micro }) => (micro === null ? [] : [micro]))
  const isUnknown = values.length === 0 && (valued.length > 0 || unknown !== null)
  return {
    pools: valued,
    micro: isUnknown ? null : values.reduce((sum, micro) => sum + micro, 0n),
    lacking: lackingIn(valued, pools, unknown)
  }
}

const reasonOf = ({ purchase, sale }: PoolDepth): CoverageReason | null => {
  if (sale === null || purchase === null) {
    return "not_captured"
  }
  return sale.complete && purchase.complete ? null : "range_clipped"
}

/** Depth within 2 % as the row shows it. An amount is null when its ticks are not all in memory. */
const depthRow = (pool: Pool, mint: Mint, prices: Prices): PoolLiquidity["depth2pct"] => {
  const depth = poolDepthOf(pool, mint, prices.clock)
  const quotePaid = depth.sale?.complete === true ? depth.sale.amountOut : null
  const basePaid = depth.purchase?.complete === true ? depth.purchase.amountOut : null
  const usdOf = (of: Mint, units: bigint | null) => {
    const micro = prices.isStale ? null : valueOf(prices, of, units)
    return micro === null ? null : fromAtomic(micro, 6)
  }
  return {
    sellQuoteOut: quotePaid,
    sellUsd: usdOf(otherSide(pool, mint), quotePaid),
    buyBaseOut: basePaid,
    buyUsd: usdOf(mint, basePaid),
    reason: reasonOf(depth)
  }
}

/** The mint with the higher rank is the quote: dollars before SOL, and the first dollar before all others. */
const quoteRank: ReadonlyMap<Mint, number> = new Map([SOL, ...DOLLARS.toReversed()].map((mint, i) => [mint, i + 1]))

/**
 * The token of a pool: the mint that is neither a dollar nor SOL. In a pool of SOL and dollars it is SOL. In a pool of
 * two tokens it is the first.
 */
export const baseMintOf = ({ mintA, mintB }: Pick<Pool, "mintA" | "mintB">): Mint =>
  (quoteRank.get(mintA) ?? 0) > (quoteRank.get(mintB) ?? 0) ? mintB : mintA

/** Facts of a pool that its accounts do not state. */
export interface PoolHistory {
  readonly createdAtMs: number | null
  readonly volume24hUsd: Scalar
}

/** The row of a pool. A stale value is null. Reserves are always given, with the age of their state. */
export const poolRow = (
  { micro, pool }: ValuedPool,
  mint: Mint,
  prices: Prices,
  { createdAtMs, volume24hUsd }: PoolHistory
): PoolLiquidity => {
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
    depth2pct: depthRow(pool, mint, prices),
    createdAtMs,
    volume24hUsd,
    feeBps: feeBpsOf(pool, prices.clock),
    lpBurnedPct: null,
    stateSlot: pool.slot,
    stateAgeMs: prices.silentMs
  }
}

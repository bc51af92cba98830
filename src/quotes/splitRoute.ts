/** Splits each hop of a path over the parallel pools of its pair, where that pays more than one pool alone. */
import type { Pool, Swap } from "../programs/interface/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import { attempt, bestDirect } from "./bestDirect.ts"
import type { PoolGraph } from "./pools/PoolGraph.ts"
import type { Step } from "./bestPath.ts"

/** Size of one step of the split, in percent. */
export const STEP_PCT = 5
/** How many pools of a pair are considered. Quoting more is not worth the time. */
const MOST_POOLS = 8

/** One pool's part of a hop. */
export interface Share {
  readonly pool: Pool
  readonly inputMint: Mint
  readonly outputMint: Mint
  /** Percent of the route's holding of the input mint, with two decimals. All shares of a mint add up to 100. */
  readonly percent: number
  readonly swap: Swap
}

/** One hop: everything that goes from one mint to the next. */
export interface Leg {
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly shares: ReadonlyArray<Share>
}

interface Portion {
  readonly pool: Pool
  readonly percent: number
  readonly amountOut: bigint
  /** The pool's output with one more step; null when the pool cannot take it whole. */
  readonly next: bigint | null
}

const inputOf = (amount: bigint, percent: number): bigint => (amount * BigInt(percent)) / 100n

const filled = (pool: Pool, inputMint: Mint, amount: bigint, clock: ChainClock): bigint | null => {
  if (amount === 0n) {
    return 0n
  }
  const swap = attempt(pool, inputMint, amount, clock)
  return swap.ending === "filled" ? swap.amountOut : null
}

/** The pool that gains most from one more step. Ties go to the lower address. */
const hungriest = (portions: ReadonlyArray<Portion>): number => {
  let chosen = -1
  let most = -1n
  for (const [i, { next, amountOut, pool }] of portions.entries()) {
    const gain = next === null ? -1n : next - amountOut
    const tie = gain === most && chosen >= 0 && pool.address < (portions[chosen]?.pool.address ?? "")
    if (gain > most || (tie && gain >= 0n)) {
      chosen = i
      most = gain
    }
  }
  return chosen
}

/** Whole percents per pool, chosen greedily. That is optimal, because outputs are concave. */
const divide = (pools: ReadonlyArray<Pool>, inputMint: Mint, amount: bigint, clock: ChainClock) => {
  const grown = (pool: Pool, percent: number, amountOut: bigint): Portion => ({
    pool,
    percent,
    amountOut,
    next: percent >= 100 ? null : filled(pool, inputMint, inputOf(amount, percent + STEP_PCT), clock)
  })
  const portions = pools.map((pool) => grown(pool, 0, 0n))
  for (let given = 0; given < 100; given += STEP_PCT) {
    const chosen = hungriest(portions)
    const portion = portions[chosen]
    if (portion === undefined || portion.next === null) {
      return null
    }
    portions[chosen] = grown(portion.pool, portion.percent + STEP_PCT, portion.next)
  }
  return portions.filter(({ percent }) => percent > 0)
}

/** Turns the shares into swaps. The largest share takes the rounding remainder. */
const settle = (
  portions: ReadonlyArray<Portion>,
  pair: { readonly inputMint: Mint; readonly outputMint: Mint },
  amount: bigint,
  clock: ChainClock
): ReadonlyArray<Share> => {
  const sorted = portions.toSorted((a, b) => b.percent - a.percent || (a.pool.address < b.pool.address ? -1 : 1))
  const spare = amount - sorted.reduce((sum, { percent }) => sum + inputOf(amount, percent), 0n)
  return sorted.map(({ pool, percent }, i) => {
    const amountIn = inputOf(amount, percent) + (i === 0 ? spare : 0n)
    return { pool, ...pair, percent, swap: attempt(pool, pair.inputMint, amountIn, clock) }
  })
}

const total = (shares: ReadonlyArray<Share>): bigint => shares.reduce((sum, { swap }) => sum + swap.amountOut, 0n)

/** The pools worth splitting over: those that pay most for one step. */
const parallelPools = (
  pools: ReadonlyArray<Pool>,
  inputMint: Mint,
  amount: bigint,
  clock: ChainClock
): ReadonlyArray<Pool> =>
  pools
    .map((pool) => ({ pool, out: filled(pool, inputMint, inputOf(amount, STEP_PCT), clock) ?? 0n }))
    .filter(({ out }) => out > 0n)
    .toSorted((a, b) => (a.out === b.out ? (a.pool.address < b.pool.address ? -1 : 1) : a.out > b.out ? -1 : 1))
    .slice(0, MOST_POOLS)
    .map(({ pool }) => pool)

/**
 * One hop for this amount: split where that pays more, otherwise through the best pool. Null when no pool takes it
 * whole.
 */
const legOf = (
  graph: PoolGraph,
  pair: { readonly inputMint: Mint; readonly outputMint: Mint },
  amountIn: bigint,
  clock: ChainClock
): Leg | null => {
  const parallel = graph.poolsBetween(pair.inputMint, pair.outputMint)
  const best = bestDirect(parallel, { inputMint: pair.inputMint, amount: amountIn }, clock)
  const alone: Leg | null =
    best === null || best.swap.ending !== "filled"
      ? null
      : { ...pair, amountIn, amountOut: best.swap.amountOut, shares: [{ ...pair, ...best, percent: 100 }] }
  const pools = parallelPools(parallel, pair.inputMint, amountIn, clock)
  const portions = pools.length < 2 ? null : divide(pools, pair.inputMint, amountIn, clock)
  if (portions === null || portions.length < 2) {
    return alone
  }
  const shares = settle(portions, pair, amountIn, clock)
  if (!shares.every(({ swap }) => swap.ending === "filled")) {
    return alone
  }
  const amountOut = total(shares)
  return alone === null || amountOut > alone.amountOut ? { ...pair, amountIn, amountOut, shares } : alone
}

const undivided = (path: ReadonlyArray<Via>): ReadonlyArray<Leg> =>
  path.map(({ pool, swap, ...pair }) => ({
    ...pair,
    amountIn: swap.amountIn,
    amountOut: swap.amountOut,
    shares: [{ ...pair, pool, swap, percent: 100 }]
  }))

const divided = (
  graph: PoolGraph,
  path: ReadonlyArray<Via>,
  amount: bigint,
  clock: ChainClock
): ReadonlyArray<Leg> | null => {
  const legs: Array<Leg> = []
  for (const { inputMint, outputMint } of path) {
    const leg = legOf(graph, { inputMint, outputMint }, legs.at(-1)?.amountOut ?? amount, clock)
    if (leg === null) {
      return null
    }
    legs.push(leg)
  }
  return legs
}

interface Via {
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly pool: Pool
  readonly swap: Swap
}

const pathTo = (last: Step): ReadonlyArray<Via> => {
  const path: Array<Via> = []
  for (let at = last; at.via !== null; at = at.via.from) {
    const { from, pool, swap } = at.via
    path.unshift({ inputMint: from.mint, outputMint: at.mint, pool, swap })
  }
  return path
}

/**
 * Walks the path hop by hop and splits each hop over its parallel pools where that pays more. The next hop takes
 * everything a hop pays, so the result never pays less than the unsplit path. A path that ran out of liquidity is not
 * split.
 */
export const splitRoute = (graph: PoolGraph, last: Step, amount: bigint, clock: ChainClock): ReadonlyArray<Leg> => {
  const path = pathTo(last)
  const legs = last.exhausted ? null : divided(graph, path, amount, clock)
  return legs !== null && (legs.at(-1)?.amountOut ?? 0n) > last.amount ? legs : undivided(path)
}

/** Dividing each hop of a path among the parallel pools of its pair, where that pays more than one pool alone. */
import type { Pool, Swap } from "../amm/Program.ts"
import type { ChainClock } from "../domain/Account.ts"
import type { Mint } from "../domain/Address.ts"
import { attempt } from "./bestDirect.ts"
import type { PoolGraph, Step } from "./bestPath.ts"

/** Shares are handed out in steps of this many percent. */
export const STEP_PCT = 5
/** Pools beyond the best this many of a pair are not worth their quotes. */
const MOST_POOLS = 8

/** One pool's part of a hop. */
export interface Share {
  readonly pool: Pool
  readonly inputMint: Mint
  readonly outputMint: Mint
  /** Whole percent of the hop's input. The shares of a hop add up to 100. */
  readonly percent: number
  readonly swap: Swap
}

/** One hop: all that goes from one mint to the next. */
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
  /** What the pool would pay for one step more; null when it would not take it whole. */
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

/** The pool that gains most from one more step; ties go to the lower address. */
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

/** Whole percents per pool, greedily: outputs are concave, so the best next step is always part of the best division. */
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

/** The shares as they are swapped: what rounding left over goes to the largest. */
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

/** The pools worth dividing among: those that pay most for one step. */
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

const whole = (step: Step, from: Step, pool: Pool, swap: Swap): Leg => ({
  inputMint: from.mint,
  outputMint: step.mint,
  amountIn: swap.amountIn,
  amountOut: swap.amountOut,
  shares: [{ pool, inputMint: from.mint, outputMint: step.mint, percent: 100, swap }]
})

/** One hop of the path for this amount: divided where that pays more, else through its best pool alone. */
const legOf = (graph: PoolGraph, pair: { readonly inputMint: Mint; readonly outputMint: Mint }, amount: bigint, single: Share, clock: ChainClock): Leg => {
  const alone = { ...pair, amountIn: amount, amountOut: single.swap.amountOut, shares: [single] }
  const pools = parallelPools(graph.poolsBetween(pair.inputMint, pair.outputMint), pair.inputMint, amount, clock)
  const portions = pools.length < 2 ? null : divide(pools, pair.inputMint, amount, clock)
  if (portions === null || portions.length < 2) {
    return alone
  }
  const shares = settle(portions, pair, amount, clock)
  const divided = shares.every(({ swap }) => swap.ending === "filled") ? total(shares) : 0n
  return divided > alone.amountOut ? { ...pair, amountIn: amount, amountOut: divided, shares } : alone
}

/**
 * The path, hop by hop from the input, each hop divided among its parallel pools where that pays more. What a hop pays
 * is what the next one takes, so the whole never pays less than the path undivided. A path that ran out stays undivided.
 */
export const splitRoute = (graph: PoolGraph, last: Step, clock: ChainClock): ReadonlyArray<Leg> => {
  const steps: Array<Step> = []
  for (let at: Step | undefined = last; at !== undefined; at = at.via?.from) {
    steps.unshift(at)
  }
  const legs: Array<Leg> = []
  for (const step of steps) {
    if (step.via === null) {
      continue
    }
    const { from, pool, swap } = step.via
    const before = legs.at(-1)
    if (last.exhausted) {
      legs.push(whole(step, from, pool, swap))
      continue
    }
    const pair = { inputMint: from.mint, outputMint: step.mint }
    const amount = before === undefined ? from.amount : before.amountOut
    const same = amount === from.amount
    const single = { pool, ...pair, percent: 100, swap: same ? swap : attempt(pool, from.mint, amount, clock) }
    legs.push(legOf(graph, pair, amount, single, clock))
  }
  return legs
}

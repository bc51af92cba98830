/** Spreads a trade over several paths that share pools, where that pays more than one path. */
import { type Pool, refused } from "../programs/interface/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import { attempt } from "./bestDirect.ts"
import { bestPaths, fillingPaths, type Step, type Trade } from "./bestPath.ts"
import type { PoolGraph } from "./pools/PoolGraph.ts"
import { type Edge, type PathHop, RouteFlow } from "./RouteFlow.ts"
import { type Leg, type Share, splitRoute } from "./splitRoute.ts"

/** Fractions of the amount that move from one path to another: first coarse, finally fine. */
const COARSEST = 16n
const FINEST = 1024n
/** New paths are searched for this fraction of the amount. */
const PROBE = 64n
/** How often new paths are searched, and how many paths each search admits per number of hops. */
const SEARCHES = 3
const MOST_PATHS = 8
/**
 * The neighbourhood also includes the mints between input and output that pay most for this fraction of the amount.
 */
const NEIGHBOUR_PROBE = 16n
/** How many moves follow one search at most. */
const MOST_MOVES = 60
/** Shares are stated in hundredths of a percent. */
const WHOLE = 10_000n

/** The swaps of a route in execution order, and their output. */
export interface Spread {
  readonly shares: ReadonlyArray<Share>
  readonly amountOut: bigint
  /** True when a pool ran out before it took its whole input. */
  readonly isExhausted: boolean
}

/**
 * The pool as the next unit finds it, after everything that already flows through it. Swaps in the other direction
 * are refused.
 */
const behind = ({ pool, from, input, output }: Edge): Pool => ({
  ...pool,
  swap: (aToB, amountIn, clock) => {
    if ((pool.mintA === from) !== aToB) {
      return refused
    }
    const swap = attempt(pool, from, input + amountIn, clock)
    return swap.ending === "filled" ? { ending: "filled", amountIn, amountOut: swap.amountOut - output } : refused
  }
})

const pathTo = (last: Step, flow: RouteFlow): ReadonlyArray<PathHop> => {
  const path: Array<PathHop> = []
  for (let at = last; at.via !== null; at = at.via.from) {
    const { pool, from } = at.via
    path.unshift({ pool: flow.edgeOf(pool.address)?.pool ?? pool, from: from.mint, to: at.mint })
  }
  return path
}

/**
 * Adds the best paths that pay more for a probe than the flow would lose by giving it up. Returns false when there
 * are none.
 */
const widen = (flow: RouteFlow, graph: PoolGraph, trade: Trade, clock: ChainClock): boolean => {
  const amount = trade.amount / PROBE
  const given = amount === 0n ? null : flow.leastDecrease(amount)
  if (given === null) {
    return false
  }
  const next = (pool: Pool): Pool => {
    const edge = flow.edgeOf(pool.address)
    return edge === undefined ? pool : behind(edge)
  }
  const residual: PoolGraph = { ...graph, poolsBetween: (a, b) => graph.poolsBetween(a, b).map(next) }
  const paths = fillingPaths(residual, { ...trade, amount }, clock, MOST_PATHS)
  return paths.filter((path) => path.amount > given.amountOut && flow.admit(pathTo(path, flow))).length > 0
}

/** Moves parts of the amount from the path where they earn least to the path where they earn most. */
const level = (flow: RouteFlow, amount: bigint): void => {
  let moves = 0
  for (let parts = COARSEST; parts <= FINEST && moves < MOST_MOVES; parts *= 2n) {
    const part = amount / parts
    for (let isBetter = part > 0n; isBetter && moves < MOST_MOVES; moves++) {
      const away = flow.leastDecrease(part)
      if (away === null) {
        break
      }
      flow.apply(away, -1n)
      const back = flow.bestIncrease(part)
      isBetter = back !== null && back.amountOut > away.amountOut
      flow.apply(isBetter && back !== null ? back : away, 1n)
    }
  }
}

/**
 * Each input's share of the sum, in hundredths of a percent and off by at most one. The shares add up to the whole.
 */
const portionsOf = (edges: ReadonlyArray<Edge>): ReadonlyArray<bigint> => {
  const sum = edges.reduce((all, { input }) => all + input, 0n)
  const floors = edges.map(({ input }) => (input * WHOLE) / sum)
  const spare = Number(WHOLE - floors.reduce((all, part) => all + part, 0n))
  const byRemainder = edges
    .map(({ input }, i) => ({ i, remainder: (input * WHOLE) % sum }))
    .toSorted((a, b) => (a.remainder === b.remainder ? a.i - b.i : a.remainder > b.remainder ? -1 : 1))
  const rounded = new Set(byRemainder.slice(0, spare).map(({ i }) => i))
  return floors.map((part, i) => (rounded.has(i) ? part + 1n : part))
}

/** The swaps that leave one mint. The largest takes the rounding remainder. */
const sharesFrom = (edges: ReadonlyArray<Edge>, held: bigint, clock: ChainClock): ReadonlyArray<Share> => {
  const used = edges
    .filter(({ input }) => input > 0n)
    .toSorted((a, b) => (a.input === b.input ? (a.pool.address < b.pool.address ? -1 : 1) : a.input > b.input ? -1 : 1))
  const portions = portionsOf(used)
  const spare = held - portions.reduce((all, portion) => all + (held * portion) / WHOLE, 0n)
  return used.flatMap(({ pool, from, to }, i) => {
    const portion = portions[i] ?? 0n
    const amountIn = (held * portion) / WHOLE + (i === 0 ? spare : 0n)
    const pair = { inputMint: from, outputMint: to }
    return amountIn === 0n
      ? []
      : [{ pool, ...pair, percent: Number(portion) / 100, swap: attempt(pool, from, amountIn, clock) }]
  })
}

/** Replays the flow as swaps in execution order. Null when a pool does not take its share whole. */
const settle = (flow: RouteFlow, { amount, inputMint, outputMint }: Trade, clock: ChainClock): Spread | null => {
  const held = new Map<Mint, bigint>([[inputMint, amount]])
  const shares: Array<Share> = []
  for (const mint of flow.order.filter((each) => each !== outputMint)) {
    const here = held.get(mint) ?? 0n
    for (const share of here === 0n ? [] : sharesFrom(flow.from(mint), here, clock)) {
      if (share.swap.ending !== "filled") {
        return null
      }
      held.set(share.outputMint, (held.get(share.outputMint) ?? 0n) + share.swap.amountOut)
      shares.push(share)
    }
  }
  return { shares, amountOut: held.get(outputMint) ?? 0n, isExhausted: false }
}

/** Turns the split path into a flow. */
const flowOf = (legs: ReadonlyArray<Leg>, trade: Trade, clock: ChainClock): RouteFlow => {
  const flow = new RouteFlow(trade, clock)
  for (const { pool, inputMint: from, outputMint: to, swap } of legs.flatMap(({ shares }) => shares)) {
    flow.admit([{ pool, from, to }])
    const edge = flow.edgeOf(pool.address)
    if (edge !== undefined) {
      edge.input = swap.amountIn
      edge.output = swap.amountOut
    }
  }
  return flow
}

/** The part of the graph that is worth spreading over: the mints of the best paths, and of the best short paths. */
const neighbourhood = (graph: PoolGraph, trade: Trade, paths: ReadonlyArray<Step>, clock: ChainClock): PoolGraph => {
  const short = { ...trade, amount: trade.amount / NEIGHBOUR_PROBE, maxHops: Math.min(trade.maxHops, 2) }
  const mints = new Set<Mint>()
  for (const last of [...paths, ...(short.amount === 0n ? [] : fillingPaths(graph, short, clock, MOST_PATHS))]) {
    for (let at: Step | undefined = last; at !== undefined; at = at.via?.from) {
      mints.add(at.mint)
    }
  }
  const partners = new Map<Mint, ReadonlyArray<Mint>>()
  for (const mint of mints) {
    partners.set(
      mint,
      Array.from(mints).filter((other) => graph.poolsBetween(mint, other).length > 0)
    )
  }
  return { ...graph, partnersOf: (mint) => partners.get(mint) ?? [] }
}

/**
 * The best path, split hop by hop, then spread over further paths as long as that pays more. Every pool is used once,
 * at most `maxHops` in a row, and the result never pays less than the split path. A path that ran out of liquidity
 * stays as it is. Null when there is no path.
 */
export const spreadRoute = (graph: PoolGraph, trade: Trade, clock: ChainClock): Spread | null => {
  const paths = bestPaths(graph, trade, clock, MOST_PATHS)
  const [last] = paths
  if (last === undefined) {
    return null
  }
  const legs = splitRoute(graph, last, trade.amount, clock)
  const divided = {
    shares: legs.flatMap(({ shares }) => shares),
    amountOut: legs.at(-1)?.amountOut ?? 0n,
    isExhausted: last.exhausted
  }
  if (last.exhausted) {
    return divided
  }
  const near = neighbourhood(graph, trade, paths, clock)
  const flow = flowOf(legs, trade, clock)
  for (let searches = 0; searches < SEARCHES && widen(flow, near, trade, clock); searches++) {
    level(flow, trade.amount)
    flow.prune()
  }
  const spread = settle(flow, trade, clock)
  return spread !== null && spread.amountOut > divided.amountOut ? spread : divided
}

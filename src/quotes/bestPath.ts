/**
 * The single path that pays most, found exactly. A swap's output never falls when its input grows, so the best way to
 * stand at a mint after some hops is the one that holds most of it there; only the ban on visiting a mint twice needs a
 * second choice, and with at most four hops one second choice is enough.
 */
import type { Pool, Swap } from "../amm/Program.ts"
import type { ChainClock } from "../domain/Account.ts"
import type { Mint } from "../domain/Address.ts"
import { bestDirect } from "./bestDirect.ts"

/** The most hops a route may have. The search keeps just enough alternatives to be exact up to here. */
export const MAX_HOPS = 4

/** Pools as a graph: mints are its nodes. */
export interface PoolGraph {
  /** Mints that share a pool with this one. */
  readonly partnersOf: (mint: Mint) => Iterable<Mint>
  /** Pools that trade both mints. */
  readonly poolsBetween: (a: Mint, b: Mint) => ReadonlyArray<Pool>
}

/** What is to be routed. */
export interface Trade {
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amount: bigint
  readonly maxHops: number
}

/** One hop of a path and all that led to it. */
export interface Step {
  readonly mint: Mint
  /** Units of `mint` held here. */
  readonly amount: bigint
  readonly hops: number
  /** Whether a pool on the way ran out before it took the whole amount. */
  readonly exhausted: boolean
  readonly via: { readonly from: Step; readonly pool: Pool; readonly swap: Swap } | null
}

/** Hops from each mint to the output, as far as `limit`. */
const distancesTo = (graph: PoolGraph, outputMint: Mint, limit: number): ReadonlyMap<Mint, number> => {
  const distances = new Map<Mint, number>([[outputMint, 0]])
  let edge: Array<Mint> = [outputMint]
  for (let distance = 1; distance <= limit && edge.length > 0; distance++) {
    const next: Array<Mint> = []
    for (const mint of edge) {
      for (const partner of graph.partnersOf(mint)) {
        if (!distances.has(partner)) {
          distances.set(partner, distance)
          next.push(partner)
        }
      }
    }
    edge = next
  }
  return distances
}

const visits = (step: Step, mint: Mint): boolean => {
  for (let at: Step | undefined = step; at !== undefined; at = at.via?.from) {
    if (at.mint === mint) {
      return true
    }
  }
  return false
}

const addressOf = (step: Step): string => step.via?.pool.address ?? ""

/** Whether `a` is the better place to stand: nothing ran out, more in hand, fewer hops, then the lower pool address. */
const beats = (a: Step, b: Step): boolean => {
  if (a.exhausted !== b.exhausted) {
    return b.exhausted
  }
  if (a.amount !== b.amount) {
    return a.amount > b.amount
  }
  return a.hops === b.hops ? addressOf(a) < addressOf(b) : a.hops < b.hops
}

/** Keeps the best step at a mint and, where a later hop could need it, the best one that came another way. */
const keep = (held: ReadonlyArray<Step>, step: Step, alternatives: number): ReadonlyArray<Step> => {
  const sameWay = held.find(({ via }) => via?.from.mint === step.via?.from.mint)
  if (sameWay !== undefined && !beats(step, sameWay)) {
    return held
  }
  const others = held.filter((other) => other !== sameWay)
  return [...others, step].toSorted((a, b) => (beats(a, b) ? -1 : 1)).slice(0, alternatives)
}

/** Swaps on from a step into a partner mint through the pool that pays most; null when none may be used. */
const advance = (graph: PoolGraph, from: Step, mint: Mint, clock: ChainClock, mayExhaust: boolean): Step | null => {
  const best = bestDirect(graph.poolsBetween(from.mint, mint), { inputMint: from.mint, amount: from.amount }, clock)
  if (best === null || (best.swap.ending === "exhausted" && !mayExhaust)) {
    return null
  }
  return {
    mint,
    amount: best.swap.amountOut,
    hops: from.hops + 1,
    exhausted: from.exhausted || best.swap.ending === "exhausted",
    via: { from, pool: best.pool, swap: best.swap }
  }
}

const search = (graph: PoolGraph, trade: Trade, clock: ChainClock, mayExhaust: boolean): Step | null => {
  const { inputMint, outputMint, amount, maxHops } = trade
  const distances = distancesTo(graph, outputMint, maxHops)
  let best: Step | null = null
  let steps: ReadonlyArray<Step> = [{ mint: inputMint, amount, hops: 0, exhausted: false, via: null }]
  for (let hop = 1; hop <= maxHops && steps.length > 0; hop++) {
    const reach = maxHops - hop
    // A step that has only the output ahead can meet no mint again, and after one hop there is only one way to have come.
    const alternatives = hop > 1 && reach > 1 ? 2 : 1
    const reached = new Map<Mint, ReadonlyArray<Step>>()
    for (const from of steps) {
      for (const mint of graph.partnersOf(from.mint)) {
        if ((distances.get(mint) ?? Infinity) > reach || visits(from, mint)) {
          continue
        }
        const step = advance(graph, from, mint, clock, mayExhaust)
        if (step === null) {
          continue
        }
        if (mint === outputMint) {
          best = best === null || beats(step, best) ? step : best
        } else {
          reached.set(mint, keep(reached.get(mint) ?? [], step, alternatives))
        }
      }
    }
    steps = Array.from(reached.values()).flat()
  }
  return best
}

/**
 * The last step of the path that pays most among those whose pools take every amount whole; when there is none, of the
 * one that pays most among those that run out. Null when no path leads there or every pool refuses.
 */
export const bestPath = (graph: PoolGraph, trade: Trade, clock: ChainClock): Step | null =>
  search(graph, trade, clock, false) ?? search(graph, trade, clock, true)

/**
 * Finds the single path that costs least for an exact output. Searches backwards from the output: the input of a hop
 * is the output that the hop before it has to pay. A swap's input never falls when its output grows, so the cheapest
 * way through a pool continues the cheapest way to the mint after it.
 */
import { type Pool, type Swap } from "../programs/interface/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import { cheapestDirect } from "./bestDirect.ts"
import type { Trade } from "./bestPath.ts"
import type { PoolGraph } from "./pools/PoolGraph.ts"
import type { Share } from "./splitRoute.ts"

/**
 * The most hops of an exact output. Up to three, the mints between input and output cannot repeat, so that one way
 * for each mint is enough.
 */
export const MOST_EXACT_OUT_HOPS = 3

/** The units of a mint that are needed, and the swap that they go into. */
interface Need {
  readonly mint: Mint
  readonly amount: bigint
  readonly into: { readonly pool: Pool; readonly swap: Swap; readonly next: Need } | null
}

/** What has to be held of `mint` to meet the need with one swap; null when no pool pays it. */
const before = (graph: PoolGraph, mint: Mint, next: Need, clock: ChainClock): Need | null => {
  const best = cheapestDirect(graph.poolsBetween(mint, next.mint), { inputMint: mint, amount: next.amount }, clock)
  return best === null ? null : { mint, amount: best.swap.amountIn, into: { ...best, next } }
}

const cheaper = (a: Need | null, b: Need | null): Need | null =>
  a === null || (b !== null && b.amount < a.amount) ? b : a

/** The cheapest needs one swap earlier, one for each mint that a path may pass through. */
const earlier = (
  graph: PoolGraph,
  needs: Iterable<Need>,
  mayPass: (mint: Mint) => boolean,
  clock: ChainClock
): ReadonlyMap<Mint, Need> => {
  const found = new Map<Mint, Need>()
  for (const next of needs) {
    for (const mint of graph.partnersOf(next.mint)) {
      const need = mayPass(mint) ? cheaper(found.get(mint) ?? null, before(graph, mint, next, clock)) : null
      if (need !== null) {
        found.set(mint, need)
      }
    }
  }
  return found
}

const sharesOf = (first: Need): ReadonlyArray<Share> => {
  const shares: Array<Share> = []
  for (let at = first; at.into !== null; at = at.into.next) {
    const { pool, swap, next } = at.into
    shares.push({ pool, swap, inputMint: at.mint, outputMint: next.mint, percent: 100 })
  }
  return shares
}

/**
 * The swaps of the cheapest path for `trade.amount` units of the output mint, in execution order. Null when no path
 * of pools with exact-output swaps pays that much. Equal inputs go to the path with fewer hops.
 */
export const exactOutPath = (graph: PoolGraph, trade: Trade, clock: ChainClock): ReadonlyArray<Share> | null => {
  const { inputMint, outputMint } = trade
  const hops = Math.min(trade.maxHops, MOST_EXACT_OUT_HOPS)
  const entrances = new Set(graph.partnersOf(inputMint))
  const isBetween = (mint: Mint) => mint !== inputMint && mint !== outputMint
  let needs: ReadonlyMap<Mint, Need> = new Map([[outputMint, { mint: outputMint, amount: trade.amount, into: null }]])
  let best: Need | null = null
  for (let hop = 1; hop <= hops; hop++) {
    for (const need of needs.values()) {
      best = entrances.has(need.mint) ? cheaper(best, before(graph, inputMint, need, clock)) : best
    }
    // The mint before the last hop has to share a pool with the input.
    const mayPass = (mint: Mint) => isBetween(mint) && (hop + 1 < hops || entrances.has(mint))
    needs = hop < hops ? earlier(graph, needs.values(), mayPass, clock) : new Map()
  }
  return best === null ? null : sharesOf(best)
}

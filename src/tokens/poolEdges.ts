/** Pools of the book as edges of the price graph, each computed once for every state and clock. */
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import type { PoolGraph } from "../pools/PoolGraph.ts"
import type { Pool } from "../programs/Program.ts"
import { depthOf, midRate, weightOf } from "./poolPrice.ts"
import type { PriceEdge, PriceEdges } from "./priceGraph.ts"

interface KnownEdges {
  readonly clock: ChainClock
  readonly fromA: PriceEdge | null
  readonly fromB: PriceEdge | null
}

const edgeOf = (pool: Pool, from: Mint, clock: ChainClock): PriceEdge | null => {
  const rate = midRate(pool, from, clock)
  return rate === null ? null : { pool: pool.address, rate, depth: weightOf(depthOf(pool, from, clock)) }
}

/** Edges at a clock. A changed pool is a new object, so an edge holds for as long as its pool and the clock do. */
export const makePoolEdges = (graph: PoolGraph) => {
  const known = new WeakMap<Pool, KnownEdges>()
  const edgesOf = (pool: Pool, clock: ChainClock): KnownEdges => {
    const last = known.get(pool)
    if (last?.clock === clock) {
      return last
    }
    const edges = { clock, fromA: edgeOf(pool, pool.mintA, clock), fromB: edgeOf(pool, pool.mintB, clock) }
    known.set(pool, edges)
    return edges
  }
  return (clock: ChainClock): PriceEdges => ({
    partnersOf: graph.partnersOf,
    between: (mint, other) =>
      graph.poolsBetween(mint, other).flatMap((pool) => {
        const { fromA, fromB } = edgesOf(pool, clock)
        return (pool.mintA === mint ? fromA : fromB) ?? []
      })
  })
}

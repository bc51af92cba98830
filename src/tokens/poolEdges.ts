/** Pools of the book as edges of the price graph, each computed once for every state and clock. */
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import type { PoolGraph } from "../quotes/pools/PoolGraph.ts"
import type { Pool } from "../programs/interface/Program.ts"
import { depthOf, midRate, weightOf } from "./poolPrice.ts"
import type { PriceEdge, PriceEdges } from "./priceGraph.ts"

/** Edges of a pool at a clock, by the mint at which they begin. Each is computed when it is first read. */
interface KnownEdges {
  readonly clock: ChainClock
  readonly from: Map<Mint, PriceEdge | null>
}

const edgeOf = (pool: Pool, from: Mint, clock: ChainClock): PriceEdge | null => {
  const rate = midRate(pool, from, clock)
  return rate === null ? null : { pool: pool.address, rate, depth: weightOf(depthOf(pool, from, clock)) }
}

/**
 * Returns the edges at a clock. A pool that changes is replaced by a new object, so a computed edge is valid as long as
 * its pool object and the clock stay the same.
 */
export const makePoolEdges = (graph: PoolGraph) => {
  const known = new WeakMap<Pool, KnownEdges>()
  const edgeFrom = (pool: Pool, mint: Mint, clock: ChainClock): PriceEdge | null => {
    const last = known.get(pool)
    const edges = last?.clock === clock ? last : { clock, from: new Map<Mint, PriceEdge | null>() }
    known.set(pool, edges)
    const before = edges.from.get(mint)
    const edge = before === undefined ? edgeOf(pool, mint, clock) : before
    edges.from.set(mint, edge)
    return edge
  }
  return (clock: ChainClock): PriceEdges => ({
    partnersOf: graph.partnersOf,
    between: (mint, other) => graph.poolsBetween(mint, other).flatMap((pool) => edgeFrom(pool, mint, clock) ?? [])
  })
}

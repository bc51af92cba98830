/**
 * Finds the single path that pays most, exactly and lazily.
 *
 * For every mint and number of hops there is a list of ways to get there, richest first. A swap's output never falls
 * when its input grows, so the richest way through a pool comes from the richest way to reach the mint before it. One
 * look at the head of each list usually decides. The second richest way is worked out only where the richest has
 * already visited the next mint, or holds more than the next pool can take; then the third, and so on. (The k-best
 * search of Huang and Chiang, "Better k-best parsing", 2005, on a graph unrolled by hops.)
 */
import type { PoolGraph } from "./pools/PoolGraph.ts"
import type { Pool, Swap } from "../programs/interface/Program.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import type { Mint } from "../domain/Address.ts"
import { attempt } from "./bestDirect.ts"

/** The most hops a route may have. */
export const MAX_HOPS = 4

/** Limits the work: a pool is given up after this many ways that do not fit. Rarely reached. */
const MOST_PASSED_OVER = 64

/** A routing request. */
export interface Trade {
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amount: bigint
  readonly maxHops: number
}

/** One hop of a path, linked to the hops before it. */
export interface Step {
  readonly mint: Mint
  /** Units of `mint` held here. */
  readonly amount: bigint
  /** True when a pool on the path ran out before it took the whole amount. */
  readonly exhausted: boolean
  readonly via: { readonly from: Step; readonly pool: Pool; readonly swap: Swap } | null
}

/** The ways to hold one mint after a given number of hops. */
interface Stop {
  readonly mint: Mint
  /** Richest first. Only those computed so far. */
  readonly ways: Array<Step>
  /** Null until it is first read. */
  sources: Array<Source> | null
}

/** The ways into a stop through one pool, richest first. */
interface Source {
  readonly from: Stop
  readonly pool: Pool
  next: number
  head: Step | null
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

/** True when `a` pays more. Ties go to the lower pool address. */
const beats = (a: Step, b: Step): boolean => (a.amount === b.amount ? addressOf(a) < addressOf(b) : a.amount > b.amount)

/** Number of hops from the input to each mint, up to `limit`. */
const distancesFrom = (graph: PoolGraph, inputMint: Mint, limit: number): ReadonlyMap<Mint, number> => {
  const distances = new Map<Mint, number>([[inputMint, 0]])
  let edge: Array<Mint> = [inputMint]
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

/** One search, with its limits and the stops it has reached. */
class Search {
  readonly #graph: PoolGraph
  readonly #clock: ChainClock
  readonly #mayExhaust: boolean
  readonly #distances: ReadonlyMap<Mint, number>
  readonly #stops: Array<Map<Mint, Stop>>

  constructor(graph: PoolGraph, { inputMint, amount, maxHops }: Trade, clock: ChainClock, mayExhaust: boolean) {
    this.#graph = graph
    this.#clock = clock
    this.#mayExhaust = mayExhaust
    this.#distances = distancesFrom(graph, inputMint, maxHops - 1)
    const start = { mint: inputMint, ways: [{ mint: inputMint, amount, exhausted: false, via: null }], sources: [] }
    this.#stops = [new Map([[inputMint, start]])]
  }

  /**
   * The way with this rank to hold the mint after exactly `hops` hops; rank 0 is the richest. Null when there are no
   * more.
   */
  way(mint: Mint, hops: number, rank: number): Step | null {
    return this.#way(this.#stop(mint, hops), hops, rank)
  }

  #stop(mint: Mint, hops: number): Stop {
    const stops = (this.#stops[hops] ??= new Map())
    const known = stops.get(mint)
    if (known !== undefined) {
      return known
    }
    const stop: Stop = { mint, ways: [], sources: null }
    stops.set(mint, stop)
    return stop
  }

  #way(stop: Stop, hops: number, rank: number): Step | null {
    while (stop.ways.length <= rank) {
      stop.sources ??= this.#sourcesOf(stop, hops)
      let best: Source | null = null
      for (const source of stop.sources) {
        if (source.head !== null && (best === null || best.head === null || beats(source.head, best.head))) {
          best = source
        }
      }
      if (best === null || best.head === null) {
        return null
      }
      stop.ways.push(best.head)
      this.#advance(best, stop.mint, hops)
    }
    return stop.ways[rank] ?? null
  }

  #sourcesOf({ mint }: Stop, hops: number): Array<Source> {
    const sources: Array<Source> = []
    for (const partner of this.#graph.partnersOf(mint)) {
      const distance = this.#distances.get(partner)
      // Only the first hop starts from the input mint, because a path visits each mint once.
      if (distance === undefined || distance >= hops || (distance === 0) !== (hops === 1)) {
        continue
      }
      const from = this.#stop(partner, hops - 1)
      for (const pool of this.#graph.poolsBetween(partner, mint)) {
        const source: Source = { from, pool, next: 0, head: null }
        this.#advance(source, mint, hops)
        sources.push(source)
      }
    }
    return sources
  }

  /** Moves a source on to its next way that fits. */
  #advance(source: Source, mint: Mint, hops: number): void {
    source.head = null
    for (let passedOver = 0; source.head === null && passedOver < MOST_PASSED_OVER; passedOver++) {
      const from = this.#way(source.from, hops - 1, source.next++)
      if (from === null) {
        return
      }
      if (visits(from, mint)) {
        continue
      }
      const swap = attempt(source.pool, from.mint, from.amount, this.#clock)
      if (swap.amountOut === 0n || swap.ending === "refused") {
        // A path that pays less brings even less here, which is also too little.
        return
      }
      const ranOut = swap.ending === "exhausted"
      if (!ranOut || this.#mayExhaust) {
        source.head = {
          mint,
          amount: swap.amountOut,
          exhausted: from.exhausted || ranOut,
          via: { from, pool: source.pool, swap }
        }
      }
    }
  }
}

/** Up to `most` paths for each number of hops, richest first. At equal output, fewer hops come first. */
const search = (graph: PoolGraph, trade: Trade, clock: ChainClock, most: number, mayExhaust: boolean) => {
  const paths = new Search(graph, trade, clock, mayExhaust)
  const found: Array<Step> = []
  for (let hops = 1; hops <= trade.maxHops; hops++) {
    for (let rank = 0, step = paths.way(trade.outputMint, hops, 0); step !== null;) {
      found.push(step)
      rank++
      step = rank < most ? paths.way(trade.outputMint, hops, rank) : null
    }
  }
  return found.toSorted((a, b) => (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1))
}

/** Last steps of the paths whose pools take the whole amount: up to `most` for each number of hops, richest first. */
export const fillingPaths = (graph: PoolGraph, trade: Trade, clock: ChainClock, most: number): ReadonlyArray<Step> =>
  search(graph, trade, clock, most, false)

/**
 * Returns the last steps of the best path and of the next best ones. Paths whose pools can take the whole amount win
 * over paths that run out of liquidity, whatever they pay. Empty when no path leads there or every pool refuses.
 */
export const bestPaths = (graph: PoolGraph, trade: Trade, clock: ChainClock, most: number): ReadonlyArray<Step> => {
  const filling = fillingPaths(graph, trade, clock, most)
  return filling.length > 0 ? filling : search(graph, trade, clock, 1, true)
}

/** The last step of the best path; null when there is none. */
export const bestPath = (graph: PoolGraph, trade: Trade, clock: ChainClock): Step | null =>
  bestPaths(graph, trade, clock, 1)[0] ?? null

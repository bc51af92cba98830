/** Prices of mints in SOL and in dollars at one moment. */
import { type Mint, SOL } from "../domain/Address.ts"
import type { ChainClock } from "../domain/OnChainAccount.ts"
import { divide, type Rational, whole } from "../domain/rational.ts"
import type { PoolGraph } from "../quotes/pools/PoolGraph.ts"
import { type DollarValues, dollarValues, type PegRules } from "./dollars.ts"
import { type GraphPrice, makePriceGraph, type PriceEdges, type PriceHop } from "./priceGraph.ts"

/** The pools that a price comes from. */
export interface PriceEvidence {
  /** The pools of the median path, from the mint to SOL or a stable coin. Empty for SOL and stable coins. */
  readonly path: ReadonlyArray<PriceHop>
  /** Smallest depth on the path within 2 % of its prices, in micro-dollars; null without a path or a price of SOL. */
  readonly depthMicro: bigint | null
}

/** The exact price of one smallest unit of a mint. Null without a path of pools. */
export interface UnitPrice {
  /** Lamports. */
  readonly sol: Rational | null
  /** Millionths of a dollar. */
  readonly usd: Rational | null
  /** Absent where there is no price. */
  readonly evidence?: PriceEvidence
}

const MOST_HOPS = 3
/** Least depth of a path of several pools: ten dollars, or a twentieth of a SOL where SOL has no price. */
const LEAST_MICRO = 10_000_000n
const LEAST_LAMPORTS = 50_000_000n

/**
 * Returns the dollar values of SOL and the stable coins at a clock. Computes them again only when the clock or a pool
 * between them has changed.
 */
export const rememberMoney = (
  graph: PoolGraph,
  edgesAt: (clock: ChainClock) => PriceEdges,
  rules: PegRules
): ((clock: ChainClock) => DollarValues) => {
  const money = [SOL, ...rules.stables]
  const pairs = money.flatMap((a, i) => money.slice(i + 1).map((b) => [a, b] as const))
  let last: {
    readonly clock: ChainClock
    readonly pools: ReadonlyArray<unknown>
    readonly values: DollarValues
  } | null = null
  return (clock) => {
    const pools = pairs.map(([a, b]) => graph.poolsBetween(a, b))
    if (last?.clock !== clock || pools.some((list, i) => list !== last?.pools[i])) {
      last = { clock, pools, values: dollarValues(edgesAt(clock), rules) }
    }
    return last.values
  }
}

const evidenceOf = (found: GraphPrice | null, isDollars: boolean): { readonly evidence?: PriceEvidence } =>
  found === null ? {} : { evidence: { path: found.path, depthMicro: isDollars ? found.depth : null } }

const pricedInDollars = (found: GraphPrice | null, solUsd: Rational): UnitPrice => ({
  sol: found === null ? null : divide(found.price, solUsd),
  usd: found?.price ?? null,
  ...evidenceOf(found, true)
})

/** Prices by the graph. Without a price of SOL, depths in SOL and in dollars cannot be compared, and each has its own paths. */
export const unitPrices = (
  edges: PriceEdges,
  hubs: ReadonlyArray<Mint>,
  money: DollarValues
): ((mint: Mint) => UnitPrice) => {
  const rules = { hubs, mostHops: MOST_HOPS, leastDepth: LEAST_MICRO }
  const solUsd = money.sol?.price ?? null
  const anchors = new Map([...(solUsd === null ? [] : [[SOL, solUsd] as const]), ...money.stables])
  const inDollars = makePriceGraph(edges, { ...rules, anchors })
  const inSol = makePriceGraph(edges, { ...rules, anchors: new Map([[SOL, whole(1n)]]), leastDepth: LEAST_LAMPORTS })

  return (mint) => {
    if (mint === SOL) {
      return { sol: whole(1n), usd: solUsd, ...evidenceOf(money.sol, true) }
    }
    const stable = money.stables.get(mint)
    if (stable !== undefined) {
      const evidence = { path: [], depthMicro: null }
      return { sol: solUsd === null ? null : divide(stable, solUsd), usd: stable, evidence }
    }
    const found = inDollars(mint)
    if (solUsd !== null) {
      return pricedInDollars(found, solUsd)
    }
    const paid = inSol(mint)
    return { sol: paid?.price ?? null, usd: found?.price ?? null, ...evidenceOf(found ?? paid, found !== null) }
  }
}

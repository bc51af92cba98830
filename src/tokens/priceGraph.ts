/** Prices of mints over a graph of pools: a path leads over at most three pools to a mint of known value. Pure. */
import type { Address, Mint } from "../domain/Address.ts"
import { multiply, type Rational } from "../domain/rational.ts"
import { medianPrice, type Weighted } from "./poolPrice.ts"

/** A mint with more partners is priced only directly and through hubs. This bounds the work for one price. */
export const MOST_PARTNERS = 16

/** One pool seen from one of its mints. */
export interface PriceEdge {
  readonly pool: Address
  /** Units of the other mint for one unit. */
  readonly rate: Rational
  /** Depth of the pool within 2 % of its price, in units of the other mint. */
  readonly depth: bigint
}

/** The pools at one moment, as edges between mints. */
export interface PriceEdges {
  readonly between: (mint: Mint, other: Mint) => ReadonlyArray<PriceEdge>
  /** Mints that share a pool with this one. */
  readonly partnersOf: (mint: Mint) => Iterable<Mint>
}

/** One pool of a path. */
export interface PriceHop {
  readonly pool: Address
  readonly from: Mint
  readonly to: Mint
}

/** A price with the path that gave it. */
export interface GraphPrice {
  /** Value of one unit. */
  readonly price: Rational
  /** Least depth along the path, in units of value. */
  readonly depth: bigint
  readonly path: ReadonlyArray<PriceHop>
}

/** Mints of known value, and the rules for paths to them. */
export interface PriceRules {
  /** Value of one unit of each mint that ends a path. */
  readonly anchors: ReadonlyMap<Mint, Rational>
  /** Mints that a path may pass anywhere. Any other mint may only be the first stop after the priced mint. */
  readonly hubs: ReadonlyArray<Mint>
  /** Longest path, in pools. */
  readonly mostHops: number
  /** Least depth of a path of several pools, in units of value. */
  readonly leastDepth: bigint
}

interface Item extends Weighted, GraphPrice {}

/** The partners as a list; null when there are more than `MOST_PARTNERS`. */
export const fewPartners = (partners: Iterable<Mint>): ReadonlyArray<Mint> | null => {
  const few: Array<Mint> = []
  for (const partner of partners) {
    if (few.length === MOST_PARTNERS) {
      return null
    }
    few.push(partner)
  }
  return few
}

const itemOf = (mint: Mint, to: Mint, edge: PriceEdge, onward: GraphPrice | Rational): Item => {
  const isAnchor = "numerator" in onward
  const value = isAnchor ? onward : onward.price
  const own = (edge.depth * value.numerator) / value.denominator
  const depth = isAnchor || own < onward.depth ? own : onward.depth
  const hop = { pool: edge.pool, from: mint, to }
  return {
    price: multiply(edge.rate, value),
    // Plus one, so that a pool without depth still gives a price when there is no other pool.
    weight: depth + 1n,
    depth,
    path: isAnchor ? [hop] : [hop, ...onward.path]
  }
}

/**
 * Prices at one moment. The price of a mint is the weighted median over its pools. Each pool counts once, with the
 * price of its other mint and the smallest depth on the way. The other mint is priced in the same way without passing
 * the mint again, so no path repeats a mint. Pools with less than half of the depth cannot move the price past the
 * others.
 */
export const makePriceGraph = (edges: PriceEdges, { anchors, hubs, leastDepth, mostHops }: PriceRules) => {
  const known = new Map<string, GraphPrice | null>()

  const through = (mint: Mint, passed: ReadonlyArray<Mint>): ReadonlyArray<Mint> => {
    const few = passed.length === 0 ? fewPartners(edges.partnersOf(mint)) : null
    return (few ?? hubs).filter((other) => other !== mint && !anchors.has(other) && !passed.includes(other))
  }

  const indirect = (mint: Mint, passed: ReadonlyArray<Mint>): ReadonlyArray<Item> =>
    passed.length + 1 >= mostHops
      ? []
      : through(mint, passed).flatMap((other) => {
          const pools = edges.between(mint, other)
          const onward = pools.length === 0 ? null : priceOf(other, [...passed, mint])
          return onward === null || onward.depth < leastDepth
            ? []
            : pools.map((edge) => itemOf(mint, other, edge, onward)).filter(({ depth }) => depth >= leastDepth)
        })

  const compute = (mint: Mint, passed: ReadonlyArray<Mint>): GraphPrice | null => {
    const direct = Array.from(anchors).flatMap(([anchor, value]) =>
      anchor === mint ? [] : edges.between(mint, anchor).map((edge) => itemOf(mint, anchor, edge, value))
    )
    return medianPrice([...direct, ...indirect(mint, passed)])
  }

  const priceOf = (mint: Mint, passed: ReadonlyArray<Mint>): GraphPrice | null => {
    // After the first hop a path passes only hubs, so the key needs only the hubs among the passed mints.
    const key = [mint, passed.length, ...passed.filter((other) => hubs.includes(other))].join(" ")
    const price = known.get(key) ?? compute(mint, passed)
    known.set(key, price)
    return price
  }

  /** The price of the mint; null without a path. */
  return (mint: Mint): GraphPrice | null => priceOf(mint, [])
}

/** Values of stable coins and of SOL in dollars, with the check of each peg against pools. Pure. */
import { type Mint, SOL } from "../domain/Address.ts"
import { compare, divide, multiply, type Rational, reduce, whole } from "../domain/rational.ts"
import { medianPrice } from "./poolPrice.ts"
import { type GraphPrice, makePriceGraph, type PriceEdges } from "./priceGraph.ts"

/** Least depth at which pools decide about a peg, in micro-dollars: a thousand dollars. */
const LEAST_CHECK = 1_000_000_000n
/** At least this many stable coins with a checked price can outvote the first stable coin. */
const QUORUM = 3

/** Stable coins with six decimals. The first is the reference. */
export interface PegRules {
  readonly stables: ReadonlyArray<Mint>
  /** Deviation from a dollar, in basis points, up to which a stable coin counts as one. */
  readonly toleranceBps: number
}

/** Values of one smallest unit, in micro-dollars. */
export interface DollarValues {
  readonly stables: ReadonlyMap<Mint, Rational>
  /** Null without a pool of SOL against a stable coin. */
  readonly sol: GraphPrice | null
}

const DOLLAR = whole(1n)

const graphTo = (edges: PriceEdges, anchors: ReadonlyMap<Mint, Rational>) =>
  makePriceGraph(edges, { anchors, hubs: [], mostHops: 1, leastDepth: 0n })

/**
 * Units of the reference for one unit of a stable coin, by its pools against the reference and SOL; null while these
 * pools are thin.
 */
const againstReference = (edges: PriceEdges, mint: Mint, anchors: ReadonlyMap<Mint, Rational>): Rational | null => {
  const pools = Array.from(anchors).flatMap(([anchor, value]) =>
    edges.between(mint, anchor).map(({ depth, rate }) => ({
      price: multiply(rate, value),
      weight: (depth * value.numerator) / value.denominator
    }))
  )
  const total = pools.reduce((sum, { weight }) => sum + weight, 0n)
  return total < LEAST_CHECK ? null : (medianPrice(pools)?.price ?? null)
}

/** Units of the reference for a dollar: one, unless enough stable coins agree on another value. */
const dollarIn = (checked: ReadonlyArray<Rational>): Rational => {
  const votes = [DOLLAR, ...checked].map((price) => ({ price, weight: 1n }))
  return votes.length < QUORUM ? DOLLAR : (medianPrice(votes)?.price ?? DOLLAR)
}

const pegged = (value: Rational, toleranceBps: number): Rational => {
  const scaled = multiply(value, whole(10_000n))
  const isNear =
    compare(scaled, whole(BigInt(10_000 - toleranceBps))) >= 0 &&
    compare(scaled, whole(BigInt(10_000 + toleranceBps))) <= 0
  return isNear ? DOLLAR : reduce(value)
}

/**
 * Values of the stable coins and of SOL. A stable coin counts as a dollar unless its pools put it further away than the
 * tolerance. A coin without deep pools in memory cannot be checked and counts as a dollar.
 */
export const dollarValues = (edges: PriceEdges, { stables, toleranceBps }: PegRules): DollarValues => {
  const [reference, ...others] = stables
  if (reference === undefined) {
    return { stables: new Map(), sol: null }
  }
  const solIn = graphTo(edges, new Map([[reference, DOLLAR]]))(SOL)
  const anchors = new Map([[reference, DOLLAR], ...(solIn === null ? [] : [[SOL, solIn.price] as const])])
  const rates = others.map((mint) => ({ mint, rate: againstReference(edges, mint, anchors) }))
  const dollar = pegged(dollarIn(rates.flatMap(({ rate }) => (rate === null ? [] : [rate]))), toleranceBps)
  const values = new Map(
    [{ mint: reference, rate: DOLLAR }, ...rates].map(({ mint, rate }) => [
      mint,
      rate === null ? DOLLAR : pegged(divide(rate, dollar), toleranceBps)
    ])
  )
  return { stables: values, sol: graphTo(edges, values)(SOL) }
}

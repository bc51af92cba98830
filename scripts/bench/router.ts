/**
 * Time of a route search: three hops over 2,000 pools and 500 mints, `node scripts/bench/router.ts [--json]`.
 *
 * Six of ten pools trade SOL, two USDC, one a third hub and one two tokens with each other; half are concentrated. Pairs
 * are drawn at random; `hubs` are routes from SOL to USDC, the widest there are. In the same run the search is compared
 * with trying every path on small markets, and a spread route with its best single path; `routeLoss.ts` measures what a route
 * loses against the best flow over all paths.
 */
import type { Pool } from "../../src/programs/interface/Program.ts"
import { type Address, addressFromBytes, type Mint, SOL, USDC } from "../../src/domain/Address.ts"
import type { PoolGraph } from "../../src/quotes/pools/PoolGraph.ts"
import { bestPath } from "../../src/quotes/bestPath.ts"
import { pricedRoute } from "../../src/quotes/routedQuote.ts"
import { spreadRoute } from "../../src/quotes/spreadRoute.ts"
import { exhaustive } from "../../test/quotes/exhaustive.ts"
import { percentile, report } from "./report.ts"
import { routeLoss } from "./routeLoss.ts"
import { concentrated, constantProduct } from "./warmPools.ts"

const clock = { slot: 1, epoch: 1, unixTimestamp: 1 }
const MINTS = 500
const POOLS = 2000
const ROUTES = 4000

// A linear congruential generator (Numerical Recipes): the same market in every run.
const randomFrom = (seed: number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const numbered = (kind: number, n: number): Address => {
  const bytes = new Uint8Array(32).fill(kind)
  new DataView(bytes.buffer).setUint32(0, n)
  return addressFromBytes(bytes)
}

const THIRD: Mint = numbered(3, 0)

const mintsOf = (count: number): ReadonlyArray<Mint> => [
  SOL,
  USDC,
  THIRD,
  ...Array.from({ length: count - 3 }, (_, n) => numbered(4, n))
]

const hubFor = (draw: number): Mint | null => (draw < 0.6 ? SOL : draw < 0.8 ? USDC : draw < 0.9 ? THIRD : null)

const marketOf = (mints: ReadonlyArray<Mint>, count: number, random: () => number): ReadonlyArray<Pool> => {
  const any = () => mints[Math.floor(random() * mints.length)] ?? SOL
  return Array.from({ length: count }, (_, n) => {
    const mintA = any()
    const other = hubFor(random()) ?? any()
    const mintB = other === mintA ? (mintA === SOL ? USDC : SOL) : other
    const plan = { address: numbered(5, n), mintA, mintB, depth: 1 + Math.floor(random() ** 4 * 1000) }
    return n % 2 === 0 ? constantProduct(plan) : concentrated(plan)
  })
}

const graphOf = (pools: ReadonlyArray<Pool>): PoolGraph => {
  const pairs = new Map<Mint, Map<Mint, Array<Pool>>>()
  for (const pool of pools) {
    for (const [a, b] of [[pool.mintA, pool.mintB] as const, [pool.mintB, pool.mintA] as const]) {
      const partners = pairs.get(a) ?? new Map<Mint, Array<Pool>>()
      pairs.set(a, partners.set(b, [...(partners.get(b) ?? []), pool]))
    }
  }
  return { partnersOf: (mint) => pairs.get(mint)?.keys() ?? [], poolsBetween: (a, b) => pairs.get(a)?.get(b) ?? [] }
}

const micros = (samples: ReadonlyArray<number>) => ({
  p50: Math.round(percentile(samples, 0.5) ?? 0),
  p99: Math.round(percentile(samples, 0.99) ?? 0)
})

const random = randomFrom(11)
const mints = mintsOf(MINTS)
const graph = graphOf(marketOf(mints, POOLS, random))

const timed = (inputMint: Mint, outputMint: Mint): { micros: number; found: boolean } => {
  const request = { inputMint, outputMint, amount: 1_000_000_000n, slippageBps: 50, maxHops: 3 }
  const startedAt = process.hrtime.bigint()
  const route = pricedRoute(graph, request, clock)
  return { micros: Number(process.hrtime.bigint() - startedAt) / 1000, found: route !== null }
}

const pairs = Array.from({ length: ROUTES }, () => {
  const from = Math.floor(random() * MINTS)
  const to = (from + 1 + Math.floor(random() * (MINTS - 1))) % MINTS
  return [mints[from] ?? SOL, mints[to] ?? USDC] as const
})
for (const [from, to] of pairs.slice(0, ROUTES / 4)) {
  timed(from, to)
}
const routes = pairs.map(([from, to]) => timed(from, to))
const hubs = Array.from({ length: ROUTES / 8 }, () => timed(SOL, USDC))

const CHECKS = 400
let optimal = 0
let neverWorse = 0
let spread = 0
for (let i = 0; i < CHECKS; i++) {
  const few = mintsOf(7)
  const pools = marketOf(few, 14, randomFrom(1000 + i))
  const small = graphOf(pools)
  const trade = {
    inputMint: few[3] ?? SOL,
    outputMint: few[4] ?? USDC,
    amount: 10n ** BigInt(6 + (i % 8)),
    maxHops: 1 + (i % 4)
  }
  const last = bestPath(small, trade, clock)
  const single = last === null || last.exhausted ? 0n : last.amount
  optimal += single === exhaustive(pools, trade, clock) ? 1 : 0
  const whole = last === null || last.exhausted ? 0n : (spreadRoute(small, trade, clock)?.amountOut ?? 0n)
  neverWorse += whole >= single ? 1 : 0
  spread += whole > single ? 1 : 0
}

report("router", {
  pools: POOLS,
  mints: MINTS,
  hops: 3,
  routes: ROUTES,
  found: routes.filter(({ found }) => found).length,
  routeMicros: micros(routes.map((route) => route.micros)),
  hubMicros: micros(hubs.map((route) => route.micros)),
  checks: CHECKS,
  sameAsExhaustive: optimal,
  spreadNeverWorse: neverWorse,
  spreadBetter: spread,
  loss: routeLoss(1000)
})

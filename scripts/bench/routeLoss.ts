/**
 * What routes lose against the best flow over all paths, on random markets of three to six mints and up to 18 pools.
 *
 * The optimum: 400 steps of the amount, each on the best path of at most four hops through the pools as the steps before
 * it left them.
 */
import { type Address, addressFromBytes, type Mint } from "../../src/domain/Address.ts"
import type { Pool } from "../../src/programs/interface/Program.ts"
import type { PoolGraph } from "../../src/quotes/pools/PoolGraph.ts"
import { bestPath } from "../../src/quotes/bestPath.ts"
import { splitRoute } from "../../src/quotes/splitRoute.ts"
import { type Spread, spreadRoute } from "../../src/quotes/spreadRoute.ts"

const STEPS = 400
const MOST_HOPS = 4
/** Markets with more paths are left out: the optimum takes too long there. */
const MOST_PATHS = 600
const clock = { slot: 1, epoch: 900, unixTimestamp: 1_795_000_000 }

const numbered = (kind: number, n: number): Address => addressFromBytes(new Uint8Array(32).fill(kind).fill(n, 31))
const [FROM, TO] = [numbered(4, 0), numbered(4, 1)]

interface Plan {
  readonly id: Address
  readonly a: Mint
  readonly b: Mint
  readonly fee: bigint
  reserveA: bigint
  reserveB: bigint
}
type Path = ReadonlyArray<readonly [plan: Plan, aToB: boolean]>

const paid = ({ reserveA, reserveB, fee }: Plan, aToB: boolean, amount: bigint): bigint => {
  const [reserveIn, reserveOut] = aToB ? [reserveA, reserveB] : [reserveB, reserveA]
  const net = amount - (amount * fee + 9999n) / 10_000n
  return net <= 0n ? 0n : (reserveOut * net) / (reserveIn + net)
}

const poolOf = (plan: Plan): Pool => ({
  address: plan.id,
  dex: "toy",
  mintA: plan.a,
  mintB: plan.b,
  slot: 1,
  swap: (aToB, amountIn) => {
    const amountOut = paid(plan, aToB, amountIn)
    return amountOut > 0n
      ? { ending: "filled", amountIn, amountOut }
      : { ending: "refused", amountIn: 0n, amountOut: 0n }
  },
  marginalRate: () => ({ numerator: 0n, denominator: 0n })
})

/** The generator of the first measurement, so that its markets come up again. Its product is rounded on purpose. */
const drawsFrom = (seed: number) => {
  let state = seed
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
  return { next, whole: (least: number, most: number) => least + Math.floor(next() * (most - least + 1)) }
}

type Draws = ReturnType<typeof drawsFrom>

const marketOf = ({ next, whole }: Draws) => {
  const mints = whole(3, 6)
  const values = Array.from({ length: mints }, () => Math.exp((next() - 0.5) * 6))
  const plans: Array<Plan> = []
  const count = whole(mints, 3 * mints)
  for (let n = 0; n < count; n++) {
    const [i, j] = [whole(0, mints - 1), whole(0, mints - 1)]
    if (i === j) {
      continue
    }
    const depth = Math.exp(Math.log(1e9) + next() * Math.log(1e4))
    const skew = 1 + (next() - 0.5) * 0.02
    plans.push({
      id: numbered(5, n),
      a: numbered(4, i),
      b: numbered(4, j),
      reserveA: BigInt(Math.floor((depth / (values[i] ?? 1)) * skew)) + 1000n,
      reserveB: BigInt(Math.floor(depth / (values[j] ?? 1))) + 1000n,
      fee: [1n, 5n, 25n, 30n, 100n][whole(0, 4)] ?? 1n
    })
  }
  const amount = BigInt(Math.floor(Math.exp(Math.log(1e5) + next() * Math.log(1e5)) / (values[0] ?? 1))) + 10n
  return { plans, amount }
}

const graphOf = (plans: ReadonlyArray<Plan>): PoolGraph => {
  const pools = plans.map(poolOf)
  return {
    partnersOf: (mint) => new Set(plans.flatMap(({ a, b }) => (a === mint ? [b] : b === mint ? [a] : []))),
    poolsBetween: (a, b) =>
      pools.filter(({ mintA, mintB }) => (mintA === a && mintB === b) || (mintA === b && mintB === a))
  }
}

const pathsOf = (plans: ReadonlyArray<Plan>, from: Mint, to: Mint): ReadonlyArray<Path> => {
  const found: Array<Path> = []
  const walk = (mint: Mint, seen: ReadonlyArray<Mint>, path: Path) => {
    if (mint === to) {
      found.push(path)
      return
    }
    for (const plan of path.length === MOST_HOPS ? [] : plans) {
      const next = plan.a === mint ? plan.b : plan.b === mint ? plan.a : null
      if (next !== null && !seen.includes(next)) {
        walk(next, [...seen, next], [...path, [plan, plan.a === mint]])
      }
    }
  }
  walk(from, [from], [])
  return found
}

const along = (path: Path, amount: bigint): bigint =>
  path.reduce((held, [plan, aToB]) => (held === 0n ? 0n : paid(plan, aToB, held)), amount)

const spend = (path: Path, amount: bigint): bigint => {
  let held = amount
  for (const [plan, aToB] of path) {
    const out = paid(plan, aToB, held)
    plan.reserveA += aToB ? held : -out
    plan.reserveB += aToB ? -out : held
    held = out
  }
  return held
}

const optimum = (plans: ReadonlyArray<Plan>, amount: bigint): bigint => {
  const fresh = plans.map((plan) => ({ ...plan }))
  const paths = pathsOf(fresh, FROM, TO)
  let [given, got] = [0n, 0n]
  for (let step = 1n; step <= STEPS; step++) {
    const part = (amount * step) / BigInt(STEPS) - given
    given += part
    const outs = paths.map((path) => along(path, part))
    const most = outs.reduce((best, out, i) => (out > (outs[best] ?? 0n) ? i : best), 0)
    got += spend(paths[most] ?? [], part)
  }
  return got
}

/** What the swaps pay when they are executed in their order on pools that change. Null when one takes what is not held. */
const replay = (plans: ReadonlyArray<Plan>, amount: bigint, shares: Spread["shares"]) => {
  const fresh = new Map(plans.map((plan) => [plan.id, { ...plan }]))
  const held = new Map([[FROM, amount]])
  for (const { pool, inputMint, outputMint, swap } of shares) {
    const plan = fresh.get(pool.address)
    const left = (held.get(inputMint) ?? 0n) - swap.amountIn
    if (plan === undefined || left < 0n) {
      return null
    }
    held.set(inputMint, left)
    held.set(outputMint, (held.get(outputMint) ?? 0n) + spend([[plan, plan.a === inputMint]], swap.amountIn))
  }
  const out = held.get(TO) ?? 0n
  held.delete(TO)
  return Array.from(held.values()).every((left) => left === 0n) ? out : null
}

/** Longest chain of swaps in which each takes what an earlier one paid. */
const hopsOf = (shares: Spread["shares"]): number => {
  const depths = new Map<Mint, number>()
  for (const { inputMint, outputMint } of shares) {
    depths.set(outputMint, Math.max(depths.get(outputMint) ?? 0, (depths.get(inputMint) ?? 0) + 1))
  }
  return Math.max(...depths.values())
}

const basisPoints = (best: bigint, out: bigint): number => Number(((best - out) * 1_000_000n) / best) / 100

const spreadOf = (losses: ReadonlyArray<number>) => {
  const sorted = losses.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted.at(-1) }
}

const measure = (markets: Iterable<ReturnType<typeof marketOf>>) => {
  const [losses, before]: [Array<number>, Array<number>] = [[], []]
  const sums = { routes: 0, compared: 0, replayedExactly: 0, worseThanDivided: 0, tooManyHops: 0, mostPools: 0 }
  for (const { plans, amount } of markets) {
    const graph = graphOf(plans)
    const trade = { inputMint: FROM, outputMint: TO, amount, maxHops: MOST_HOPS }
    const last = bestPath(graph, trade, clock)
    const spread = spreadRoute(graph, trade, clock)
    if (last === null || spread === null) {
      continue
    }
    const divided = splitRoute(graph, last, amount, clock).at(-1)?.amountOut ?? 0n
    const { shares, amountOut } = spread
    sums.routes++
    sums.replayedExactly += replay(plans, amount, shares) === amountOut ? 1 : 0
    sums.worseThanDivided += amountOut < divided ? 1 : 0
    sums.tooManyHops += hopsOf(shares) > MOST_HOPS ? 1 : 0
    sums.mostPools = Math.max(sums.mostPools, shares.length)
    if (pathsOf(plans, FROM, TO).length <= MOST_PATHS) {
      const optimal = optimum(plans, amount)
      const best = optimal > last.amount ? optimal : last.amount
      losses.push(basisPoints(best, amountOut))
      before.push(basisPoints(best, divided))
      sums.compared++
    }
  }
  return { ...sums, lossBps: spreadOf(losses), dividedLossBps: spreadOf(before) }
}

const drawn = function* (draws: Draws, count: number) {
  for (let n = 0; n < count; n++) {
    yield marketOf(draws)
  }
}

/** One market for each seed, as many as have a route. */
const seeded = function* (count: number) {
  for (let seed = 1, yielded = 0; yielded < count; seed++) {
    const market = marketOf(drawsFrom(seed * 7_919))
    if (pathsOf(market.plans, FROM, TO).length > 0) {
      yielded++
      yield market
    }
  }
}

/** Losses in basis points: 300 markets of one seed, 258 of them with a route, and a market for each of `seeds` seeds. */
export const routeLoss = (seeds: number) => ({
  oneSeed: measure(drawn(drawsFrom(7), 300)),
  manySeeds: measure(seeded(seeds))
})

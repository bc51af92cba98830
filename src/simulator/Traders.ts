import { minBigInt } from "../amm/integers.ts"
import { type Address, type Mint, SOL, USDC } from "../domain/Address.ts"
import { arbitrage, type Worth } from "./arbitrage.ts"
import { SLOT_MS } from "./Bank.ts"
import type { Cast } from "./cast.ts"
import type { Deed, RecordedSwap } from "./Ledger.ts"
import type { Random } from "./Random.ts"
import type { SimPool } from "./SimPool.ts"
import { charge, depthOf, otherMint, planSale, priceOf, reserveOf, sell } from "./trade.ts"
import type { World } from "./World.ts"

/** A mint as traders see it. */
export interface Listing {
  readonly mint: Mint
  /** Pools they may use; at least one. */
  readonly pools: ReadonlyArray<SimPool>
  /** What it was worth at first, in lamports for an atomic unit. Beliefs wander around it. */
  readonly worth: number
  /** How far beliefs wander in one slot, as a fraction. */
  readonly volatility: number
}

/** Seeded habits: they decide who wants what, slot by slot. */
export interface Traders {
  /** Everything that is traded in one slot, already carried out. */
  readonly trade: () => ReadonlyArray<Deed>
}

/** What a listing is believed to be worth, wandering around where it began. */
interface Belief {
  readonly listing: Listing
  worth: number
  attention: number
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

/** Mostly small, sometimes forty times as large. */
const appetite = (random: Random): number => 0.0002 / (random.unit() + 0.025)

// One slot's pull of beliefs back to where they began.
const PULL = 2e-6

const wander = (random: Random, belief: Belief): void => {
  const { listing } = belief
  const step = (random.unit() + random.unit() + random.unit() - 1.5) * 2 * listing.volatility
  belief.worth *= 1 + step + PULL * (listing.worth / belief.worth - 1)
  if (random.chance(0.002)) {
    belief.attention = random.between(0.2, 1) / random.between(0.1, 1)
  }
}

const byAttention = (random: Random, beliefs: ReadonlyArray<Belief>): Belief => {
  const total = beliefs.reduce((sum, { attention }) => sum + attention, 0)
  let left = random.unit() * total
  for (const belief of beliefs) {
    left -= belief.attention
    if (left < 0) {
      return belief
    }
  }
  return random.pick(beliefs)
}

const TOP_UP = new Map<Mint, bigint>([
  [SOL, 200_000_000_000n],
  [USDC, 20_000_000_000n]
])

/** The habits of the cast over the listings, at about this many swaps a second of simulated time. */
export const makeTraders = (options: {
  readonly world: World
  readonly random: Random
  readonly cast: Cast
  readonly listings: () => ReadonlyArray<Listing>
  readonly swapsPerSecond: number
}): Traders => {
  const { world, random, cast, listings, swapsPerSecond } = options
  const beliefs = new Map<Mint, Belief>()
  let deeds: Array<Deed> = []

  const done = (wallet: Address, swaps: ReadonlyArray<RecordedSwap | null>): number => {
    const made = swaps.filter((swap) => swap !== null)
    if (made.length > 0) {
      deeds.push(charge(world, wallet, cast.validator, "trade", made))
    }
    return made.length
  }

  const solInUsdc = (): number => {
    const usdc = listings().find(({ mint }) => mint === USDC)
    const [pool] = usdc?.pools ?? []
    return pool === undefined ? 0 : priceOf(pool, USDC)
  }

  const worthOf: Worth = (mint) => (mint === SOL ? 1 : mint === USDC ? solInUsdc() : null)

  const topUp = (wallet: Address, mint: Mint): void => {
    const amount = TOP_UP.get(mint)
    if (amount !== undefined && world.holding(wallet, mint) < amount / 100n + reserveOf(mint)) {
      world.pay(world.purse(cast.treasury, mint), world.purse(wallet, mint), mint, amount)
      deeds.push(charge(world, cast.treasury, cast.validator, "transfer"))
    }
  }

  /** The better of two pools for this sale, as a trader who looks around a little finds it. */
  const choose = (pools: ReadonlyArray<SimPool>, mint: Mint, amount: (pool: SimPool) => bigint) => {
    const tried = [random.pick(pools), random.pick(pools)].map((pool) => {
      const amountIn = amount(pool)
      const plan = planSale(world, pool, mint, amountIn)
      return { pool, amountIn, rate: plan === null ? -1 : Number(plan.amountOut) / Number(plan.amountIn) }
    })
    return tried.toSorted((a, b) => b.rate - a.rate)[0]
  }

  const buy = (wallet: Address, listing: Listing, share: number): number => {
    const { mint, pools } = listing
    const quote = otherMint(random.pick(pools), mint)
    topUp(wallet, quote)
    const least = (world.holding(wallet, quote) - reserveOf(quote)) / 3n
    const wanted = (pool: SimPool) => minBigInt(least, BigInt(Math.floor(depthOf(pool, quote) * share)))
    const chosen = choose(
      pools.filter((pool) => otherMint(pool, mint) === quote),
      quote,
      wanted
    )
    return chosen === undefined ? 0 : done(wallet, [sell(world, wallet, chosen.pool, quote, chosen.amountIn)])
  }

  const unload = (wallet: Address, { mint, pools }: Listing, share: number): number => {
    const held = world.holding(wallet, mint) - reserveOf(mint)
    const wanted = (pool: SimPool) => minBigInt(held, BigInt(Math.floor(depthOf(pool, mint) * share)))
    const chosen = held > 0n ? choose(pools, mint, wanted) : undefined
    return chosen === undefined ? 0 : done(wallet, [sell(world, wallet, chosen.pool, mint, chosen.amountIn)])
  }

  const act = (wallet: Address, { listing, worth }: Belief, share: number): number => {
    const unit = worthOf(otherMint(random.pick(listing.pools), listing.mint)) ?? 1
    const now = priceOf(random.pick(listing.pools), listing.mint) * unit
    const gap = worth / now - 1
    return random.chance(clamp(0.5 + gap * 6, 0.12, 0.88))
      ? buy(wallet, listing, share)
      : unload(wallet, listing, share)
  }

  const believe = (): ReadonlyArray<Belief> =>
    listings().map((listing) => {
      const known = beliefs.get(listing.mint)
      if (known?.listing === listing) {
        return known
      }
      const belief = { listing, worth: known?.worth ?? listing.worth, attention: known?.attention ?? 1 }
      beliefs.set(listing.mint, belief)
      return belief
    })

  const trade = (): ReadonlyArray<Deed> => {
    deeds = []
    const now = believe()
    now.forEach((belief) => wander(random, belief))
    const budget = ((swapsPerSecond * SLOT_MS) / 1000) * random.between(0.5, 1.5)
    let swaps = 0
    for (const { listing } of now) {
      const wallet = random.pick(cast.arbitrageurs)
      const several = listing.pools.length > 1 && random.chance(0.5)
      swaps += several ? done(wallet, arbitrage(world, wallet, listing.pools, listing.mint, worthOf)) : 0
    }
    // An attempt that comes to nothing still takes a trader's time, so the loop ends.
    for (let tries = 0; swaps < budget && tries < budget * 3; tries++) {
      const whale = random.chance(0.004)
      const wallet = random.pick(whale ? cast.whales : cast.retail)
      swaps += act(wallet, byAttention(random, now), appetite(random) * (whale ? 8 : 1))
    }
    return deeds
  }

  return { trade }
}

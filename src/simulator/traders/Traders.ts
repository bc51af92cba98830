import { type Address, type Mint, SOL, USDC } from "../../domain/Address.ts"
import { arbitrage, type Worth } from "./arbitrage.ts"
import type { Cast } from "./cast.ts"
import type { Deed } from "../chain/Ledger.ts"
import { makeHabits } from "./habits.ts"
import { makeRandom, type Random } from "./Random.ts"
import { type Listing, makeRetail } from "./retail.ts"
import { isRouted } from "../../programs/jupiter/route.ts"
import { type Carried, depthOf, otherMint, priceOf, reserveOf, sell } from "./trade.ts"
import { failedDeed, tradeDeed, transferDeed } from "../chain/transactions.ts"
import type { World } from "../chain/World.ts"

/** Seeded habits: they decide who wants what, slot by slot. */
export interface Traders {
  /** Everything that is traded in one slot, already carried out. */
  readonly trade: (pace: Pace) => ReadonlyArray<Deed>
}

/** How much happens in one block. */
export interface Pace {
  /** Swaps, on average. */
  readonly swaps: number
  /** How many times as large as usual they are. */
  readonly boldness: number
  /** How many times as large again they are in coins that were launched here. */
  readonly hype: number
  /** How likely an arbitrageur looks at one mint. */
  readonly alignments: number
  /** Slots from one launch to the next. */
  readonly slotsPerLaunch: number
}

/** What a listing is believed to be worth, wandering around where it began. */
interface Belief {
  readonly listing: Listing
  worth: number
  attention: number
}

/** More slots than this between two blocks are a long time. */
const SELDOM = 10

/** Shares of trades that go through an aggregator, and of what else happens for each of them. */
const ROUTED = 0.25
const FAILED = 0.04
const GIVEN = 0.03

/** Nobody moves more of a pool than this at once. */
const MOST_SHARE = 0.07

/** Mostly small, sometimes forty times as large. */
const appetite = (random: Random): number => 0.0002 / (random.unit() + 0.025)

// One slot's pull of beliefs back to where they began.
const PULL = 2e-6
// How likely a mint gets more or less attention from one slot to the next.
const TURN = 0.002

/** Lets a belief wander for so many slots: as far as the square root of them. */
const wander = (random: Random, belief: Belief, slots: number): void => {
  const { listing } = belief
  const step = (random.unit() + random.unit() + random.unit() - 1.5) * 2 * listing.volatility * Math.sqrt(slots)
  belief.worth *= 1 + step + Math.min(1, PULL * slots) * (listing.worth / belief.worth - 1)
  if (random.chance(TURN * slots)) {
    belief.attention = random.between(0.2, 1) / random.between(0.1, 1)
  }
}

const byAttention = (random: Random, beliefs: ReadonlyArray<Belief>): Belief => {
  let left = random.unit() * beliefs.reduce((sum, { attention }) => sum + attention, 0)
  for (const belief of beliefs) {
    left -= belief.attention
    if (left < 0) {
      return belief
    }
  }
  return random.pick(beliefs)
}

/** What a wallet that has run dry is given. */
const TOP_UP = new Map<Mint, bigint>([
  [SOL, 200_000_000_000n],
  [USDC, 20_000_000_000n]
])

const makeBeliefs = (listings: () => ReadonlyArray<Listing>) => {
  const known = new Map<Mint, Belief>()
  return (): ReadonlyArray<Belief> =>
    listings().map((listing) => {
      const before = known.get(listing.mint)
      if (before?.listing === listing) {
        return before
      }
      const belief = { listing, worth: before?.worth ?? listing.worth, attention: before?.attention ?? 1 }
      known.set(listing.mint, belief)
      return belief
    })
}

/** The habits of the cast over the listings. */
export const makeTraders = (options: {
  readonly world: World
  readonly random: Random
  readonly cast: Cast
  readonly listings: () => ReadonlyArray<Listing>
}): Traders => {
  const { world, random, cast, listings } = options
  const beliefs = makeBeliefs(listings)
  let deeds: Array<Deed> = []

  const parties = (wallet: Address) => ({ wallet, validator: cast.validator })
  const record = (wallet: Address, swaps: ReadonlyArray<Carried>): number => {
    const [first, ...rest] = swaps
    if (first !== undefined) {
      deeds.push(tradeDeed(world, parties(wallet), [first, ...rest]))
    }
    return swaps.length
  }

  const lamportsPerUsdc = (): number => {
    const [pool] = listings().find(({ mint }) => mint === USDC)?.pools ?? []
    return pool === undefined ? 0 : priceOf(pool, USDC)
  }
  const worthOf: Worth = (mint) => (mint === SOL ? 1 : mint === USDC ? lamportsPerUsdc() : null)

  const give = (from: Address, to: Address, mint: Mint, amount: bigint): void => {
    world.takeTrace()
    world.pay(world.purse(from, mint), world.purse(to, mint), mint, amount)
    deeds.push(transferDeed(world, parties(from)))
  }

  const topUp = (wallet: Address, mint: Mint): void => {
    const amount = TOP_UP.get(mint)
    if (amount !== undefined && world.holding(wallet, mint) < amount / 100n + reserveOf(mint)) {
      give(cast.treasury, wallet, mint, amount)
    }
  }
  const retail = makeRetail({ world, random, worthOf, prepare: topUp })
  const habits = makeHabits({
    world,
    random: makeRandom(`${world.seed} habits`),
    cast,
    prepare: topUp,
    made: (wallet, swap) => record(wallet, [swap])
  })

  const align = ({ mint, pools }: Listing, likelihood: number): number => {
    const wallet = random.pick(cast.arbitrageurs)
    return pools.length > 1 && random.chance(likelihood)
      ? record(wallet, arbitrage(world, wallet, pools, mint, worthOf))
      : 0
  }

  const gamble = (now: ReadonlyArray<Belief>, { boldness, hype }: Pace, wanted?: Belief): number => {
    const whale = random.chance(0.004)
    const wallet = random.pick(whale ? cast.whales : cast.retail)
    const { listing, worth } = wanted ?? byAttention(random, now)
    const wrapper = random.chance(ROUTED) ? "associated" : "seeded"
    const share = Math.min(MOST_SHARE, appetite(random) * boldness * (listing.launched ? hype : 1) * (whale ? 8 : 1))
    const swap = retail.act(wallet, listing, worth, share, wrapper)
    if (swap === null) {
      return 0
    }
    const onward =
      wrapper === "associated" && swap.outputMint === SOL && random.chance(0.5) ? goOn(wallet, swap, now) : null
    return record(wallet, onward === null ? [swap] : [swap, onward])
  }

  /** Spends what a routed sale has brought on another coin, in the same transaction. */
  const goOn = (
    wallet: Address,
    { amountOut, inputMint, dex }: Carried,
    now: ReadonlyArray<Belief>
  ): Carried | null => {
    const { listing } = byAttention(random, now)
    const pools = listing.pools.filter((pool) => isRouted(pool.dex) && otherMint(pool, listing.mint) === SOL)
    return listing.mint === inputMint || !isRouted(dex) || pools.length === 0
      ? null
      : sell(world, wallet, random.pick(pools), SOL, amountOut, "associated")
  }

  /** A swap that comes too late. */
  const miss = (now: ReadonlyArray<Belief>): void => {
    const { listing } = byAttention(random, now)
    const pool = random.pick(listing.pools)
    const mint = random.chance(0.5) ? listing.mint : otherMint(pool, listing.mint)
    const amountIn = BigInt(Math.floor(depthOf(pool, mint) * appetite(random)))
    const deed = failedDeed(world, parties(random.pick(cast.retail)), { pool, mint, amountIn })
    if (deed !== null) {
      deeds.push(deed)
    }
  }

  /** A present from one wallet to another. */
  const share = (now: ReadonlyArray<Belief>): void => {
    const [from, to] = [random.pick(cast.retail), random.pick(cast.retail)]
    const mint = random.chance(0.3) ? SOL : byAttention(random, now).listing.mint
    const amount = (world.holding(from, mint) - reserveOf(mint)) / 50n
    if (from !== to && amount > 0n) {
      give(from, to, mint, amount)
    }
  }

  let tradedAt = world.bank.clock().slot

  const trade = (pace: Pace): ReadonlyArray<Deed> => {
    deeds = []
    const { slot } = world.bank.clock()
    const slots = slot - tradedAt
    tradedAt = slot
    const now = beliefs()
    now.forEach((belief) => wander(random, belief, slots))
    const budget = pace.swaps * random.between(0.5, 1.5)
    let swaps = now.reduce((sum, { listing }) => sum + align(listing, pace.alignments), 0)
    swaps += habits.act(
      now.map(({ listing }) => listing),
      slots
    )
    // After a long time without blocks SOL is the first that anybody wants a price of.
    const money = slots > SELDOM ? now.find(({ listing }) => listing.mint === USDC) : undefined
    swaps += money === undefined ? 0 : gamble(now, pace, money)
    // An attempt that comes to nothing still takes a trader's time, so the loop ends.
    for (let tries = 0; swaps < budget && tries < budget * 3; tries++) {
      swaps += gamble(now, pace)
      if (random.chance(FAILED)) {
        miss(now)
      }
      if (random.chance(GIVEN)) {
        share(now)
      }
    }
    return deeds
  }

  return { trade }
}

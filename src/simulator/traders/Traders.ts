import { type Address, type Mint, SOL, USDC } from "../../domain/Address.ts"
import { isDollar } from "../../domain/stables.ts"
import { arbitrage, type Worth } from "./arbitrage.ts"
import { type Cast, frontEndOf } from "./cast.ts"
import type { Deed } from "../chain/Ledger.ts"
import { makeHabits } from "./habits.ts"
import { makeRandom, type Random } from "../chain/Random.ts"
import { makeOwnAccounts } from "./ownAccounts.ts"
import { type Listing, makeRetail } from "./retail.ts"
import { isRouted } from "../../programs/jupiter/route.ts"
import { type Carried, depthOf, otherMint, priceOf, reserveOf, sell } from "../chain/trade.ts"
import { failedDeed, tradeDeed, transferDeed } from "../chain/transactions.ts"
import type { World } from "../chain/World.ts"

/** How active one block is. */
export interface Pace {
  /** Mean number of swaps. A fraction is the probability of one more. */
  readonly swaps: number
  /** Size of swaps as a multiple of the usual size. */
  readonly boldness: number
  /** Additional multiple for launched coins. */
  readonly hype: number
  /** Probability that an arbitrageur looks at a mint. */
  readonly alignments: number
}

/** What traders believe a listing is worth: a random walk around its initial value. */
interface Belief {
  readonly listing: Listing
  worth: number
  attention: number
}

/** SOL is traded at least once in this many slots (one minute), so its dollar price is never old. */
const MONEY_EVERY = 150

/** Probabilities: that an aggregator routes a trade, and that a failed swap or a transfer comes with a trade. */
const ROUTED = 0.25
const FAILED = 0.04
const GIVEN = 0.03

/** The largest share of a pool that one swap may move. */
const MOST_SHARE = 0.07

/** The share of a pool to trade: usually small, sometimes forty times as large. */
const appetite = (random: Random): number => 0.0002 / (random.unit() + 0.025)

// How strongly beliefs revert to their mean, per slot.
const PULL = 2e-6
// Probability per slot that the attention on a mint changes.
const TURN = 0.002

/** Moves a belief randomly over `slots` slots. The deviation grows with the square root of `slots`. */
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

/** How much a wallet receives when it has too little of a mint. */
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
      const isSame = before?.listing.worth === listing.worth
      const worth = before !== undefined && isSame ? before.worth : listing.worth
      const belief = { listing, worth, attention: before?.attention ?? 1 }
      known.set(listing.mint, belief)
      return belief
    })
}

/** Makes the function that executes the cast's trades of one slot. */
export const makeTraders = (options: {
  readonly world: World
  readonly random: Random
  readonly cast: Cast
  readonly listings: () => ReadonlyArray<Listing>
}): ((pace: Pace) => ReadonlyArray<Deed>) => {
  const { world, random, cast, listings } = options
  const beliefs = makeBeliefs(listings)
  let deeds: Array<Deed> = []

  const parties = (wallet: Address) => ({ wallet, validator: cast.validator })
  const record = (wallet: Address, swaps: ReadonlyArray<Carried>): number => {
    const [first, ...rest] = swaps
    if (first !== undefined) {
      deeds.push(tradeDeed(world, { ...parties(wallet), frontEnd: frontEndOf(cast, wallet) }, [first, ...rest]))
    }
    return swaps.length
  }

  const lamportsPerUsdc = (): number => {
    const [pool] = listings().find(({ mint }) => mint === USDC)?.pools ?? []
    return pool === undefined ? 0 : priceOf(pool, USDC)
  }
  const worthOf: Worth = (mint) => (mint === SOL ? 1 : isDollar(mint) ? lamportsPerUsdc() : null)

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
  const tradeRetail = makeRetail({ world, random, worthOf, prepare: topUp })
  const actByHabit = makeHabits({
    world,
    random: makeRandom(`${world.seed} habits`),
    cast,
    prepare: topUp,
    made: (wallet, swap) => record(wallet, [swap])
  })

  const actOnOwnAccounts = makeOwnAccounts({ world, random: makeRandom(`${world.seed} own accounts`), cast })

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
    const swap = tradeRetail(wallet, listing, worth, share, wrapper)
    if (swap === null) {
      return 0
    }
    const onward =
      wrapper === "associated" && swap.outputMint === SOL && random.chance(0.5) ? goOn(wallet, swap, now) : null
    return record(wallet, onward === null ? [swap] : [swap, onward])
  }

  /** Spends the output of a routed sale on another coin in the same transaction. */
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

  /** Makes a swap that fails because of slippage. */
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

  /** Makes a transfer from one wallet to another. */
  const share = (now: ReadonlyArray<Belief>): void => {
    const [from, to] = [random.pick(cast.retail), random.pick(cast.retail)]
    const mint = random.chance(0.3) ? SOL : byAttention(random, now).listing.mint
    const amount = (world.holding(from, mint) - reserveOf(mint)) / 50n
    if (from !== to && amount > 0n) {
      give(from, to, mint, amount)
    }
  }

  let tradedAt = world.bank.clock().slot
  let moneyAt = 0

  /** Trades SOL against dollars when that has not happened for a while. */
  const moneyDue = (now: ReadonlyArray<Belief>, slot: number): Belief | undefined => {
    const isDue = slot - moneyAt >= MONEY_EVERY
    moneyAt = isDue ? slot : moneyAt
    return isDue ? now.find(({ listing }) => listing.mint === USDC) : undefined
  }

  return (pace) => {
    deeds = []
    const { slot } = world.bank.clock()
    const slots = slot - tradedAt
    tradedAt = slot
    const now = beliefs()
    now.forEach((belief) => wander(random, belief, slots))
    // Every dollar is worth as much as USDC.
    now.forEach((belief) => {
      if (belief.listing.mint !== USDC && isDollar(belief.listing.mint)) {
        belief.worth = lamportsPerUsdc()
      }
    })
    const wanted = pace.swaps * random.between(0.5, 1.5)
    const budget = Math.floor(wanted) + (random.chance(wanted % 1) ? 1 : 0)
    let swaps = now.reduce((sum, { listing }) => sum + align(listing, pace.alignments), 0)
    swaps += actByHabit(
      now.map(({ listing }) => listing),
      slots
    )
    deeds.push(
      ...actOnOwnAccounts(
        now.map(({ listing }) => listing),
        slots
      )
    )
    const money = pace.swaps > 0 ? moneyDue(now, slot) : undefined
    swaps += money === undefined ? 0 : gamble(now, pace, money)
    // Attempts without a swap also count, so that the loop ends.
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
}

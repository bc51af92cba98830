import { type Address, type Mint, SOL, USDC } from "../../domain/Address.ts"
import { type Bank, type Block, SLOT_MS } from "../chain/Bank.ts"
import { castOf, fundCast, openCast, type SimWallet } from "./cast.ts"
import { type Followers, makeFollowers } from "./followers.ts"
import { makeHardships } from "./Hardships.ts"
import { listCoin, listing, openPool, worthOf } from "./listing.ts"
import { type Coin, coins, oddCoins, solUsdcPools } from "../pools/catalog.ts"
import { type Launched, makeLaunches } from "./Launches.ts"
import type { Deed } from "../chain/Ledger.ts"
import { deployProgram } from "../chain/programAccounts.ts"
import { programs } from "../../programs/registry.ts"
import { makeRandom, type Random } from "../chain/Random.ts"
import type { SimMint, SimPool } from "../chain/SimPool.ts"
import type { Listing } from "./retail.ts"
import { makeTraders, type Pace } from "./Traders.ts"
import { makeWorld } from "../chain/World.ts"

export interface Market {
  /** All mints. SOL and USDC come first. */
  readonly mints: () => ReadonlyArray<SimMint>
  readonly wallets: ReadonlyArray<SimWallet>
  readonly pools: () => ReadonlyArray<SimPool>
  /** Makes one block with the trades of all slots since the previous block. */
  readonly advance: () => Block
  /** Makes a block that no later block builds on, or null in a market without hardships. */
  readonly fork: () => Block | null
  /** Deploys an AMM program again in the slot that has begun. */
  readonly upgrade: (programId: Address, elf?: Uint8Array) => void
  /** Follows and fills of the simulated copier. */
  readonly copies: Followers["journal"]
}

/** Slots between launches: twenty minutes. Some coins are launched in the first slot. */
const SLOTS_PER_LAUNCH = 3_000
const FIRST_LAUNCHES = 6
/** How many swaps a block that covers several slots may have, so that a long past is made quickly. */
const MOST_SWAPS = 30
/**
 * From this many swaps a second on, trades have the usual size. In a quieter market trades are larger, up to a limit.
 */
const LIVELY = 0.7
const BOLDEST = 8

const money: ReadonlyArray<SimMint> = [
  { symbol: "SOL", name: "Wrapped SOL", address: SOL, decimals: 9 },
  { symbol: "USDC", name: "USD Coin", address: USDC, decimals: 6 }
]

/** What is left of the believed value of a coin that was sold off. */
const FALLEN = 0.05

/**
 * Makes listings for launched coins. Most coins are believed to be worth little more than their price, a few many
 * times that.
 */
const makeLaunchListings = (random: Random, isFallen: (mint: Mint) => boolean) => {
  const known = new Map<Mint, { readonly launched: Launched; readonly listing: Listing; readonly fell: boolean }>()
  return (launched: Launched): Listing => {
    const { mint, curve, pool } = launched
    const before = known.get(mint.address)
    const fell = isFallen(mint.address)
    // Graduation replaces the pool and keeps the believed value.
    if (before?.launched === launched && before.fell === fell) {
      return before.listing
    }
    const believed = before?.listing.worth ?? curve.price() * (0.7 + 40 * random.unit() ** 3)
    const worth = fell && before?.fell === false ? believed * FALLEN : believed
    const now = listing(mint.address, worth, 1, [pool ?? curve], true)
    known.set(mint.address, { launched, listing: now, fell })
    return now
  }
}

/** How active a block is that covers this many slots. Swaps per second stay the same, up to the limit of a block. */
const paceOf = (swapsPerSecond: number, slots: number): Pace => {
  const inSlot = (swapsPerSecond * SLOT_MS) / 1000
  const swaps = Math.min(inSlot * slots, Math.max(inSlot, MOST_SWAPS))
  const boldness = Math.min(BOLDEST, Math.max(1, LIVELY / swapsPerSecond))
  return { swaps, boldness, hype: boldness ** 1.5, alignments: Math.min(0.5, 0.04 * swaps) }
}

/** Makes the market of this seed in one slot of the bank. */
export const makeMarket = (options: {
  readonly seed: string
  readonly bank: Bank
  readonly swapsPerSecond: number
  /** In the past; as many as later when absent. */
  readonly pastSwapsPerSecond?: number | undefined
  /** 120 by default. */
  readonly retailWallets?: number | undefined
  /** Coins besides SOL and USDC; the catalogue's coins by default. */
  readonly listed?: ReadonlyArray<Coin> | undefined
  /** With rugs, sandwiches, bursts of failures and the like; without them by default. */
  readonly hardships?: boolean | undefined
  /** When the past ends, in milliseconds since the Unix epoch; at once when absent. */
  readonly liveUnixMs?: number
}): Market => {
  const { seed, bank, retailWallets, swapsPerSecond, pastSwapsPerSecond = swapsPerSecond } = options
  const listed = options.listed ?? (options.hardships === true ? [...coins, ...oddCoins] : coins)
  const world = makeWorld(seed, bank)
  const random = makeRandom(seed)
  const { cast, wallets } = castOf(seed, retailWallets)
  const launches = makeLaunches({ world, random: makeRandom(`${seed} launches`), cast })
  const hardships = options.hardships === true ? makeHardships({ world, cast, launches }) : undefined
  const listingOf = makeLaunchListings(random, (mint) => hardships?.isFallen(mint) === true)
  const lasting: Array<{ readonly mint: SimMint; readonly pools: ReadonlyArray<SimPool>; readonly listing: Listing }> =
    []

  const begin = (): ReadonlyArray<Deed> => {
    for (const mint of money) {
      world.newMint({ ...mint, authority: null, freezeAuthority: null, transferFee: null, naming: mint })
    }
    programs.forEach(({ programId }) => deployProgram(world, programId, 0))
    fundCast(world, cast)
    hardships?.begin()
    followers.begin()
    const [, usdc] = money
    if (usdc !== undefined) {
      const pools = solUsdcPools.map((plan, index) => openPool(world, usdc, 1, plan, index))
      lasting.push({ mint: usdc, pools, listing: listing(USDC, worthOf(1, 6), 0.03, pools) })
    }
    for (const coin of listed) {
      const { mint, pools } = listCoin(world, cast, coin)
      const worth = worthOf(coin.priceUsd, coin.decimals)
      // Nobody trades a dead coin.
      const traded = coin.dailyVolatility === 0 ? [] : pools
      const entry = { mint, pools, listing: listing(mint.address, worth, coin.dailyVolatility, traded) }
      lasting.push(entry)
      hardships?.note(coin, entry)
    }
    const open = openCast(world, cast)
    // The first accounts belong to no transaction.
    bank.takeJournal()
    return [...open(), ...Array.from({ length: FIRST_LAUNCHES }, launches.launch)]
  }

  const listings = (): ReadonlyArray<Listing> =>
    [
      ...lasting.map((coin) => coin.listing),
      ...launches.live().map(listingOf),
      ...(hardships?.listings() ?? [])
    ].filter(({ pools }) => pools.some(({ open }) => open()))

  const beganAtMs = bank.clock().unixTimestamp * 1000
  const times = { beganAtMs, liveAtMs: Math.max(beganAtMs, options.liveUnixMs ?? 0) }
  const followers = makeFollowers({ world, cast, listings, times })
  bank.produce(begin)
  const trade = makeTraders({ world, random, cast, listings })
  let launchedAt = bank.clock().slot

  let tradedAt = bank.clock().slot

  const slot = (): ReadonlyArray<Deed> => {
    const { slot: now, unixTimestamp } = bank.clock()
    const slots = now - tradedAt
    const isPast = unixTimestamp * 1000 < times.liveAtMs
    const pace = paceOf(isPast ? pastSwapsPerSecond : swapsPerSecond, slots)
    tradedAt = now
    const isDue = now - launchedAt >= SLOTS_PER_LAUNCH
    launchedAt = isDue ? now : launchedAt
    const deeds = [...(isDue ? [launches.launch()] : []), ...launches.graduate(), ...trade(pace)]
    const harm = hardships?.act(listings, slots, deeds.length) ?? []
    return [...deeds, ...harm, ...followers.copy(deeds)]
  }

  return {
    mints: () => [
      ...money,
      ...lasting.slice(1).map(({ mint }) => mint),
      ...launches.all().map(({ mint }) => mint),
      ...(hardships?.mints() ?? [])
    ],
    wallets,
    pools: () => [
      ...lasting.flatMap(({ pools }) => pools),
      ...launches.all().flatMap(({ curve, pool }) => (pool === null ? [curve] : [curve, pool])),
      ...(hardships?.pools() ?? [])
    ],
    advance: () => {
      const block = bank.produce(slot)
      followers.settle(block.transactions)
      return block
    },
    fork: () => (hardships === undefined ? null : bank.fork(() => hardships.stray(listings()))),
    upgrade: (programId, elf) => {
      deployProgram(world, programId, bank.clock().slot, elf)
      // An upgrade belongs to no transaction here.
      bank.takeJournal()
    },
    copies: followers.journal
  }
}

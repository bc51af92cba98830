/**
 * Wallets with one recognizable rule each. Snipers buy every launch at once and sell everything with a profit, or
 * after an hour. Scalpers buy one coin and sell it within minutes. Holders buy long-listed coins now and then and
 * never sell.
 */
import { minBigInt } from "../../programs/math/integers.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import type { Cast } from "./cast.ts"
import type { Random } from "../chain/Random.ts"
import type { Listing } from "./retail.ts"
import type { SimPool } from "../chain/SimPool.ts"
import { type Carried, depthOf, otherMint, priceOf, sell } from "../chain/trade.ts"
import type { World } from "../chain/World.ts"

/** A purchase that will be sold again. */
interface Position {
  readonly wallet: Address
  readonly mint: Mint
  readonly lamports: bigint
  readonly slot: number
  readonly habit: "sniper" | "scalper"
}

const WHOLE_SOL = 1_000_000_000
/** A sniper sells at this multiple of its cost, or after `SNIPER_STAY` slots, an hour. */
const SNIPER_GAIN = 1.5
const SNIPER_STAY = 9_000
/** Slots between a scalper's purchases: about ten an hour. It sells after `SCALPER_STAY` slots, a minute. */
const SCALPER_EVERY = 900
const SCALPER_STAY = 150
/** Slots between a holder's purchases: about three an hour. */
const HOLDER_EVERY = 3_000

/** The deepest open pool against SOL. */
export const homeOf = ({ mint, pools }: Listing): SimPool | undefined =>
  pools
    .filter((pool) => pool.open() && otherMint(pool, mint) === SOL)
    .toSorted((a, b) => depthOf(b, SOL) - depthOf(a, SOL))[0]

/**
 * Returns a function that makes the trades of a slot and returns how many swaps there were. `slots` is how many slots
 * have passed since its last call. `prepare` tops up a wallet, `made` records a swap.
 */
export const makeHabits = (options: {
  readonly world: World
  readonly random: Random
  readonly cast: Cast
  readonly prepare: (wallet: Address, quote: Mint) => void
  readonly made: (wallet: Address, swap: Carried) => void
}): ((now: ReadonlyArray<Listing>, slots: number) => number) => {
  const { world, random, cast, prepare, made } = options
  const launched = new Set<Mint>()
  let positions: ReadonlyArray<Position> = []

  const swap = (wallet: Address, pool: SimPool, mint: Mint, amount: bigint): Carried | null => {
    const carried = sell(world, wallet, pool, mint, amount)
    if (carried !== null) {
      made(wallet, carried)
    }
    return carried
  }

  const buy = (wallet: Address, listing: Listing, wholeSol: number): Carried | null => {
    const pool = homeOf(listing)
    if (pool === undefined) {
      return null
    }
    prepare(wallet, SOL)
    const most = BigInt(Math.floor(depthOf(pool, SOL) / 25))
    return swap(wallet, pool, SOL, minBigInt(most, BigInt(Math.floor(wholeSol * WHOLE_SOL))))
  }

  const enter = (wallet: Address, listing: Listing, wholeSol: number, habit: Position["habit"]): number => {
    const bought = buy(wallet, listing, wholeSol)
    const { slot } = world.bank.clock()
    if (bought !== null) {
      positions = [...positions, { wallet, mint: listing.mint, lamports: bought.amountIn, slot, habit }]
    }
    return bought === null ? 0 : 1
  }

  const wantsOut = ({ habit, lamports, mint, slot, wallet }: Position, pool: SimPool): boolean => {
    const age = world.bank.clock().slot - slot
    if (habit === "scalper") {
      return age >= SCALPER_STAY
    }
    const worth = Number(world.holding(wallet, mint)) * priceOf(pool, mint)
    return age >= SNIPER_STAY || worth >= SNIPER_GAIN * Number(lamports)
  }

  /** Sells the positions that are due. Drops positions whose coin is no longer listed. */
  const leave = (now: ReadonlyArray<Listing>): number => {
    const before = positions
    const kept = before.filter((position) => {
      const { mint, wallet } = position
      const pool = now.flatMap((listing) => (listing.mint === mint ? (homeOf(listing) ?? []) : []))[0]
      if (pool === undefined) {
        return false
      }
      return !wantsOut(position, pool) || swap(wallet, pool, mint, world.holding(wallet, mint)) === null
    })
    positions = kept
    return before.length - kept.length
  }

  const snipe = (now: ReadonlyArray<Listing>): number => {
    const young = now.filter((listing) => listing.launched && !launched.has(listing.mint))
    young.forEach(({ mint }) => launched.add(mint))
    return young.reduce(
      (swaps, listing) => swaps + enter(random.pick(cast.snipers), listing, random.between(0.5, 2), "sniper"),
      0
    )
  }

  const scalp = (listed: ReadonlyArray<Listing>, slots: number): number =>
    cast.scalpers.reduce((swaps, wallet, index) => {
      const favourite = listed[index % listed.length]
      const isIn = positions.some((position) => position.wallet === wallet)
      return favourite === undefined || isIn || !random.chance(slots / SCALPER_EVERY)
        ? swaps
        : swaps + enter(wallet, favourite, random.between(3, 8), "scalper")
    }, 0)

  const hold = (listed: ReadonlyArray<Listing>, slots: number): number =>
    cast.holders.reduce(
      (swaps, wallet) =>
        listed.length > 0 && random.chance(slots / HOLDER_EVERY)
          ? swaps + (buy(wallet, random.pick(listed), random.between(2, 10)) === null ? 0 : 1)
          : swaps,
      0
    )

  return (now, slots) => {
    const listed = now.filter((listing) => !listing.launched && homeOf(listing) !== undefined)
    return leave(now) + snipe(now) + scalp(listed, slots) + hold(listed, slots)
  }
}

/** Sandwiches around purchases, volume that two wallets make with each other, and bursts of failing swaps. */
import { minBigInt } from "../../programs/math/integers.ts"
import { SOL } from "../../domain/Address.ts"
import type { Deed } from "../chain/Ledger.ts"
import type { SimPool } from "../chain/SimPool.ts"
import { transferFeeOf } from "../chain/tokens.ts"
import { depthOf, sell } from "../chain/trade.ts"
import { failedDeeds } from "../chain/transactions.ts"
import type { Stage, Targets } from "./stage.ts"
import { homeOf } from "./habits.ts"
import type { Listing } from "./retail.ts"

/** One try at a sandwich in five minutes, one pair of wash trades in four. */
const SANDWICH_EVERY = 750
const WASH_EVERY = 600
/** Deeper pools move too little for a sandwich. */
const DEEPEST_LAMPORTS = 2e12
/** A burst follows one of this many transactions and has 10 to 60 failing ones. More than a third then fail. */
const BURST_EVERY = 55
const BURST = [10, 60] as const

const part = (amount: number, share: number): bigint => BigInt(Math.floor(amount * share))

export const makePredators = (stage: Stage, targets: Targets) => {
  const { attacker, cast, random, spammers, traded, washers, world } = stage
  let turn = 0

  const sandwich = (listing: Listing): ReadonlyArray<Deed> => {
    const { mint } = listing
    const pool = homeOf(listing)
    // A transfer fee would cost more than a sandwich earns.
    if (pool === undefined || depthOf(pool, SOL) > DEEPEST_LAMPORTS || transferFeeOf(world.bank.must(mint)) !== null) {
      return []
    }
    const depth = depthOf(pool, SOL)
    const front = sell(world, attacker, pool, SOL, part(depth, 0.03))
    if (front === null) {
      return []
    }
    const first = traded(attacker, front)
    const victim = random.pick(cast.retail)
    const wanted = minBigInt(part(depth, random.between(0.02, 0.05)), world.holding(victim, SOL) / 2n)
    const middle = traded(victim, sell(world, victim, pool, SOL, wanted))
    return [...first, ...middle, ...traded(attacker, sell(world, attacker, pool, mint, world.holding(attacker, mint)))]
  }

  /** One wallet sells what it bought the last time, the other buys about as much. */
  const wash = (pool: SimPool, mint: Listing["mint"]): ReadonlyArray<Deed> => {
    const [buyer, seller] = turn++ % 2 === 0 ? washers : washers.toReversed()
    if (buyer === undefined || seller === undefined) {
      return []
    }
    const sold = traded(seller, sell(world, seller, pool, mint, world.holding(seller, mint)))
    return [...sold, ...traded(buyer, sell(world, buyer, pool, SOL, part(depthOf(pool, SOL), 0.05)))]
  }

  /** Several wallets try the same swap again and again, each too late. */
  const burst = (listing: Listing): ReadonlyArray<Deed> => {
    const pool = random.pick(listing.pools)
    const attempts = random.between(...BURST)
    const count = 1 + random.below(spammers.length)
    const amountIn = part(depthOf(pool, SOL), random.between(0.0005, 0.004))
    return pool.mintA !== SOL && pool.mintB !== SOL
      ? []
      : spammers
          .slice(0, count)
          .flatMap((spammer) =>
            failedDeeds(world, stage.parties(spammer), { pool, mint: SOL, amountIn }, Math.round(attempts / count))
          )
  }

  return (listings: () => ReadonlyArray<Listing>, slots: number, made: number): ReadonlyArray<Deed> => {
    const { washed } = targets
    const [pool] = washed?.pools ?? []
    const deeds: Array<Deed> = []
    if (random.chance(slots / SANDWICH_EVERY)) {
      deeds.push(...sandwich(random.pick(listings())))
    }
    if (washed !== undefined && pool !== undefined && random.chance(slots / WASH_EVERY)) {
      deeds.push(...wash(pool, washed.mint.address))
    }
    if (random.chance(made / BURST_EVERY)) {
      deeds.push(...burst(random.pick(listings())))
    }
    return deeds
  }
}

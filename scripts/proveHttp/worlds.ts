/** Puts recorded pools into chains: two pools share a chain when no account of one contradicts the other. */
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { SOL } from "../../src/domain/Address.ts"
import type { PoolSnapshot } from "../../src/quotes/execution/poolSnapshot.ts"
import type { Venue } from "../../src/quotes/execution/swapVenue.ts"

/** A pool with the program that executes its swaps. */
export interface Place {
  readonly venue: Venue
  readonly snapshot: PoolSnapshot
}

/** Pools on one chain, and all their accounts. */
export interface PoolWorld {
  readonly places: ReadonlyArray<Place>
  readonly accounts: ReadonlyMap<string, OnChainAccount>
}

const isSame = (a: OnChainAccount, b: OnChainAccount): boolean =>
  a.owner === b.owner && Buffer.compare(a.data, b.data) === 0

/** True when the pool is not there yet and its accounts are as they are in the world. Every chain has its own SOL. */
const fits = ({ accounts }: PoolWorld, { pool, accounts: own }: PoolSnapshot): boolean =>
  !accounts.has(pool.address) &&
  Array.from(own.values()).every((account) => {
    const known = accounts.get(account.address)
    return known === undefined || account.address === SOL || isSame(known, account)
  })

const withPlace = ({ accounts, places }: PoolWorld, place: Place): PoolWorld => ({
  places: [...places, place],
  accounts: new Map([...place.snapshot.accounts, ...accounts])
})

/** As few worlds as first-fit finds, in the order of the pools. */
export const worldsOf = (places: ReadonlyArray<Place>): ReadonlyArray<PoolWorld> => {
  const worlds: Array<PoolWorld> = []
  for (const place of places) {
    const found = worlds.findIndex((world) => fits(world, place.snapshot))
    const empty: PoolWorld = { places: [], accounts: new Map() }
    worlds.splice(found === -1 ? worlds.length : found, 1, withPlace(worlds[found] ?? empty, place))
  }
  return worlds
}

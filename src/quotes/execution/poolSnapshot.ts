/** Reads a pool with all accounts that its price and its swaps need, at one slot. */
import { Effect } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { ChainClock, OnChainAccount } from "../../domain/OnChainAccount.ts"
import { CLOCK, readClock } from "../../chain/clockSysvar.ts"
import { derive } from "./decodeFixture.ts"
import type { Site, Venue } from "./swapVenue.ts"

/** A pool with all accounts that its price and its swaps need. All are from one slot. */
export interface PoolSnapshot {
  readonly pool: OnChainAccount
  readonly accounts: ReadonlyMap<string, OnChainAccount>
  readonly clock: ChainClock
  /** The coin of a bonding curve whose account does not name it. */
  readonly foundBy?: Mint | undefined
}

/** What a swap in the pool is built from. */
export const siteOf = ({ accounts, foundBy, pool }: PoolSnapshot): Site => ({
  pool,
  derive,
  accounts: (address) => accounts.get(address) ?? null,
  foundBy
})

/** How many accounts one `getMultipleAccounts` can read. Its whole response is from one slot. */
export const AT_ONCE = 100
/** How many times the accounts are read before the pool must name no further account. */
const ROUNDS = 5

/** Reads accounts at one slot. Accounts that do not exist are null. */
type ReadTogether<E> = (
  addresses: ReadonlyArray<Address>
) => Effect.Effect<ReadonlyMap<Address, OnChainAccount | null>, E>

/**
 * Reads the pool at an address with one response. Null when there is no pool, or when it needs more accounts than fit
 * one response. `foundBy` is the coin of a bonding curve.
 */
export const readSnapshot = Effect.fnUntraced(function* <E>(
  venue: Venue,
  address: Address,
  read: ReadTogether<E>,
  foundBy?: Mint
): Effect.fn.Return<PoolSnapshot | null, E> {
  let wanted: ReadonlySet<Address> = new Set([CLOCK, address])
  for (let round = 0; round < ROUNDS && wanted.size <= AT_ONCE; round++) {
    const found = yield* read([...wanted])
    const pool = found.get(address)
    const clock = readClock(found.get(CLOCK)?.data ?? new Uint8Array(0))
    if (!pool || clock === null) {
      return null
    }
    const site: Site = { pool, accounts: (one) => found.get(one), derive, foundBy }
    const needed = [
      ...Object.values(venue.sides(site) ?? {}),
      ...venue.program.needs(pool, site.accounts, derive, foundBy),
      ...venue.swapNeeds(site)
    ]
    const missing = needed.filter((one) => !wanted.has(one))
    if (missing.length === 0) {
      const existing = [...found].flatMap(([key, account]) =>
        account === null || key === CLOCK ? [] : [[key, account] as const]
      )
      return { pool, accounts: new Map(existing), clock, foundBy }
    }
    wanted = new Set([...wanted, ...missing])
  }
  return null
})

/** Ranks the pools of a mint when it has more than may be watched: the richest first. */
import type { ChainClock, OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { isDollar } from "../../domain/stables.ts"
import type { Pool, Rate } from "../../programs/interface/Program.ts"
import { readVault } from "../../programs/layout/tokenAccount.ts"
import { isFailure } from "../../programs/layout/unpriceable.ts"
import type { FoundPool } from "./foundPool.ts"

/** The vault by which a pool is ranked. */
export interface Measure {
  readonly vault: Address
  readonly mint: Mint
}

/**
 * A pool and the vault it is ranked by. Null for a pool at a derived address, and when the account names no vault.
 */
export interface Measured {
  readonly pool: FoundPool
  readonly measure: Measure | null
}

/** Removes duplicates and sorts by address. */
export const uniquePools = (found: ReadonlyArray<FoundPool>): ReadonlyArray<FoundPool> =>
  Array.from(new Map(found.map((pool) => [pool.address, pool])).values()).toSorted((a, b) =>
    a.address < b.address ? -1 : 1
  )

/** Chooses the vault to rank by: the dollar vault, else the SOL vault, else the mint's own vault. */
export const measureOf = ({ account, program }: FoundPool, mint: Mint): Measure | null => {
  const vaults = account === null ? [] : (program.vaultsOf?.(account) ?? [])
  const chosen =
    vaults.find((named) => isDollar(named.mint)) ??
    vaults.find((named) => named.mint === SOL) ??
    vaults.find((named) => named.mint === mint)
  return chosen ?? null
}

const solIn = ({ mintA, reserves }: Pool): bigint => (mintA === SOL ? reserves?.[0] : reserves?.[1]) ?? 0n

/** Micro-dollars per lamport, from the SOL/USDC pool with the largest reserves; null without one. */
export const lamportPrice = (pools: ReadonlyArray<Pool>, clock: ChainClock): Rate | null => {
  const [deepest] = pools.toSorted((a, b) => (solIn(a) === solIn(b) ? 0 : solIn(a) > solIn(b) ? -1 : 1))
  const rate = deepest?.marginalRate(deepest.mintA === SOL, clock)
  return rate === undefined || rate.numerator <= 0n || rate.denominator <= 0n ? null : rate
}

/**
 * Classes of pools, best first: derived addresses, pools of known value, SOL without a price, pools measured by the
 * mint itself.
 */
const CLASS = { derived: 0, valued: 1, sol: 2, other: 3 } as const

interface Rank {
  readonly class: number
  readonly amount: bigint
}

const rankOf = (
  { measure, pool }: Measured,
  read: (address: Address) => OnChainAccount | null | undefined,
  lamportUsd: Rate | null
): Rank => {
  if (measure === null) {
    return { class: pool.account === null ? CLASS.derived : CLASS.other, amount: 0n }
  }
  const vault = readVault(read, measure.vault, measure.mint)
  const amount = isFailure(vault) ? 0n : vault.amount
  if (isDollar(measure.mint)) {
    return { class: CLASS.valued, amount }
  }
  if (measure.mint !== SOL) {
    return { class: CLASS.other, amount }
  }
  return lamportUsd === null
    ? { class: CLASS.sol, amount }
    : { class: CLASS.valued, amount: (amount * lamportUsd.numerator) / lamportUsd.denominator }
}

/**
 * Sorts the pools by the value of their dollar or SOL vault, the largest first. Pools against other mints follow, by
 * their balance of the mint itself. Equal pools keep their order. Pools at derived addresses come before all others:
 * each mint has only a few.
 */
export const rankPools = (
  found: ReadonlyArray<Measured>,
  read: (address: Address) => OnChainAccount | null | undefined,
  lamportUsd: Rate | null
): ReadonlyArray<FoundPool> =>
  found
    .map((measured) => ({ pool: measured.pool, rank: rankOf(measured, read, lamportUsd) }))
    .toSorted(({ rank: a }, { rank: b }) =>
      a.class === b.class ? (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1) : a.class - b.class
    )
    .map(({ pool }) => pool)

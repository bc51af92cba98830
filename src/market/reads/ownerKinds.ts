/** Finds owners that are not wallets: pools, curves and burn addresses. */
import { Address, type Mint } from "../../domain/Address.ts"
import type { HolderKind } from "../../api/schemas/TokenHolders.ts"
import { COMPLETE, type Coverage, incomplete } from "../../domain/Scalar.ts"
import type { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { dammV2PoolAuthority } from "../../programs/meteora/dammV2State.ts"
import { dbcPoolAuthority } from "../../programs/meteora/dbcState.ts"
import { AMM_V4_AUTHORITY } from "../../programs/raydium/ammV4Layout.ts"
import { cpmmAuthority } from "../../programs/raydium/cpmmLayout.ts"
import type { DeriveAddress } from "../../programs/interface/Program.ts"
import type { Market } from "../tape/Market.ts"

/** Nothing can be moved from these: the incinerator, and the system program, which signs nothing. */
export const BURN_ADDRESSES: ReadonlyArray<Address> = [
  Address.make("1nc1nerator11111111111111111111111111111111"),
  Address.make("11111111111111111111111111111111")
]

/** The owners of the vaults of all pools of a program. */
const sharedOwners = (derive: DeriveAddress): ReadonlyMap<Address, HolderKind> =>
  new Map<Address, HolderKind>([
    [AMM_V4_AUTHORITY, "pool"],
    [cpmmAuthority(derive), "pool"],
    [dammV2PoolAuthority(derive), "pool"],
    [dbcPoolAuthority(derive), "curve"],
    ...BURN_ADDRESSES.map((address) => [address, "burn"] as const)
  ])

/** The owners of a token that are known not to be wallets, and whether all of its pools are among them. */
export interface OwnerKinds {
  readonly kinds: ReadonlyMap<Address, HolderKind>
  readonly coverage: Coverage
}

/** The pools that are known of a token. */
export type KnownPools = Pick<PoolBook["Service"], "isLoaded" | "lacking" | "poolsOf">

/**
 * Reads the kinds of a token's owners from its pools in memory and its launch. Where a program has no shared owner of
 * vaults, each pool owns its vaults.
 */
export const makeOwnerKinds = (
  derive: DeriveAddress,
  pools: KnownPools,
  { launches }: Pick<Market["Service"], "launches">
) => {
  const shared = sharedOwners(derive)
  return (mint: Mint): OwnerKinds => {
    const kinds = new Map(shared)
    const launch = launches.of(mint)
    for (const pool of [launch?.pool ?? null, ...pools.poolsOf(mint).map(({ address }) => address)]) {
      if (pool !== null) {
        kinds.set(pool, "pool")
      }
    }
    for (const pool of pools.poolsOf(mint)) {
      if (pool.graduation !== undefined) {
        kinds.set(pool.address, "curve")
      }
    }
    if (launch !== null && launch.curve !== null) {
      kinds.set(launch.curve, "curve")
    }
    const lacking = pools.isLoaded(mint) ? pools.lacking(mint) : "backfill_running"
    const coverage = lacking === null ? COMPLETE : incomplete(lacking)
    return { kinds, coverage }
  }
}

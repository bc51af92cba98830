/**
 * Curves of Raydium LaunchLab, which LetsBonk and other platforms use for launches: IDL raydium_launchpad of April
 * 2026.
 */
import { Address } from "../../domain/Address.ts"
import { ANCHOR_POOL_STATE } from "../layout/anchor.ts"
import type { DeriveAddress } from "../interface/Program.ts"
import { utf8 } from "../layout/pack.ts"

/** Raydium's launch program. */
export const LAUNCHLAB_PROGRAM: Address = Address.make("LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj")

/** Venue label of its curves. */
export const LAUNCHLAB_DEX = "raydium-launchlab"

export const LAUNCHLAB_SIZE = 429
/** First eight bytes of a curve account. Pools of CLMM and CPMM have the same; the owner tells them apart. */
export const LAUNCHLAB_DISCRIMINATOR = ANCHOR_POOL_STATE

/** Fields of a curve account. */
export const launchLabAt = {
  status: 17,
  baseDecimals: 18,
  quoteDecimals: 19,
  migrateType: 20,
  supply: 21,
  /** How many tokens the curve sells in total. `realBase` is how many it has sold. */
  totalBaseSell: 29,
  virtualBase: 37,
  virtualQuote: 45,
  realBase: 53,
  realQuote: 61,
  totalQuoteFundRaising: 69,
  protocolFee: 77,
  platformFee: 85,
  globalConfig: 141,
  platformConfig: 173,
  baseMint: 205,
  quoteMint: 237,
  baseVault: 269,
  quoteVault: 301,
  creator: 333
} as const

/** Values of `status`: selling, everything sold, moved to a pool. */
export const launchLabStatus = { funding: 0, complete: 1, migrated: 2 } as const

/** Values of `migrateType`: which program gets the pool after graduation. */
export const launchLabMigrateType = { ammV4: 0, cpmm: 1 } as const

/** The address that signs for every vault. */
export const launchLabAuthority = (derive: DeriveAddress): Address =>
  derive(LAUNCHLAB_PROGRAM, [utf8("vault_auth_seed")])

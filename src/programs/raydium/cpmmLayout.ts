/**
 * Accounts of Raydium CPMM: raydium-io/raydium-cp-swap, programs/cp-swap/src/states at 609780f. Offsets include the
 * 8-byte discriminator.
 */
import { Address } from "../../domain/Address.ts"
import { ANCHOR_AMM_CONFIG, ANCHOR_POOL_STATE } from "../layout/anchor.ts"
import { readU64 } from "../layout/bytes.ts"
import type { DeriveAddress } from "../interface/Program.ts"
import { configSeeds } from "./configSeeds.ts"

/** Raydium's constant-product program with Token-2022 support. */
export const CPMM_PROGRAM: Address = Address.make("CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C")

export const CPMM_SIZE = 637
/** First eight bytes of a pool account. CLMM has the same; the owner tells them apart. */
export const CPMM_DISCRIMINATOR = ANCHOR_POOL_STATE
export const CPMM_CONFIG_SIZE = 236
export const CPMM_CONFIG_DISCRIMINATOR = ANCHOR_AMM_CONFIG

/** Fields of the pool account. Pairs are for token 0 and token 1. */
export const cpmmOffsets = {
  config: 8,
  creator: 40,
  vaults: [72, 104],
  lpMint: 136,
  mints: [168, 200],
  tokenPrograms: [232, 264],
  observation: 296,
  status: 329,
  lpDecimals: 330,
  decimals: [331, 332],
  lpSupply: 333,
  protocolFees: [341, 349],
  fundFees: [357, 365],
  openTime: 373,
  creatorFeeOn: 389,
  creatorFeeEnabled: 390,
  creatorFees: [397, 405],
  reserved: 413
} as const

/**
 * Fields of a fee tier's account. Rates are in millionths. The rates of protocol and fund are shares of the trade
 * fee.
 */
export const cpmmConfigOffsets = {
  index: 10,
  tradeFeeRate: 12,
  protocolFeeRate: 20,
  fundFeeRate: 28,
  createPoolFee: 36,
  creatorFeeRate: 108
} as const

/** Bits of `status`. */
export const cpmmStatusBits = { known: 0b111, swapOff: 0b100 } as const

/** Values of `creatorFeeOn`: on the incoming token, or always on one of the two. */
export const cpmmCreatorFeeOn = { input: 0, token0: 1, token1: 2 } as const

export const CPMM_FEE_SCALE = 1_000_000n

/** Units in a vault that are not liquidity: uncollected fees of protocol, fund and creator. */
export const cpmmUncollectedFees = (data: Uint8Array, token: 0 | 1): bigint => {
  const { creatorFees, fundFees, protocolFees } = cpmmOffsets
  return readU64(data, protocolFees[token]) + readU64(data, fundFees[token]) + readU64(data, creatorFees[token])
}

const AUTHORITY_SEED = new TextEncoder().encode("vault_and_lp_mint_auth_seed")

/** The owner of every pool's vaults. */
export const cpmmAuthority = (derive: DeriveAddress): Address => derive(CPMM_PROGRAM, [AUTHORITY_SEED])

/** Address of the fee tier with this index. */
export const cpmmConfigAddress = (derive: DeriveAddress, index: number): Address =>
  derive(CPMM_PROGRAM, configSeeds(index))

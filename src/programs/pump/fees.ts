/** Fees of the pump programs: the schedules in the fee program's FeeConfig, and the arithmetic of both programs. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint, SOL, USDC } from "../../domain/Address.ts"
import { BPS } from "../../domain/units.ts"
import { hasDiscriminator, readU128, readU32, readU64 } from "../layout/bytes.ts"
import { utf8 } from "../layout/pack.ts"
import { readMint, type TokenMint } from "../layout/tokenAccount.ts"
import { ceilDiv } from "../math/integers.ts"
import { takesFee } from "../math/transferFee.ts"
import type { Accounts, DeriveAddress, Unpriceable } from "../interface/Program.ts"
import { isFailure, malformed, unsupported } from "../layout/unpriceable.ts"

/** The bonding-curve program. Pools created by its pool authority are canonical. */
export const PUMP_PROGRAM = Address.make("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P")

/** The all-zero key. It means no creator, or SOL as the quote of a curve. */
export const NO_ADDRESS = Address.make("11111111111111111111111111111111")

/** The program that stores the fee schedules of the other two. */
export const FEE_PROGRAM = Address.make("pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ")
const SOL_2022 = Address.make("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP")

/**
 * Discriminator of a FeeConfig, its fixed offsets, and the lengths of its parts. The tiers are preceded by their
 * count. A second list, for stablecoins, follows.
 */
export const FEE_CONFIG_DISCRIMINATOR = "8f3492bbdb7b4c9b"
export const feeConfigAt = { bump: 8, flat: 41, tierCount: 65, tiers: 69 } as const
/** Three rates of eight bytes. In a tier, a threshold of sixteen bytes precedes them. */
export const FEES_LENGTH = 24
export const TIER_LENGTH = 16 + FEES_LENGTH

/** Fee rates of a trade, in basis points of its quote amount. */
export interface FeeRates {
  readonly lp: bigint
  readonly protocol: bigint
  readonly creator: bigint
}

/** The sum of all three rates, in basis points. */
export const totalBps = ({ creator, lp, protocol }: FeeRates): bigint => lp + protocol + creator

/** A share of an amount, rounded up. */
export const feeUp = (amount: bigint, bps: bigint): bigint => (bps === 0n ? 0n : ceilDiv(amount * bps, BPS))

/** The sum of the three fees on a quote amount. Each is rounded up. */
export const feesOn = (amount: bigint, rates: FeeRates): bigint =>
  feeUp(amount, rates.lp) + feeUp(amount, rates.protocol) + feeUp(amount, rates.creator)

/** The fee that stays in the pool, rounded up. */
export const lpFeeOn = (amount: bigint, rates: FeeRates): bigint => feeUp(amount, rates.lp)

/**
 * The part of `spend` that reaches the curve in an exact-input purchase: floor(spend·10000/(10000 + bps)), less what
 * the rounded-up fees overshoot, less one. Source: the program's own notes on `buy_exact_sol_in` in its IDL.
 */
export const netOf = (spend: bigint, rates: FeeRates): bigint => {
  const net = (spend * BPS) / (BPS + totalBps(rates))
  const overshoot = net + feesOn(net, rates) - spend
  return overshoot > 0n ? net - overshoot - 1n : net - 1n
}

/** The fee program's account with the schedules of one pump program. */
export const feeConfigOf = (programId: Address, derive: DeriveAddress): Address =>
  derive(FEE_PROGRAM, [utf8("fee_config"), addressToBytes(programId)])

const ratesAt = (data: Uint8Array, offset: number): FeeRates => ({
  lp: readU64(data, offset),
  protocol: readU64(data, offset + 8),
  creator: readU64(data, offset + 16)
})

/** The last tier whose threshold the market cap reaches; otherwise the first tier. */
const tierAt = (data: Uint8Array, offset: number, count: number, marketCap: bigint): FeeRates => {
  let tier = count - 1
  while (tier > 0 && readU128(data, offset + tier * TIER_LENGTH) > marketCap) {
    tier--
  }
  return ratesAt(data, offset + tier * TIER_LENGTH + 16)
}

/** The length of a list. Zero when an account with an older layout ends before it. */
const countAt = (data: Uint8Array, offset: number): number => (offset + 4 > data.length ? 0 : readU32(data, offset))

const endOf = (offset: number, count: number): number => offset + 4 + count * TIER_LENGTH

/** The properties of a pool that select its schedule in the FeeConfig. */
export interface Listing {
  readonly quoteMint: Mint
  /** True when the coin was launched on a curve. All other pools pay the flat fees. */
  readonly canonical: boolean
  /** floor(quote·supply/base), in units of the quote. */
  readonly marketCap: bigint
}

/** Reads the schedule that a trade pays. Source: pump-swap-sdk 1.20.0, src/sdk/fees.ts. */
export const readFeeRates = ({ address, data, owner }: OnChainAccount, listing: Listing): FeeRates | Unpriceable => {
  const count = countAt(data, feeConfigAt.tierCount)
  const stable = endOf(feeConfigAt.tierCount, count)
  const stableCount = countAt(data, stable)
  const exotic = endOf(stable, stableCount)
  if (
    owner !== FEE_PROGRAM ||
    !hasDiscriminator(data, FEE_CONFIG_DISCRIMINATOR) ||
    count === 0 ||
    stable > data.length ||
    (stableCount > 0 && exotic > data.length)
  ) {
    return malformed(`${address} is not a FeeConfig`)
  }
  const flat = ratesAt(data, feeConfigAt.flat)
  const { canonical, marketCap, quoteMint } = listing
  if (!canonical) {
    return flat
  }
  if (quoteMint === SOL || quoteMint === SOL_2022) {
    return tierAt(data, feeConfigAt.tiers, count, marketCap)
  }
  if (quoteMint === USDC) {
    return stableCount === 0
      ? unsupported("FeeConfig without stable tiers")
      : tierAt(data, stable + 4, stableCount, marketCap)
  }
  const unlisted = exotic + FEES_LENGTH > data.length ? flat : ratesAt(data, exotic)
  return totalBps(unlisted) === 0n ? flat : unlisted
}

/** A coin's own terms for its creator. */
export interface CreatorTerms {
  /** False for a coin without a creator. The creator's rate is then zero. */
  readonly hasCreator: boolean
  /** The coin's own rate, zero for none. It replaces the schedule's rate if `mayOwn`. */
  readonly ownBps: bigint
  readonly mayOwn: boolean
}

/** Applies a coin's terms to the creator's part of the schedule. */
export const withCreatorTerms = (schedule: FeeRates, terms: CreatorTerms): FeeRates | Unpriceable => {
  const creator = terms.mayOwn && terms.ownBps > 0n ? terms.ownBps : schedule.creator
  const rates = { ...schedule, creator: terms.hasCreator ? creator : 0n }
  return totalBps(rates) < BPS ? rates : malformed(`fees of ${totalBps(rates)} bps`)
}

/**
 * Reads the mint of a coin or its quote. Mints with a transfer fee are not supported, because it is unknown how the
 * programs would price them.
 */
export const readCoin = (accounts: Accounts, mint: Mint): TokenMint | Unpriceable => {
  const read = readMint(accounts, mint)
  return !isFailure(read) && takesFee(read.transferFees) ? unsupported(`transfer fee of ${mint}`) : read
}

/** Fees of the pump programs: schedules from the fee program's FeeConfig, arithmetic as both programs do it. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint, SOL, USDC } from "../../domain/Address.ts"
import { BPS } from "../../domain/units.ts"
import { hasDiscriminator, readU128, readU32, readU64 } from "../math/bytes.ts"
import { utf8 } from "../math/pack.ts"
import { ceilDiv } from "../math/integers.ts"
import type { DeriveAddress, Unpriceable } from "../Program.ts"
import { malformed, unsupported } from "../math/unpriceable.ts"

/** The bonding-curve program. Its pool authority is what makes an AMM pool canonical. */
export const PUMP_PROGRAM = Address.make("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P")

/** The all-zero key: no creator, or SOL as the quote of a curve. */
export const NO_ADDRESS = Address.make("11111111111111111111111111111111")

/** The program that keeps the fee schedules of the other two. */
export const FEE_PROGRAM = Address.make("pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ")
const SOL_2022 = Address.make("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP")

/** Discriminator of a FeeConfig, its fixed offsets, and the lengths of its parts. The tiers follow their count; so do those of stablecoins. */
export const FEE_CONFIG_DISCRIMINATOR = "8f3492bbdb7b4c9b"
export const feeConfigAt = { bump: 8, flat: 41, tierCount: 65, tiers: 69 } as const
/** Three rates of eight bytes, and a threshold of sixteen before them. */
export const FEES_LENGTH = 24
export const TIER_LENGTH = 16 + FEES_LENGTH

/** Fee rates of a trade in basis points of its quote amount. */
export interface FeeRates {
  readonly lp: bigint
  readonly protocol: bigint
  readonly creator: bigint
}

/** Basis points of all three together. */
export const totalBps = ({ creator, lp, protocol }: FeeRates): bigint => lp + protocol + creator

const feeUp = (amount: bigint, bps: bigint): bigint => (bps === 0n ? 0n : ceilDiv(amount * bps, BPS))

/** The three fees on a quote amount, each rounded up by itself. */
export const feesOn = (amount: bigint, rates: FeeRates): bigint =>
  feeUp(amount, rates.lp) + feeUp(amount, rates.protocol) + feeUp(amount, rates.creator)

/** The share that stays in the pool, rounded up. */
export const lpFeeOn = (amount: bigint, rates: FeeRates): bigint => feeUp(amount, rates.lp)

/**
 * The part of `spend` that reaches the curve of an exact-input buy: floor(spend·10000/(10000 + bps)), less what the
 * rounded-up fees overshoot, less one. Source: the program's own notes on `buy_exact_sol_in` in its IDL.
 */
export const netOf = (spend: bigint, rates: FeeRates): bigint => {
  const net = (spend * BPS) / (BPS + totalBps(rates))
  const overshoot = net + feesOn(net, rates) - spend
  return overshoot > 0n ? net - overshoot - 1n : net - 1n
}

/** The account of the fee program with the schedules of one of the pump programs. */
export const feeConfigOf = (programId: Address, derive: DeriveAddress): Address =>
  derive(FEE_PROGRAM, [utf8("fee_config"), addressToBytes(programId)])

const ratesAt = (data: Uint8Array, offset: number): FeeRates => ({
  lp: readU64(data, offset),
  protocol: readU64(data, offset + 8),
  creator: readU64(data, offset + 16)
})

/** The last tier whose threshold the market cap reaches, else the first. */
const tierAt = (data: Uint8Array, offset: number, count: number, marketCap: bigint): FeeRates => {
  let tier = count - 1
  while (tier > 0 && readU128(data, offset + tier * TIER_LENGTH) > marketCap) {
    tier--
  }
  return ratesAt(data, offset + tier * TIER_LENGTH + 16)
}

/** A list's length, or zero where an account of an older layout ends before it. */
const countAt = (data: Uint8Array, offset: number): number => (offset + 4 > data.length ? 0 : readU32(data, offset))

const endOf = (offset: number, count: number): number => offset + 4 + count * TIER_LENGTH

/** Properties of a pool that its schedule depends on besides the FeeConfig itself. */
export interface Listing {
  readonly quoteMint: Mint
  /** True when a curve launched the coin. Any other pool pays the flat fees. */
  readonly canonical: boolean
  /** floor(quote·supply/base), in units of the quote. */
  readonly marketCap: bigint
}

/** The schedule a trade pays. Source: pump-swap-sdk 1.20.0, src/sdk/fees.ts. */
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

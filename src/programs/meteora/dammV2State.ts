/** State of a DAMM v2 pool account: MeteoraAg/damm-v2, programs/cp-amm/src/state/{pool,fee}.rs at a3d3827. */
import { Address } from "../../domain/Address.ts"
import { BPS } from "../../domain/units.ts"
import { readU16, readU32, readU64, readU128 } from "../layout/bytes.ts"
import { FEE_DENOMINATOR, type RateLimiter, type Schedule } from "./fees.ts"
import { readVolatility, readVolatilityRules, type Volatility, type VolatilityRules } from "./volatility.ts"
import { utf8 } from "../layout/pack.ts"
import type { DeriveAddress, Unpriceable } from "../interface/Program.ts"
import { malformed, unsupported } from "../layout/unpriceable.ts"

export const DAMM_V2_PROGRAM = Address.make("cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG")

/** Length of a pool account. It begins with the discriminator `ANCHOR_POOL`. */
export const DAMM_V2_POOL_LENGTH = 1112

/** The address that owns the vaults of every pool. */
export const dammV2PoolAuthority = (derive: DeriveAddress): Address => derive(DAMM_V2_PROGRAM, [utf8("pool_authority")])

/** Offsets in the pool account. */
export const dammV2At = {
  cliffRate: 8,
  baseFeeMode: 16,
  periods: 22,
  /**
   * The time schedule's period length; the market-cap schedule's step and duration; the limiter's duration and cap.
   */
  secondFactor: 24,
  reduction: 32,
  protocolFeePercent: 48,
  compoundingBps: 54,
  volatilityOn: 56,
  volatilityMaximum: 64,
  volatilityControl: 68,
  binStep: 72,
  filterPeriod: 74,
  decayPeriod: 76,
  volatilityReduction: 78,
  volatilityUpdatedAt: 80,
  binStepQ64: 88,
  sqrtPriceReference: 104,
  volatilityAccumulator: 120,
  volatilityReference: 136,
  initialSqrtPrice: 152,
  mintA: 168,
  mintB: 200,
  vaultA: 232,
  vaultB: 264,
  liquidity: 360,
  protocolFeeA: 392,
  protocolFeeB: 400,
  partnerFeeA: 408,
  partnerFeeB: 416,
  sqrtMinPrice: 424,
  sqrtMaxPrice: 440,
  sqrtPrice: 456,
  activationPoint: 472,
  activationType: 480,
  status: 481,
  tokenFlagA: 482,
  tokenFlagB: 483,
  collectFeeMode: 484,
  feeVersion: 486,
  amountA: 680,
  amountB: 688,
  layoutVersion: 696
} as const

/** Parameters of the base rate. A point is a slot or a second, depending on the pool's activation type. */
export type DammV2BaseFee =
  | { readonly kind: "time"; readonly schedule: Schedule; readonly pointsPerPeriod: bigint }
  | {
      readonly kind: "marketCap"
      readonly schedule: Schedule
      /** By how many basis points the square-root price rises in one period, counted from the initial price. */
      readonly stepBps: bigint
      readonly initialSqrtPrice: bigint
      /** This many points after activation the lowest rate applies, whatever the price. */
      readonly duration: bigint
    }
  | { readonly kind: "limiter"; readonly limiter: RateLimiter; readonly duration: bigint }

/** Everything about a pool that affects its prices. */
export interface DammV2State {
  readonly baseFee: DammV2BaseFee
  readonly rules: VolatilityRules | null
  readonly volatility: Volatility
  /** The sum of all fee rates is capped at this. */
  readonly rateCap: bigint
  readonly protocolFeePercent: bigint
  readonly compoundingBps: bigint
  readonly liquidity: bigint
  readonly sqrtMinPrice: bigint
  readonly sqrtMaxPrice: bigint
  readonly sqrtPrice: bigint
  readonly activationPoint: bigint
  readonly activatesBySlot: boolean
  /**
   * 0 takes the fee from the output; 1 and 2 take it in token B. 2 is a constant product over `amountA` and
   * `amountB`.
   */
  readonly collectFeeMode: number
  readonly amountA: bigint
  readonly amountB: bigint
  /** True when the program tracks `amountA` and `amountB`. Older pools do so only from their next swap on. */
  readonly countsAmounts: boolean
  readonly protocolFeeA: bigint
  readonly protocolFeeB: bigint
}

/** `collect_fee_mode` of a pool that adds part of its fees to its liquidity. */
export const COMPOUNDING = 2

const RATE_CAPS = [500_000_000n, 990_000_000n]
const baseFeeMode = { timeLinear: 0, timeExponential: 1, limiter: 2, marketCapLinear: 3, marketCapExponential: 4 }

const scheduleOf = (data: Uint8Array, exponential: boolean): Schedule => ({
  cliff: readU64(data, dammV2At.cliffRate),
  periods: BigInt(readU16(data, dammV2At.periods)),
  reduction: readU64(data, dammV2At.reduction),
  exponential
})

const rateOfBps = (bps: number): bigint => (BigInt(bps) * FEE_DENOMINATOR) / BPS

const limiterOf = (data: Uint8Array): DammV2BaseFee => ({
  kind: "limiter",
  duration: BigInt(readU32(data, dammV2At.secondFactor)),
  limiter: {
    cliff: readU64(data, dammV2At.cliffRate),
    increment: rateOfBps(readU16(data, dammV2At.periods)),
    reference: readU64(data, dammV2At.reduction),
    maximum: rateOfBps(readU32(data, dammV2At.secondFactor + 4))
  }
})

const baseFeeOf = (data: Uint8Array): DammV2BaseFee | Unpriceable => {
  const mode = data[dammV2At.baseFeeMode] ?? 0
  switch (mode) {
    case baseFeeMode.timeLinear:
    case baseFeeMode.timeExponential:
      return {
        kind: "time",
        schedule: scheduleOf(data, mode === baseFeeMode.timeExponential),
        pointsPerPeriod: readU64(data, dammV2At.secondFactor)
      }
    case baseFeeMode.limiter:
      return limiterOf(data)
    case baseFeeMode.marketCapLinear:
    case baseFeeMode.marketCapExponential:
      return {
        kind: "marketCap",
        schedule: scheduleOf(data, mode === baseFeeMode.marketCapExponential),
        stepBps: BigInt(readU32(data, dammV2At.secondFactor)),
        duration: BigInt(readU32(data, dammV2At.secondFactor + 4)),
        initialSqrtPrice: readU128(data, dammV2At.initialSqrtPrice)
      }
    default:
      return unsupported(`base_fee_mode ${mode}`)
  }
}

/**
 * True when no divisor in the price formula is zero and the price is within its limits. The program keeps it so; with a
 * price outside of its limits, amounts would be negative.
 */
const isPriceable = (data: Uint8Array, collectFeeMode: number): boolean => {
  if (collectFeeMode === COMPOUNDING) {
    return readU64(data, dammV2At.amountA) > 0n && readU64(data, dammV2At.amountB) > 0n
  }
  const [least, price, most] = [dammV2At.sqrtMinPrice, dammV2At.sqrtPrice, dammV2At.sqrtMaxPrice].map((at) =>
    readU128(data, at)
  )
  return (
    least !== undefined && price !== undefined && most !== undefined && 0n < least && least <= price && price <= most
  )
}

const refusal = (data: Uint8Array): Unpriceable | null => {
  const mode = data[dammV2At.collectFeeMode] ?? 0
  if (mode > COMPOUNDING) {
    return unsupported(`collect_fee_mode ${mode}`)
  }
  const layout = data[dammV2At.layoutVersion] ?? 0
  if (layout > 1) {
    return unsupported(`layout_version ${layout}`)
  }
  const activation = data[dammV2At.activationType] ?? 0
  if (activation > 1) {
    return malformed(`activation_type ${activation}`)
  }
  return isPriceable(data, mode) ? null : malformed("no price")
}

/** Reads a pool account. The caller has checked its length and discriminator. */
export const readDammV2 = (data: Uint8Array): DammV2State | Unpriceable => {
  const refusing = refusal(data)
  if (refusing !== null) {
    return refusing
  }
  const feeVersion = data[dammV2At.feeVersion] ?? 0
  const rateCap = RATE_CAPS[feeVersion]
  if (rateCap === undefined) {
    return unsupported(`fee_version ${feeVersion}`)
  }
  const baseFee = baseFeeOf(data)
  if ("reason" in baseFee) {
    return baseFee
  }
  return {
    baseFee,
    rules: readVolatilityRules(data, dammV2At),
    volatility: readVolatility(data, dammV2At),
    rateCap,
    protocolFeePercent: BigInt(data[dammV2At.protocolFeePercent] ?? 0),
    compoundingBps: BigInt(readU16(data, dammV2At.compoundingBps)),
    liquidity: readU128(data, dammV2At.liquidity),
    sqrtMinPrice: readU128(data, dammV2At.sqrtMinPrice),
    sqrtMaxPrice: readU128(data, dammV2At.sqrtMaxPrice),
    sqrtPrice: readU128(data, dammV2At.sqrtPrice),
    activationPoint: readU64(data, dammV2At.activationPoint),
    activatesBySlot: data[dammV2At.activationType] === 0,
    collectFeeMode: data[dammV2At.collectFeeMode] ?? 0,
    amountA: readU64(data, dammV2At.amountA),
    amountB: readU64(data, dammV2At.amountB),
    countsAmounts: data[dammV2At.layoutVersion] === 1,
    protocolFeeA: readU64(data, dammV2At.protocolFeeA),
    protocolFeeB: readU64(data, dammV2At.protocolFeeB)
  }
}

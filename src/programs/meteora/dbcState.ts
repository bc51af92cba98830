/** State of a bonding-curve pool and its config: MeteoraAg/dynamic-bonding-curve, programs/dynamic-bonding-curve/src/state. */
import { Address } from "../../domain/Address.ts"
import { BPS } from "../../domain/units.ts"
import { readU16, readU64, readU128 } from "../layout/bytes.ts"
import { FEE_DENOMINATOR, type RateLimiter, type Schedule } from "./fees.ts"
import { readVolatility, readVolatilityRules, type Volatility, type VolatilityRules } from "./volatility.ts"
import { utf8 } from "../layout/pack.ts"
import type { DeriveAddress, Unpriceable } from "../interface/Program.ts"
import { malformed, unsupported } from "../layout/unpriceable.ts"

export const DBC_PROGRAM = Address.make("dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN")

/** Length and discriminator of a pool account. */
export const DBC_POOL_LENGTH = 424
export const DBC_POOL_DISCRIMINATOR = "d5e005d16245775c"
/** Discriminator of a pool whose base mint calls a program on every transfer. The launcher chose the program. */
export const DBC_HOOKED_POOL_DISCRIMINATOR = "eddbb8172abda923"

/** Length and discriminator of a config account. */
export const DBC_CONFIG_LENGTH = 1048
export const DBC_CONFIG_DISCRIMINATOR = "1a6c0e7b74e6812b"

/** The address that owns the vaults and mints of every pool. */
export const dbcPoolAuthority = (derive: DeriveAddress): Address => derive(DBC_PROGRAM, [utf8("pool_authority")])

/** Offsets in the pool account. */
export const dbcPoolAt = {
  volatilityUpdatedAt: 8,
  sqrtPriceReference: 24,
  volatilityAccumulator: 40,
  volatilityReference: 56,
  config: 72,
  creator: 104,
  baseMint: 136,
  baseVault: 168,
  quoteVault: 200,
  baseReserve: 232,
  quoteReserve: 240,
  protocolBaseFee: 248,
  protocolQuoteFee: 256,
  partnerBaseFee: 264,
  partnerQuoteFee: 272,
  sqrtPrice: 280,
  activationPoint: 296,
  poolType: 304,
  isMigrated: 305,
  migrationProgress: 308,
  finishedAt: 344,
  creatorBaseFee: 352,
  creatorQuoteFee: 360,
  hasSwap: 370
} as const

/** Offsets in the config account. */
export const dbcConfigAt = {
  quoteMint: 8,
  cliffRate: 104,
  /** The schedules' period length; the limiter's duration. */
  secondFactor: 112,
  /** The schedules' reduction; the limiter's reference amount. */
  thirdFactor: 120,
  /** The schedules' number of periods; the limiter's increment in basis points. */
  firstFactor: 128,
  baseFeeMode: 130,
  volatilityOn: 136,
  volatilityMaximum: 144,
  volatilityControl: 148,
  binStep: 152,
  filterPeriod: 154,
  decayPeriod: 156,
  volatilityReduction: 158,
  binStepQ64: 168,
  baseTransferFeeBps: 216,
  collectFeeMode: 232,
  activationType: 234,
  quoteTokenFlag: 238,
  creatorTradingFeePercent: 245,
  migrationQuoteThreshold: 264,
  migrationSqrtPrice: 280,
  sqrtStartPrice: 392,
  curve: 408
} as const

/** Bytes per point of the curve. The account has room for twenty points. */
export const DBC_CURVE_POINT_SIZE = 32
const CURVE_POINTS = 20

/** The liquidity up to a square-root price, counted from the previous point or the start of the curve. */
export interface CurvePoint {
  readonly sqrtPrice: bigint
  readonly liquidity: bigint
}

/** Parameters of the base rate. A point is a slot or a second, depending on the config's activation type. */
type DbcBaseFee =
  | { readonly kind: "time"; readonly schedule: Schedule; readonly pointsPerPeriod: bigint }
  | { readonly kind: "limiter"; readonly limiter: RateLimiter; readonly duration: bigint }

/** Everything about a pool that affects its prices. */
export interface DbcState {
  readonly baseFee: DbcBaseFee
  readonly rules: VolatilityRules | null
  readonly volatility: Volatility
  /** True when fees are always taken in the quote. Otherwise they are taken from the output. */
  readonly feesInQuote: boolean
  readonly curve: ReadonlyArray<CurvePoint>
  readonly sqrtPrice: bigint
  readonly sqrtStartPrice: bigint
  readonly migrationSqrtPrice: bigint
  /** The quote reserve at which the curve is complete. */
  readonly migrationQuoteThreshold: bigint
  readonly baseReserve: bigint
  readonly quoteReserve: bigint
  readonly activationPoint: bigint
  readonly activatesBySlot: boolean
  readonly creatorFeePercent: bigint
}

/** The sum of all fee rates is capped at this. The limiter also rises to it. */
export const DBC_RATE_CAP = 990_000_000n

const baseFeeMode = { linear: 0, exponential: 1, limiter: 2 }

const baseFeeOf = (config: Uint8Array): DbcBaseFee | Unpriceable => {
  const mode = config[dbcConfigAt.baseFeeMode] ?? 0
  const cliff = readU64(config, dbcConfigAt.cliffRate)
  const first = BigInt(readU16(config, dbcConfigAt.firstFactor))
  const second = readU64(config, dbcConfigAt.secondFactor)
  const third = readU64(config, dbcConfigAt.thirdFactor)
  switch (mode) {
    case baseFeeMode.linear:
    case baseFeeMode.exponential:
      return {
        kind: "time",
        schedule: { cliff, periods: first, reduction: third, exponential: mode === baseFeeMode.exponential },
        pointsPerPeriod: second
      }
    case baseFeeMode.limiter:
      return {
        kind: "limiter",
        limiter: { cliff, increment: (first * FEE_DENOMINATOR) / BPS, reference: third, maximum: DBC_RATE_CAP },
        duration: second
      }
    default:
      return unsupported(`base_fee_mode ${mode}`)
  }
}

const curveOf = (config: Uint8Array): ReadonlyArray<CurvePoint> => {
  const points: Array<CurvePoint> = []
  for (let i = 0; i < CURVE_POINTS; i++) {
    const at = dbcConfigAt.curve + i * DBC_CURVE_POINT_SIZE
    const point = { sqrtPrice: readU128(config, at), liquidity: readU128(config, at + 16) }
    // The program stops at the first unset point, and configs are filled from the front.
    if (point.sqrtPrice === 0n || point.liquidity === 0n) {
      break
    }
    points.push(point)
  }
  return points
}

/** Reads a pool and its config. The caller has checked their lengths and discriminators. */
export const readDbc = (pool: Uint8Array, config: Uint8Array): DbcState | Unpriceable => {
  const collectFeeMode = config[dbcConfigAt.collectFeeMode] ?? 0
  if (collectFeeMode > 1) {
    return unsupported(`collect_fee_mode ${collectFeeMode}`)
  }
  const activation = config[dbcConfigAt.activationType] ?? 0
  if (activation > 1) {
    return malformed(`activation_type ${activation}`)
  }
  if (readU128(pool, dbcPoolAt.sqrtPrice) === 0n || readU128(config, dbcConfigAt.sqrtStartPrice) === 0n) {
    return malformed("no price")
  }
  const baseFee = baseFeeOf(config)
  if ("reason" in baseFee) {
    return baseFee
  }
  return {
    baseFee,
    rules: readVolatilityRules(config, dbcConfigAt),
    volatility: readVolatility(pool, dbcPoolAt),
    feesInQuote: collectFeeMode === 0,
    curve: curveOf(config),
    sqrtPrice: readU128(pool, dbcPoolAt.sqrtPrice),
    sqrtStartPrice: readU128(config, dbcConfigAt.sqrtStartPrice),
    migrationSqrtPrice: readU128(config, dbcConfigAt.migrationSqrtPrice),
    migrationQuoteThreshold: readU64(config, dbcConfigAt.migrationQuoteThreshold),
    baseReserve: readU64(pool, dbcPoolAt.baseReserve),
    quoteReserve: readU64(pool, dbcPoolAt.quoteReserve),
    activationPoint: readU64(pool, dbcPoolAt.activationPoint),
    activatesBySlot: activation === 0,
    creatorFeePercent: BigInt(config[dbcConfigAt.creatorTradingFeePercent] ?? 0)
  }
}

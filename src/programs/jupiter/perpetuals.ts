/**
 * Jupiter Perpetuals: the accounts that price an order. Layouts: the IDLs of the program and of the Doves oracle,
 * published with Jupiter's examples of October 2025. Dollar amounts have six decimals.
 */
import { Address } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { hasDiscriminator, readAddress, readI64, readU128, readU64 } from "../layout/bytes.ts"

/** The program and its oracle. */
export const PERPETUALS_PROGRAM: Address = Address.make("PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu")
export const DOVES_PROGRAM: Address = Address.make("DoVEsk76QybCEHQGzkvYPWLQu9gzNoZZZt3TPiL597e")

/** The pool's custodies, by the symbol of their token. */
export const custodies = {
  SOL: Address.make("7xS2gz2bTp3fwCC7knJvUWTEU9Tycczu6VhJYKgi1wdz"),
  ETH: Address.make("AQCGyheWPLeo6Qp9WpYS9m3Qj479t7R636N9ey1rEjEn"),
  BTC: Address.make("5Pv3gM9JrFFH883SWAhvJC9RPYmo8UNxuFtv5bMMALkm"),
  USDC: Address.make("G18jKKXQwBbrHeiK3C9MRXhkHsLHf7XgCSisykV46EZa")
} as const

/** Discriminators of `Custody` and of the oracle's `AgPriceFeed`. */
export const CUSTODY_DISCRIMINATOR = "01b830515d833f91"
export const AG_PRICE_FEED_DISCRIMINATOR = "70f98bd9d7d0f936"

/** Offsets in a custody. */
export const custodyAt = {
  decimals: 104,
  tradeImpactFeeScalar: 151,
  maxGlobalLongSizes: 183,
  maxGlobalShortSizes: 191,
  allowIncreasePosition: 202,
  owned: 222,
  locked: 230,
  guaranteedUsd: 238,
  globalShortSizes: 246,
  hourlyFundingDbps: 286,
  increasePositionBps: 296,
  maxPositionSizeUsd: 312,
  minRateBps: 352,
  maxRateBps: 360,
  targetRateBps: 368,
  targetUtilizationRate: 376,
  dovesAgOracle: 384,
  openInterest: 416,
  impactUpdated: 896,
  impactFeeFactor: 904,
  impactExponent: 912,
  impactThreshold: 916,
  impactMaxFeeBps: 924,
  debt: 1004,
  interestsAccrued: 1020
} as const
/** Minimum length of a custody. */
export const CUSTODY_LENGTH = 1060

/** Offsets in a price feed. */
export const priceFeedAt = { price: 168, expo: 176, timestamp: 177 } as const
/** Minimum length of a price feed. */
export const PRICE_FEED_LENGTH = 201

/** For how many seconds the program counts added open interest. */
export const IMPACT_SECONDS = 60

/** Recent additions to the open interest. They make further orders on the same side more expensive. */
export interface ImpactBuffer {
  /** One value per second of the minute, in millionths of a dollar. */
  readonly openInterest: ReadonlyArray<bigint>
  /** Unix seconds. */
  readonly updatedAt: number
  /** Zero when only the order's size counts. */
  readonly feeFactor: bigint
  readonly exponent: number
  readonly threshold: bigint
  readonly maxFeeBps: bigint
}

/** The pool's holding of one token, and the terms for trading it. */
export interface Custody {
  readonly decimals: number
  readonly canIncrease: boolean
  readonly tradeImpactFeeScalar: bigint
  readonly increasePositionBps: bigint
  readonly maxPositionSizeUsd: bigint
  readonly maxGlobalLongSizes: bigint
  readonly maxGlobalShortSizes: bigint
  readonly guaranteedUsd: bigint
  readonly globalShortSizes: bigint
  /** Smallest units of the token. */
  readonly owned: bigint
  readonly locked: bigint
  /** In 10^-9 of the smallest unit. */
  readonly debt: bigint
  readonly interestsAccrued: bigint
  /** Zero when the rate follows the curve below. */
  readonly hourlyFundingDbps: bigint
  readonly minRateBps: bigint
  readonly maxRateBps: bigint
  readonly targetRateBps: bigint
  /** In 10^-9. */
  readonly targetUtilizationRate: bigint
  readonly dovesAgOracle: Address
  readonly impact: ImpactBuffer
}

/** A price of the oracle: `price` · 10^`expo` dollars, at a Unix second. */
export interface OraclePrice {
  readonly price: bigint
  readonly expo: number
  readonly timestamp: number
}

const readImpact = (data: Uint8Array): ImpactBuffer => ({
  openInterest: Array.from({ length: IMPACT_SECONDS }, (_, i) => readI64(data, custodyAt.openInterest + 8 * i)),
  updatedAt: Number(readI64(data, custodyAt.impactUpdated)),
  feeFactor: readU64(data, custodyAt.impactFeeFactor),
  exponent: new DataView(data.buffer, data.byteOffset).getFloat32(custodyAt.impactExponent, true),
  threshold: readU64(data, custodyAt.impactThreshold),
  maxFeeBps: readU64(data, custodyAt.impactMaxFeeBps)
})

/** Reads a custody; null for any other account. */
export const readCustody = ({ data, owner }: OnChainAccount): Custody | null => {
  const isCustody =
    owner === PERPETUALS_PROGRAM && data.length >= CUSTODY_LENGTH && hasDiscriminator(data, CUSTODY_DISCRIMINATOR)
  if (!isCustody) {
    return null
  }
  const u64 = (field: keyof typeof custodyAt) => readU64(data, custodyAt[field])
  return {
    decimals: data[custodyAt.decimals] ?? 0,
    canIncrease: data[custodyAt.allowIncreasePosition] === 1,
    tradeImpactFeeScalar: u64("tradeImpactFeeScalar"),
    increasePositionBps: u64("increasePositionBps"),
    maxPositionSizeUsd: u64("maxPositionSizeUsd"),
    maxGlobalLongSizes: u64("maxGlobalLongSizes"),
    maxGlobalShortSizes: u64("maxGlobalShortSizes"),
    guaranteedUsd: u64("guaranteedUsd"),
    globalShortSizes: u64("globalShortSizes"),
    owned: u64("owned"),
    locked: u64("locked"),
    debt: readU128(data, custodyAt.debt),
    interestsAccrued: readU128(data, custodyAt.interestsAccrued),
    hourlyFundingDbps: u64("hourlyFundingDbps"),
    minRateBps: u64("minRateBps"),
    maxRateBps: u64("maxRateBps"),
    targetRateBps: u64("targetRateBps"),
    targetUtilizationRate: u64("targetUtilizationRate"),
    dovesAgOracle: readAddress(data, custodyAt.dovesAgOracle),
    impact: readImpact(data)
  }
}

/** Reads a price feed; null for any other account. */
export const readOraclePrice = ({ data, owner }: OnChainAccount): OraclePrice | null => {
  const isFeed =
    owner === DOVES_PROGRAM && data.length >= PRICE_FEED_LENGTH && hasDiscriminator(data, AG_PRICE_FEED_DISCRIMINATOR)
  return isFeed
    ? {
        price: readU64(data, priceFeedAt.price),
        expo: ((data[priceFeedAt.expo] ?? 0) << 24) >> 24,
        timestamp: Number(readI64(data, priceFeedAt.timestamp))
      }
    : null
}

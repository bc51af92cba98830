/**
 * Volatility as DAMM v2 and the bonding curve track it, by square-root price. A swap pays for the volatility that
 * earlier swaps left. `DynamicFeeStruct` of MeteoraAg/damm-v2 at a3d3827, `VolatilityTracker` of
 * MeteoraAg/dynamic-bonding-curve at b4f9547.
 */
import { BPS } from "../../domain/units.ts"
import { readU16, readU32, readU64, readU128 } from "../layout/bytes.ts"
import { minBigInt } from "../math/integers.ts"
import { variableRate } from "./fees.ts"

const ONE_Q64 = 1n << 64n

/** Parameters of the fee on price movement. */
export interface VolatilityRules {
  readonly maximum: bigint
  readonly control: bigint
  readonly binStep: bigint
  /** The bin step as a Q64.64 fraction. */
  readonly binStepQ64: bigint
  /** In seconds. Swaps closer together than this share one reference price. */
  readonly filterPeriod: bigint
  /** After this many seconds, past movement is forgotten. */
  readonly decayPeriod: bigint
  /** Basis points of past movement that are kept until then. */
  readonly reduction: bigint
}

/** The state that swaps write. */
export interface Volatility {
  /** Seconds since the Unix epoch. */
  readonly updatedAt: bigint
  readonly sqrtPriceReference: bigint
  readonly accumulator: bigint
  readonly reference: bigint
}

/** Reads the rules at these offsets of a pool or config; null when the fee is off. */
export const readVolatilityRules = (
  data: Uint8Array,
  at: Readonly<
    Record<
      | "volatilityOn"
      | "volatilityMaximum"
      | "volatilityControl"
      | "binStep"
      | "binStepQ64"
      | "filterPeriod"
      | "decayPeriod"
      | "volatilityReduction",
      number
    >
  >
): VolatilityRules | null =>
  data[at.volatilityOn] === 0
    ? null
    : {
        maximum: BigInt(readU32(data, at.volatilityMaximum)),
        control: BigInt(readU32(data, at.volatilityControl)),
        binStep: BigInt(readU16(data, at.binStep)),
        binStepQ64: readU128(data, at.binStepQ64),
        filterPeriod: BigInt(readU16(data, at.filterPeriod)),
        decayPeriod: BigInt(readU16(data, at.decayPeriod)),
        reduction: BigInt(readU16(data, at.volatilityReduction))
      }

/** Where the volatility is in a pool account. */
export interface VolatilityOffsets {
  readonly volatilityUpdatedAt: number
  readonly sqrtPriceReference: number
  readonly volatilityAccumulator: number
  readonly volatilityReference: number
}

/** Reads the volatility at these offsets of a pool. */
export const readVolatility = (data: Uint8Array, at: VolatilityOffsets): Volatility => ({
  updatedAt: readU64(data, at.volatilityUpdatedAt),
  sqrtPriceReference: readU128(data, at.sqrtPriceReference),
  accumulator: readU128(data, at.volatilityAccumulator),
  reference: readU128(data, at.volatilityReference)
})

/** The fee rate added by the stored volatility. A swap does not pay for the movement that it causes itself. */
export const volatilityRate = (rules: VolatilityRules | null, { accumulator }: Volatility): bigint =>
  rules === null ? 0n : variableRate(accumulator, rules.binStep, rules.control)

const elapsedSince = ({ updatedAt }: Volatility, now: bigint): bigint => (now > updatedAt ? now - updatedAt : 0n)

const isSettled = ({ filterPeriod }: VolatilityRules, volatility: Volatility, now: bigint): boolean =>
  elapsedSince(volatility, now) >= filterPeriod

/** Twice the number of whole bin steps between two square-root prices. */
const stepsBetween = (a: bigint, b: bigint, binStepQ64: bigint): bigint => {
  const [lower, upper] = a < b ? [a, b] : [b, a]
  return 2n * (((upper << 64n) / lower - ONE_Q64) / binStepQ64)
}

/**
 * True when a swap at `now` would be compared with a price of zero, which makes the program fail. No swap leaves an
 * account in this state, and the filter period ends it.
 */
export const isUnreferenced = (rules: VolatilityRules | null, volatility: Volatility, now: bigint): boolean =>
  rules !== null && volatility.sqrtPriceReference === 0n && !isSettled(rules, volatility, now)

/**
 * The volatility after a swap moved the square-root price from `before` to `after` at `now`. Unchanged without rules.
 * Null when the program fails.
 */
export const volatilityAfter = (
  rules: VolatilityRules | null,
  volatility: Volatility,
  before: bigint,
  after: bigint,
  now: bigint
): Volatility | null => {
  if (rules === null) {
    return volatility
  }
  if (isUnreferenced(rules, volatility, now)) {
    return null
  }
  const settled = isSettled(rules, volatility, now)
  const decayed =
    elapsedSince(volatility, now) < rules.decayPeriod ? (volatility.accumulator * rules.reduction) / BPS : 0n
  const reference = settled ? decayed : volatility.reference
  const sqrtPriceReference = settled ? before : volatility.sqrtPriceReference
  const moved = stepsBetween(after, sqrtPriceReference, rules.binStepQ64) * BPS
  return {
    updatedAt: stepsBetween(before, after, rules.binStepQ64) > 0n ? now : volatility.updatedAt,
    sqrtPriceReference,
    accumulator: minBigInt(reference + moved, rules.maximum),
    reference
  }
}

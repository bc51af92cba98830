/**
 * The part of the fee that follows volatility. Orca Whirlpool (2025) and Raydium CLMM (2026) compute it in the same
 * way. Ticks form groups. The fee grows with the square of the number of groups between the price and a reference,
 * which earlier swaps have set.
 */
import { readI32, readU16, readU32 } from "../layout/bytes.ts"
import { ceilDiv, minBigInt } from "./integers.ts"

const SCALE = 10_000n
const REDUCTION_SCALE = 10_000n
// Control factors are in 1e-5, the squared accumulator in 1e-4.
const RATE_SCALE = 100_000n * SCALE * SCALE

/** Ten percent, in millionths. No fee is higher. */
const MAX_ADAPTIVE_RATE = 100_000n

/** The parameters that the pool's creator chose, and the state after the last swap. Periods are in seconds. */
export interface Volatility {
  readonly filterPeriod: number
  readonly decayPeriod: number
  /** How many ten-thousandths of the accumulator a decay keeps. */
  readonly reductionFactor: bigint
  readonly control: bigint
  readonly maxAccumulator: bigint
  /** Ticks per group. */
  readonly groupSize: number
  readonly groupReference: number
  /** In ten-thousandths of a group, like the accumulator. */
  readonly volatilityReference: bigint
  readonly accumulator: bigint
}

/** Reads the parameters and the state at these offsets. Both programs store them with the same widths. */
export const readVolatility = (
  data: Uint8Array,
  at: Readonly<Record<Exclude<keyof Volatility, "groupSize">, number>>,
  groupSize: number
): Volatility => ({
  filterPeriod: readU16(data, at.filterPeriod),
  decayPeriod: readU16(data, at.decayPeriod),
  reductionFactor: BigInt(readU16(data, at.reductionFactor)),
  control: BigInt(readU32(data, at.control)),
  maxAccumulator: BigInt(readU32(data, at.maxAccumulator)),
  groupSize,
  groupReference: readI32(data, at.groupReference),
  volatilityReference: BigInt(readU32(data, at.volatilityReference)),
  accumulator: BigInt(readU32(data, at.accumulator))
})

/** What the time since the last swap does to the reference: it is kept, decayed, or reset. */
export type Regime = "kept" | "decayed" | "reset"

export const regimeAfter = ({ decayPeriod, filterPeriod }: Volatility, elapsed: number): Regime => {
  if (elapsed < filterPeriod) {
    return "kept"
  }
  return elapsed < decayPeriod ? "decayed" : "reset"
}

/** The group and the volatility that one swap is measured from. */
export interface Reference {
  readonly group: number
  readonly volatility: bigint
}

/** The reference of a swap that starts in `group`. */
export const referenceIn = (regime: Regime, volatility: Volatility, group: number): Reference => {
  if (regime === "kept") {
    return { group: volatility.groupReference, volatility: volatility.volatilityReference }
  }
  const kept = (volatility.accumulator * volatility.reductionFactor) / REDUCTION_SCALE
  return { group, volatility: regime === "decayed" ? kept : 0n }
}

/** The accumulator's value while the price is in `group`. */
export const accumulatorAt = ({ maxAccumulator }: Volatility, reference: Reference, group: number): bigint =>
  minBigInt(reference.volatility + BigInt(Math.abs(reference.group - group)) * SCALE, maxAccumulator)

/** How many groups on either side of the reference still change the accumulator. */
export const coreRadius = ({ maxAccumulator }: Volatility, reference: Reference): number =>
  maxAccumulator > reference.volatility ? Number(ceilDiv(maxAccumulator - reference.volatility, SCALE)) : 0

/**
 * The whole rate in millionths: base plus ceil(control·(accumulator·size)² / 10^13). Both the sum and the added part
 * are capped.
 */
export const adaptiveRate = (base: bigint, { control, groupSize }: Volatility, accumulator: bigint): bigint => {
  const crossed = accumulator * BigInt(groupSize)
  const adaptive = minBigInt(ceilDiv(control * crossed * crossed, RATE_SCALE), MAX_ADAPTIVE_RATE)
  return minBigInt(base + adaptive, MAX_ADAPTIVE_RATE)
}

/** Caches one value per regime. */
export const perRegime = <A>(make: (regime: Regime) => A): ((regime: Regime) => A) => {
  const known = new Map<Regime, A>()
  return (regime) => {
    const found = known.get(regime)
    if (found !== undefined) {
      return found
    }
    const made = make(regime)
    known.set(regime, made)
    return made
  }
}

/**
 * The part of the fee that follows volatility, as Orca Whirlpool (2025) and Raydium CLMM (2026) both compute it. Ticks
 * lie in groups. The fee grows with the square of the number of groups between the price and a reference that earlier
 * swaps set.
 */
import { readI32, readU16, readU32 } from "../layout/bytes.ts"
import { ceilDiv, minBigInt } from "./integers.ts"

const SCALE = 10_000n
const REDUCTION_SCALE = 10_000n
// Control factors are in 1e-5, the squared accumulator in 1e-4.
const RATE_SCALE = 100_000n * SCALE * SCALE

/** Millionths: no fee exceeds ten percent. */
const MAX_ADAPTIVE_RATE = 100_000n

/** Parameters set by the pool's creator, and the state after the last swap. Periods are in seconds. */
export interface Volatility {
  readonly filterPeriod: number
  readonly decayPeriod: number
  /** Ten-thousandths of the accumulator that a decay keeps. */
  readonly reductionFactor: bigint
  readonly control: bigint
  readonly maxAccumulator: bigint
  /** Ticks in a group. */
  readonly groupSize: number
  readonly groupReference: number
  /** Ten-thousandths of a group, like the accumulator. */
  readonly volatilityReference: bigint
  readonly accumulator: bigint
}

/** Reads the parameters and the state at these offsets. Both programs store them in the same widths. */
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

/** How the time since the last swap affects the reference: it is kept, decayed, or reset. */
export type Regime = "kept" | "decayed" | "reset"

/** The regime after `elapsed` seconds. */
export const regimeAfter = ({ decayPeriod, filterPeriod }: Volatility, elapsed: number): Regime => {
  if (elapsed < filterPeriod) {
    return "kept"
  }
  return elapsed < decayPeriod ? "decayed" : "reset"
}

/** The group and the volatility from which one swap is measured. */
export interface Reference {
  readonly group: number
  readonly volatility: bigint
}

/** The reference of a swap that begins in `group`. */
export const referenceIn = (regime: Regime, volatility: Volatility, group: number): Reference => {
  if (regime === "kept") {
    return { group: volatility.groupReference, volatility: volatility.volatilityReference }
  }
  const kept = (volatility.accumulator * volatility.reductionFactor) / REDUCTION_SCALE
  return { group, volatility: regime === "decayed" ? kept : 0n }
}

/** The accumulator while the price is in `group`. */
export const accumulatorAt = ({ maxAccumulator }: Volatility, reference: Reference, group: number): bigint =>
  minBigInt(reference.volatility + BigInt(Math.abs(reference.group - group)) * SCALE, maxAccumulator)

/** Number of groups on either side of the reference within which the accumulator still changes. */
export const coreRadius = ({ maxAccumulator }: Volatility, reference: Reference): number =>
  maxAccumulator > reference.volatility ? Number(ceilDiv(maxAccumulator - reference.volatility, SCALE)) : 0

/** The whole rate in millionths: base plus ceil(control·(accumulator·size)² / 10^13), each capped. */
export const adaptiveRate = (base: bigint, { control, groupSize }: Volatility, accumulator: bigint): bigint => {
  const crossed = accumulator * BigInt(groupSize)
  const adaptive = minBigInt(ceilDiv(control * crossed * crossed, RATE_SCALE), MAX_ADAPTIVE_RATE)
  return minBigInt(base + adaptive, MAX_ADAPTIVE_RATE)
}

/** Caches one value for each regime. */
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

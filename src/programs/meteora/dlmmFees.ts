/**
 * The fee of a DLMM pair. It grows with how far prices have moved recently. Rates are numerators over 1e9.
 * MeteoraAg/dlmm-sdk, commons/src/extensions/lb_pair.rs at fb02e51.
 */
import type { DlmmPair } from "./dlmmPair.ts"
import { minBigInt } from "../math/integers.ts"
import { variableRate } from "./fees.ts"

const BPS = 10_000
const RATE_CAP = 100_000_000n

/**
 * What a swap's fee in each bin is measured from: the first bin, and the volatility carried over from earlier swaps.
 */
export interface DlmmReference {
  readonly index: number
  readonly volatility: number
}

/**
 * The reference of a swap at `unixTimestamp`. After a pause of the filter period, the reference moves to the active
 * bin. It keeps a share of past movement until the decay period is over.
 */
export const dlmmReference = (pair: DlmmPair, unixTimestamp: number): DlmmReference => {
  const elapsed = unixTimestamp - pair.volatilityUpdatedAt
  if (elapsed < pair.filterPeriod) {
    return { index: pair.indexReference, volatility: pair.volatilityReference }
  }
  const kept = elapsed < pair.decayPeriod ? Math.floor((pair.volatilityAccumulator * pair.reduction) / BPS) : 0
  return { index: pair.activeId, volatility: kept }
}

const U32_END = 2 ** 32

/**
 * True while the program fails every swap: between the filter and the decay period it multiplies the accumulator by
 * the reduction in 32 bits, and fails when the product does not fit.
 */
export const dlmmOverflows = (pair: DlmmPair, unixTimestamp: number): boolean => {
  const elapsed = unixTimestamp - pair.volatilityUpdatedAt
  const isReduced = elapsed >= pair.filterPeriod && elapsed < pair.decayPeriod
  return isReduced && pair.volatilityAccumulator * pair.reduction >= U32_END
}

/** A swap's volatility when it reaches a bin, in basis points of bins moved. */
export const dlmmVolatility = (pair: DlmmPair, { index, volatility }: DlmmReference, binId: number): number =>
  Math.min(volatility + Math.abs(index - binId) * BPS, pair.volatilityMaximum)

/** A swap's fee rate in a bin. */
export const dlmmRate = (pair: DlmmPair, reference: DlmmReference, binId: number): bigint => {
  const { baseFeeRate, binStep, variableFeeControl } = pair
  if (variableFeeControl === 0n) {
    return minBigInt(baseFeeRate, RATE_CAP)
  }
  const volatility = BigInt(dlmmVolatility(pair, reference, binId))
  return minBigInt(baseFeeRate + variableRate(volatility, BigInt(binStep), variableFeeControl), RATE_CAP)
}

/**
 * Costs of Jupiter Perpetuals, computed like its program, after Jupiter's published examples of October 2025 (opening
 * fees, price impact fee, borrow rate). A division rounds up where the program's does. Dollars have six digits.
 */
import { type Custody, IMPACT_SECONDS, type ImpactBuffer } from "../programs/jupiter/perpetuals.ts"
import { ONE, type Ratio } from "./exact.ts"
import { HOURS_OF_YEAR } from "./fundingRates.ts"

const BPS = 10_000n
/** 100 % in rates and utilizations. */
const RATE = 1_000_000_000n
/** 100 % in the linear rate. */
const DBPS = 100_000n

const divCeil = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n)

/** What the fee of an opening depends on. */
export interface OpenFee {
  readonly baseBps: bigint
  readonly scalar: bigint
  readonly buffer: ImpactBuffer
  /** When the order is placed, in Unix seconds. */
  readonly nowSecond: number
}

/** The open interest added within the last minute, including an order of this size. */
const addedInterest = ({ openInterest, updatedAt }: ImpactBuffer, size: bigint, nowSecond: number): bigint => {
  if (updatedAt <= 0 || nowSecond - updatedAt >= IMPACT_SECONDS) {
    return size
  }
  const [now, last] = [nowSecond % IMPACT_SECONDS, updatedAt % IMPACT_SECONDS]
  // Slots after the last update, up to now, belong to the minute before.
  const isOld = (slot: number) => (now > last ? slot > last && slot <= now : now < last && (slot > last || slot <= now))
  return openInterest.reduce((sum, one, slot) => (isOld(slot) ? sum : sum + one), size)
}

/** True when the fee can be computed exactly: the exponent of the imbalance is a small whole number. */
export const isExact = ({ exponent, feeFactor, threshold }: ImpactBuffer): boolean =>
  feeFactor === 0n || (Number.isInteger(exponent) && exponent >= 0 && exponent <= 16 && threshold > 0n)

/** True when the borrow rate has a value: the knee of the curve is below full use. */
export const hasRate = ({ hourlyFundingDbps, targetUtilizationRate }: Custody): boolean =>
  hourlyFundingDbps !== 0n || targetUtilizationRate < RATE

/** The whole fee of an opening in basis points: base, part for size and part for imbalance, with its cap. */
const openFeeBps = ({ baseBps, buffer, nowSecond, scalar }: OpenFee, size: bigint): bigint => {
  const bySize = baseBps + (scalar === 0n ? 0n : divCeil(size * BPS, scalar))
  const added = addedInterest(buffer, size, nowSecond)
  const imbalance = added < 0n ? -added : added
  if (buffer.feeFactor === 0n || imbalance <= buffer.threshold) {
    return bySize
  }
  const power = BigInt(buffer.exponent)
  const excess = divCeil(imbalance ** power, buffer.threshold ** power)
  const all = bySize + divCeil(excess, buffer.feeFactor)
  return all < buffer.maxFeeBps ? all : buffer.maxFeeBps
}

/** The fee of an opening of `size` millionths of a dollar, without the base fee, in basis points; null for no size. */
export const impactFeeBps = (fee: OpenFee, size: bigint): Ratio | null => {
  if (size <= 0n) {
    return null
  }
  const paid = divCeil(size * openFeeBps(fee, size), BPS)
  return { numerator: paid * BPS - size * fee.baseBps, denominator: size }
}

/** The share of a position that its holder pays to the pool each hour, in 10^-9. */
export const hourlyBorrowRate = (custody: Custody): bigint => {
  const debt = divCeil(atLeastZero(custody.debt - custody.interestsAccrued), RATE)
  const [owned, locked] = [custody.owned + debt, custody.locked + debt]
  const isUsed = owned > 0n && locked > 0n
  if (custody.hourlyFundingDbps !== 0n) {
    return isUsed ? divCeil(locked * ((custody.hourlyFundingDbps * RATE) / DBPS), owned) : 0n
  }
  const { maxRateBps, minRateBps, targetRateBps, targetUtilizationRate: target } = custody
  const utilization = isUsed ? (locked * RATE) / owned : 0n
  const yearlyBps =
    utilization <= target
      ? (target === 0n ? 0n : divCeil(atLeastZero(targetRateBps - minRateBps) * utilization, target)) + minRateBps
      : divCeil(atLeastZero(maxRateBps - targetRateBps) * (utilization - target), RATE - target) + targetRateBps
  return (yearlyBps * RATE) / BPS / HOURS_OF_YEAR
}

const least = (...values: ReadonlyArray<bigint>): bigint =>
  values.reduce((lowest, value) => (value < lowest ? value : lowest))

/** Tokens that are not locked, in units of 10^-30. */
const free = ({ decimals, locked, owned }: Custody): bigint =>
  (atLeastZero(owned - locked) * ONE) / 10n ** BigInt(decimals)

/**
 * Coins that longs and shorts can still open at a price, in units of 10^-30. Bounded by the program's limit on all
 * positions of the side, and by what the pool owns and has not locked: tokens for longs, dollars for shorts.
 */
export const openable = (custody: Custody, dollars: Custody, price: bigint) => {
  const coins = (micros: bigint) => (atLeastZero(micros) * ONE * (ONE / 1_000_000n)) / price
  return {
    long: least(free(custody), coins(custody.maxGlobalLongSizes - custody.guaranteedUsd)),
    short: least((free(dollars) * ONE) / price, coins(custody.maxGlobalShortSizes - custody.globalShortSizes))
  }
}

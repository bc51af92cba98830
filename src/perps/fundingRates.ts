/** What holding a position costs. A positive rate charges longs and pays shorts. A pool charges both. */
import { ONE, type Ratio } from "./exact.ts"
import type { Side } from "./bookWalk.ts"

/** Hours of 365 days, the base of yearly rates. */
export const HOURS_OF_YEAR = 8760n

/** A venue's funding. `rate` is the share of the position that longs pay to shorts. */
export interface Funding {
  readonly rate: Ratio
  /** The share that shorts pay, when both sides borrow from a pool. By default shorts receive what longs pay. */
  readonly shortRate?: Ratio
  /** Hours that the rate covers. Payments may be further apart or closer together. */
  readonly rateHours: number
  /** Hours between payments; for continuous funding, the hours of its rate. */
  readonly intervalHours: number
}

/** Funding from a rate in units of 10^-30. By default payments are as far apart as the hours of the rate. */
export const fundingOf = (rate: bigint, rateHours: number, intervalHours = rateHours): Funding => ({
  rate: { numerator: rate, denominator: ONE },
  rateHours,
  intervalHours
})

/** The yearly rate for a side in percent points. `payer` is the side that pays while the rate is positive. */
export const carryOf = (funding: Funding, side: Side): { readonly apr: Ratio; readonly payer: Side } =>
  funding.shortRate === undefined
    ? { apr: aprPct(funding), payer: side }
    : { apr: aprPct(side === "buy" ? funding : { ...funding, rate: funding.shortRate }), payer: "buy" }

/** The yearly rate in percent points, without compounding. Positive when longs pay. */
export const aprPct = ({ rate, rateHours }: Funding): Ratio => ({
  numerator: rate.numerator * HOURS_OF_YEAR * 100n,
  denominator: rate.denominator * BigInt(rateHours)
})

/**
 * `s * aprPct * 100 * holdHours / 8760` in basis points. `s` is 1 for a buyer and -1 for a seller, so a negative cost
 * is paid to the holder. Hours are in units of 10^-30.
 */
export const holdBps = (side: Side, apr: Ratio, holdHours: bigint): Ratio => {
  const cost = apr.numerator * 100n * holdHours
  return { numerator: side === "buy" ? cost : -cost, denominator: apr.denominator * HOURS_OF_YEAR * ONE }
}

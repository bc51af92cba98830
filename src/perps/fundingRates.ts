/** The cost of holding a position. A venue charges longs and pays shorts while its rate is positive, or lends to both sides. */
import { ONE, type Ratio } from "./exact.ts"
import type { Side } from "./bookWalk.ts"

/** Hours of 365 days, the base of yearly rates. */
export const HOURS_OF_YEAR = 8760n

/** A venue's rate: the share of the position that longs pay shorts. */
export interface Funding {
  readonly rate: Ratio
  /** The share that shorts pay, where both sides borrow from a pool; the other side of the rate unless given. */
  readonly shortRate?: Ratio
  /** Hours that the rate covers; may differ from those between two payments. */
  readonly rateHours: number
  /** Hours from payment to payment; for continuous funding, those of its rate. */
  readonly intervalHours: number
}

/** Funding from a rate in units of 10^-30. Payments are as far apart as the hours of the rate unless given. */
export const fundingOf = (rate: bigint, rateHours: number, intervalHours = rateHours): Funding => ({
  rate: { numerator: rate, denominator: ONE },
  rateHours,
  intervalHours
})

/** The rate of a year in percent points for a side, and the sign with which it is a cost to it. */
export const carryOf = (funding: Funding, side: Side): { readonly apr: Ratio; readonly payer: Side } =>
  funding.shortRate === undefined
    ? { apr: aprPct(funding), payer: side }
    : { apr: aprPct(side === "buy" ? funding : { ...funding, rate: funding.shortRate }), payer: "buy" }

/** The rate of a year in percent points, without compounding; positive when longs pay. */
export const aprPct = ({ rate, rateHours }: Funding): Ratio => ({
  numerator: rate.numerator * HOURS_OF_YEAR * 100n,
  denominator: rate.denominator * BigInt(rateHours)
})

/**
 * `s * aprPct * 100 * holdHours / 8760` in basis points: `s` is 1 for a buyer and -1 for a seller, so that a negative cost
 * is paid to the holder. Hours are in units of 10^-30.
 */
export const holdBps = (side: Side, apr: Ratio, holdHours: bigint): Ratio => {
  const cost = apr.numerator * 100n * holdHours
  return { numerator: side === "buy" ? cost : -cost, denominator: apr.denominator * HOURS_OF_YEAR * ONE }
}

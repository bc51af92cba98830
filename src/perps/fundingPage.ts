/** Past funding as the API shows it. */
import { PerpsFundingRate } from "../api/schemas/Perps.ts"
import { fixedText, ONE, type Ratio, roundAt, SCALE } from "./exact.ts"
import { aprPct } from "./fundingRates.ts"
import type { PastRate } from "./Venue.ts"

/** Digits of a rate that is a quotient without an end. */
const QUOTIENT_DIGITS = 18
const APR_DIGITS = 12

/** The rate as decimal text: exact where it can be written with the digits that decimals of the API have. */
const rateText = (rate: Ratio): string => {
  const whole = roundAt(rate, SCALE)
  const isExact = whole * rate.denominator === rate.numerator * ONE
  return isExact ? fixedText(whole) : fixedText(roundAt(rate, QUOTIENT_DIGITS), QUOTIENT_DIGITS)
}

/** A rate of a page. */
export const shownRate = ({ atMs, index, rate, rateHours }: PastRate): PerpsFundingRate =>
  PerpsFundingRate.make({
    atMs,
    rate: rateText(rate),
    hours: rateHours,
    aprPct:
      rateHours === null
        ? null
        : fixedText(roundAt(aprPct({ rate, rateHours, intervalHours: rateHours }), APR_DIGITS), APR_DIGITS),
    index: index === null ? null : fixedText(index)
  })

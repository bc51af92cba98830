/** Compares venues for one order: which is cheapest, and by how much. */
import { Result } from "effect"
import { PerpsComparison, type PerpsPickCost } from "../api/schemas/Perps.ts"
import { BPS_DIGITS, type PerpsOrder, type Scored, score } from "./venueEntry.ts"
import { fixedNumber } from "./exact.ts"
import type { VenueReading } from "./PerpsVenues.ts"

/** Healthy venues first, then by cost, then by key when costs are equal or unknown. */
const inOrder = (a: Scored, b: Scored): number => {
  if (a.entry.healthy !== b.entry.healthy) {
    return a.entry.healthy ? -1 : 1
  }
  if (a.costs !== null && b.costs !== null && a.costs.all !== b.costs.all) {
    return a.costs.all < b.costs.all ? -1 : 1
  }
  return a.entry.venue < b.entry.venue ? -1 : 1
}

const costOf = (picked: Scored["costs"], next: Scored | undefined, ourBps: bigint): PerpsPickCost | null =>
  picked === null
    ? null
    : {
        takerBps: fixedNumber(picked.taker, BPS_DIGITS),
        ourBps: fixedNumber(ourBps, BPS_DIGITS),
        impactBps: fixedNumber(picked.impact, BPS_DIGITS),
        fundingBps: fixedNumber(picked.funding, BPS_DIGITS),
        totalBps: fixedNumber(picked.all, BPS_DIGITS),
        vsNextBps: next?.costs ? fixedNumber(next.costs.all - picked.all, BPS_DIGITS) : null
      }

/** True when any venue has answered, even if it does not have the market. */
export const hasAnswer = (readings: ReadonlyArray<VenueReading>): boolean =>
  readings.some(({ outcome }) => Result.isSuccess(outcome) || outcome.failure._tag !== "VenueUnreadable")

/** Every venue's cost of the order, and the cheapest that can fill it. `ourBps` is in millionths of a basis point. */
export const compare = (order: PerpsOrder, readings: ReadonlyArray<VenueReading>, ourBps: bigint): PerpsComparison => {
  const scored = readings.map((reading) => score(order, reading, ourBps)).toSorted(inOrder)
  const [pick, next] = scored.filter(({ costs, entry }) => entry.healthy && costs !== null)
  const times = scored.flatMap(({ entry: { asOfMs, bid, ask } }) =>
    asOfMs === null || (bid === null && ask === null) ? [] : [asOfMs]
  )
  return PerpsComparison.make({
    perVenue: scored.map(({ entry }) => entry),
    bestPick: pick?.entry ?? null,
    reasonBps: costOf(pick?.costs ?? null, next, ourBps),
    asOfMs: times.length === 0 ? null : Math.max(...times)
  })
}

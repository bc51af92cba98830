/** The cost of an order at one venue: plain arithmetic over a reading. */
import { Result } from "effect"
import { tenTo } from "../domain/decimal.ts"
import { PerpsEntry, type PerpsReason } from "../api/schemas/Perps.ts"
import { type Fill, impactBps, type Side, walk } from "./bookWalk.ts"
import { fixedNumber, ONE, type Ratio, roundAt, SCALE } from "./exact.ts"
import { carryOf, holdBps } from "./fundingRates.ts"
import { impactFeeBps, type OpenFee } from "./jupiterCosts.ts"
import { liquidationPrice, tierAt } from "./margin.ts"
import type { VenueReading } from "./PerpsVenues.ts"
import { venueName } from "./symbols.ts"
import type { Fees, Lots, VenueFault, VenueMarket, VenueUnreadable } from "./Venue.ts"

/** A hypothetical order. Size and hours are in units of 10^-30. */
export interface PerpsOrder {
  readonly symbol: string
  readonly side: Side
  readonly size: bigint
  readonly holdHours: bigint
  /** Value of the position in multiples of its margin; null for none. */
  readonly leverage?: bigint | null
}

/** Costs are shown in millionths of a basis point, and added up as they are shown. */
export const BPS_DIGITS = 6
/** Yearly rates are shown with more digits, so that the cost over a hold follows from them. */
const APR_DIGITS = 12

/** An entry, with the costs that it is sorted by. */
export interface Scored {
  readonly entry: PerpsEntry
  /** In millionths of a basis point; null when unknown. */
  readonly costs: {
    readonly taker: bigint
    readonly impact: bigint
    readonly funding: bigint
    readonly all: bigint
  } | null
}

const bps = (value: bigint | null): number | null => (value === null ? null : fixedNumber(value, BPS_DIGITS))

/** True when the venue accepts an order of this size at about this price. */
export const isSupported = ({ least, leastValue, most, step }: Lots, size: bigint, price: bigint): boolean =>
  size % step === 0n &&
  (least === null || size >= least) &&
  (most === null || size <= most) &&
  (leastValue === null || size * price >= leastValue * ONE)

/** How much of the size was filled in percent points, rounded down, so that 100 means all of it. */
const filledShare = ({ filled }: Fill, size: bigint): number =>
  fixedNumber((filled * 100n * tenTo(BPS_DIGITS)) / size, BPS_DIGITS)

const reasonsUnread = {
  late: "timeout",
  down: "unavailable",
  limited: "unavailable",
  resting: "unavailable",
  paced: "unavailable",
  malformed: "unreadable"
} as const satisfies Readonly<Record<VenueUnreadable["why"], PerpsReason>>

const reasonOf = (fault: VenueFault): PerpsReason => {
  switch (fault._tag) {
    case "NoMarket":
      return "no_market"
    case "StaleBook":
      return "stale_book"
    case "VenueUnreadable":
      return reasonsUnread[fault.why]
  }
}

const feesOf = (fees: Fees | null) => ({ takerBps: bps(fees?.taker ?? null), makerBps: bps(fees?.maker ?? null) })

const namedAt = ({ symbol }: PerpsOrder, { unreadable, venue }: VenueReading) => {
  const { multiplier, name } = venueName(venue, symbol)
  return { venue, symbol, venueSymbol: name, coinsPerUnit: Number(multiplier), unreadableMarkets: unreadable }
}

const nothing = {
  impactBps: null,
  fundingAprPct: null,
  fundingBps: null,
  fundingIntervalHours: null,
  allInBps: null,
  bid: null,
  ask: null,
  mid: null,
  filledPct: null,
  openInterest: null,
  openInterestReason: null,
  marginTiers: null,
  maxLeverage: null,
  maintenanceMarginPct: null,
  liquidationPrice: null,
  healthy: false,
  asOfMs: null
}

const failedEntry = (order: PerpsOrder, reading: VenueReading, fault: VenueFault, ourBps: bigint): Scored => ({
  costs: null,
  entry: PerpsEntry.make({
    ...nothing,
    ...namedAt(order, reading),
    ...feesOf(reading.fees),
    ourBps: fixedNumber(ourBps, BPS_DIGITS),
    reliability: reading.reliability,
    asOfMs: fault._tag === "StaleBook" ? fault.asOfMs : null,
    reason: reasonOf(fault)
  })
})

/** Millionths of a dollar in a sum of price times size. */
const MICRO = tenTo(2 * SCALE - 6)

/** Adds the pool's fee for the size to the impact in the book; null for a size without value. */
const withFee = (walked: Ratio, openFee: OpenFee, { paid }: Fill): Ratio | null => {
  const fee = impactFeeBps(openFee, paid / MICRO)
  return fee === null
    ? null
    : {
        numerator: walked.numerator * fee.denominator + fee.numerator * walked.denominator,
        denominator: walked.denominator * fee.denominator
      }
}

/** Fills the order from the book: the fill, its impact, and the reason against it. */
const tryOrder = (order: PerpsOrder, { asks, bids, lots, openFee }: VenueMarket) => {
  const bid = bids[0]?.price
  const ask = asks[0]?.price
  const touch = order.side === "buy" ? ask : bid
  if (touch !== undefined && !isSupported(lots, order.size, touch)) {
    return { fill: null, impact: null, reason: "unsupported_size" as const }
  }
  const fill = walk(order.side === "buy" ? asks : bids, order.size)
  const walked: Ratio | null =
    bid === undefined || ask === undefined || fill.filled < order.size ? null : impactBps(order.side, fill, bid, ask)
  const impact = walked === null || openFee === undefined ? walked : withFee(walked, openFee, fill)
  return { fill, impact, reason: impact === null ? ("thin_book" as const) : null }
}

const MARGIN_DIGITS = 10

/** Leverage that the margin of a tier allows. */
const leverageOf = (initial: bigint): number =>
  fixedNumber(roundAt({ numerator: ONE, denominator: initial }, MARGIN_DIGITS), MARGIN_DIGITS)

const percentOf = (share: bigint): number =>
  fixedNumber(roundAt({ numerator: share * 100n, denominator: ONE }, MARGIN_DIGITS), MARGIN_DIGITS)

/** Why an open interest is not known; null when it is. */
const openInterestReason = (openInterest: VenueMarket["openInterest"]) =>
  openInterest === undefined ? ("not_published" as const) : openInterest === null ? ("unreadable" as const) : null

/** Open interest, margin tiers, and what the filled order would need. */
const standingOf = (
  { leverage = null, side, size }: PerpsOrder,
  { margin = null, openInterest }: VenueMarket,
  fill: Fill | null
) => {
  const isFilled = fill !== null && fill.filled >= size
  const tier = margin === null || !isFilled ? null : tierAt(margin, fill.paid / ONE)
  const liquidation =
    margin === null || !isFilled || leverage === null
      ? null
      : liquidationPrice(margin, { side, size, entry: fill.paid / size, leverage })
  return {
    openInterest: openInterest == null ? null : fixedNumber(openInterest),
    openInterestReason: openInterestReason(openInterest),
    marginTiers:
      margin === null
        ? null
        : margin.map(({ from, initial, maintenance }) => ({
            fromUsd: fixedNumber(from),
            maxLeverage: leverageOf(initial),
            maintenanceMarginPct: percentOf(maintenance)
          })),
    maxLeverage: tier === null ? null : leverageOf(tier.initial),
    maintenanceMarginPct: tier === null ? null : percentOf(tier.maintenance),
    liquidationPrice: liquidation === null ? null : fixedNumber(liquidation)
  }
}

const readEntry = (order: PerpsOrder, reading: VenueReading, market: VenueMarket, ourBps: bigint): Scored => {
  const bid = market.bids[0]?.price
  const ask = market.asks[0]?.price
  const { fill, impact, reason } = tryOrder(order, market)
  const { apr, payer } = carryOf(market.funding, order.side)
  const funding = roundAt(holdBps(payer, apr, order.holdHours), BPS_DIGITS)
  const { taker } = market.fees
  const impacted = impact === null ? null : roundAt(impact, BPS_DIGITS)
  const costs =
    impacted === null ? null : { taker, impact: impacted, funding, all: taker + ourBps + impacted + funding }
  const entry = PerpsEntry.make({
    ...namedAt(order, reading),
    ...feesOf(market.fees),
    ourBps: fixedNumber(ourBps, BPS_DIGITS),
    impactBps: bps(impacted),
    fundingAprPct: fixedNumber(roundAt(apr, APR_DIGITS), APR_DIGITS),
    fundingBps: bps(funding),
    fundingIntervalHours: market.funding.intervalHours,
    reliability: reading.reliability,
    allInBps: bps(costs?.all ?? null),
    bid: bid === undefined ? null : fixedNumber(bid),
    ask: ask === undefined ? null : fixedNumber(ask),
    // Half of the sum, as five tenths with one more digit.
    mid: bid === undefined || ask === undefined ? null : fixedNumber((bid + ask) * 5n, SCALE + 1),
    filledPct: fill === null ? null : filledShare(fill, order.size),
    ...standingOf(order, market, fill),
    healthy: reason === null,
    asOfMs: market.asOfMs,
    reason
  })
  return { entry, costs }
}

/** A venue's entry for its reading. `ourBps` is in millionths of a basis point. */
export const score = (order: PerpsOrder, reading: VenueReading, ourBps: bigint): Scored =>
  Result.match(reading.outcome, {
    onSuccess: (market) => readEntry(order, reading, market, ourBps),
    onFailure: (fault) => failedEntry(order, reading, fault, ourBps)
  })

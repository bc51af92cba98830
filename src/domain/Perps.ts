import { Schema } from "effect"

/** Venues by their keys: Hyperliquid, Velocity (formerly Drift), dYdX v4, Paradex, Lighter, Aster and Jupiter Perps. */
export const PerpsVenue = Schema.Literals([
  "hl",
  "velocity",
  "dydx",
  "paradex",
  "lighter",
  "aster",
  "jupiter"
]).annotate({
  identifier: "PerpsVenue",
  description: "A venue: Hyperliquid, Velocity (formerly Drift), dYdX v4, Paradex, Lighter, Aster or Jupiter Perps."
})
export type PerpsVenue = typeof PerpsVenue.Type

/** Why a venue is not to be traded on for this order. */
export const PerpsReason = Schema.Literals([
  "stale_book",
  "no_market",
  "thin_book",
  "timeout",
  "unsupported_size"
]).annotate({
  identifier: "PerpsReason",
  description:
    "stale_book: no fresh, readable book. no_market: the venue does not trade the symbol. thin_book: the visible book " +
    "ends before the size does. timeout: no answer in time, or none at all. unsupported_size: not a size the venue takes."
})
export type PerpsReason = typeof PerpsReason.Type

const Bps = Schema.NullOr(Schema.Finite)
const noted = <S extends Schema.Top>(schema: S, description: string) => schema.annotate({ description })

/** Cost of the order at one venue. */
export class PerpsEntry extends Schema.Opaque<PerpsEntry>()(
  Schema.Struct({
    venue: PerpsVenue,
    symbol: Schema.String,
    venueSymbol: noted(Schema.String, "The base of the market at the venue, as in kPEPE or 1000PEPE."),
    coinsPerUnit: noted(Schema.Int, "Coins of the symbol in one unit of the venue. Prices here are of one coin."),
    unreadableMarkets: noted(
      Schema.NullOr(Schema.Int),
      "Markets that the venue lists in an unknown form, which are left out; null before its first answer."
    ),
    takerBps: noted(Bps, "Taker fee of an account without volume, in basis points."),
    makerBps: noted(Bps, "Maker fee, for information; negative is a rebate."),
    ourBps: noted(Schema.Finite, "Fee of this service."),
    impactBps: noted(
      Bps,
      "Volume-weighted fill against the middle, half the spread included, and of jupiter the price impact fee; null when it cannot fill."
    ),
    fundingAprPct: noted(
      Bps,
      "Funding of a year in percent points, uncompounded; positive when longs pay. Of jupiter the borrow rate of the side."
    ),
    fundingBps: noted(Bps, "Funding over the hold; negative is paid to the holder."),
    fundingIntervalHours: noted(Bps, "The venue's own funding interval."),
    reliability: noted(Bps, "Share of fresh reads in the last hour, 0 to 1; null before the first."),
    allInBps: noted(Bps, "takerBps + ourBps + impactBps + fundingBps."),
    bid: Schema.NullOr(Schema.Finite),
    ask: Schema.NullOr(Schema.Finite),
    mid: Schema.NullOr(Schema.Finite),
    filledPct: noted(Bps, "Share of the size that the visible book can absorb, rounded down."),
    healthy: Schema.Boolean,
    asOfMs: noted(Schema.NullOr(Schema.Int), "When the book stood like this."),
    reason: Schema.NullOr(PerpsReason)
  }).annotate({ identifier: "PerpsEntry", description: "What one venue would charge for the order." })
) {}

/** The parts of the best pick's cost. */
export class PerpsPickCost extends Schema.Opaque<PerpsPickCost>()(
  Schema.Struct({
    takerBps: Schema.Finite,
    ourBps: Schema.Finite,
    impactBps: Schema.Finite,
    fundingBps: Schema.Finite,
    totalBps: Schema.Finite,
    vsNextBps: noted(Bps, "How much more the next eligible venue costs; null when there is none.")
  }).annotate({ identifier: "PerpsPickCost", description: "The parts of the best pick's cost, in basis points." })
) {}

/** Venues compared for one order. */
export class PerpsComparison extends Schema.Opaque<PerpsComparison>()(
  Schema.Struct({
    perVenue: noted(Schema.Array(PerpsEntry), "Cheapest first, unhealthy ones last."),
    bestPick: noted(
      Schema.NullOr(PerpsEntry),
      "The first venue that is healthy and can fill it all; null when none can."
    ),
    reasonBps: Schema.NullOr(PerpsPickCost),
    asOfMs: noted(Schema.NullOr(Schema.Int), "The newest book used; null when no book was had.")
  })
) {}

import { Schema } from "effect"
import { Coverage, Decimal, Status } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"
import { methodVersion, requestId } from "./fields.ts"

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

const SYMBOL = /^(?:[A-Z0-9]+|[a-z0-9]{1,16}:[A-Za-z0-9]+)$/u
const SYMBOLS = "a base symbol of 1 to 64 of A-Z and 0-9, or a market of a builder on Hyperliquid such as xyz:TSLA"

/** A symbol that reads of perps take. */
export const PerpsSymbol = Schema.String.check(
  Schema.isMaxLength(64, { expected: SYMBOLS }),
  Schema.isPattern(SYMBOL, { expected: SYMBOLS })
)

export const isPerpsSymbol = Schema.is(PerpsSymbol)

/** Why this order should not be traded on a venue. */
export const PerpsReason = Schema.Literals([
  "stale_book",
  "no_market",
  "thin_book",
  "timeout",
  "unsupported_size",
  "unreadable",
  "unavailable"
]).annotate({
  identifier: "PerpsReason",
  description:
    "stale_book: the book is too old. no_market: the venue does not trade the symbol. thin_book: the visible book " +
    "is smaller than the size. timeout: no answer in time. unsupported_size: the venue does not take this size. " +
    "unreadable: the answer is not in its documented form. unavailable: the venue cannot be reached, fails, or may not be asked again yet."
})
export type PerpsReason = typeof PerpsReason.Type

const Bps = Schema.NullOr(Schema.Finite)
const noted = <S extends Schema.Top>(schema: S, description: string) => schema.annotate({ description })

const MarginTier = Schema.Struct({
  fromUsd: field(Schema.Finite, "Least value of a position in this tier, in dollars."),
  maxLeverage: field(Schema.Finite, "Greatest leverage."),
  maintenanceMarginPct: field(Schema.Finite, "Margin below which a position is liquidated, in percent of its value.")
}).annotate({ identifier: "MarginTier", description: "Margin of positions from a value on." })

export class PerpsEntry extends Schema.Opaque<PerpsEntry>()(
  Schema.Struct({
    venue: PerpsVenue,
    symbol: field(Schema.String, "Symbol of the market at this venue."),
    venueSymbol: noted(Schema.String, "The base of the market at the venue, such as kPEPE or 1000PEPE."),
    coinsPerUnit: noted(Schema.Int, "Coins of the symbol in one unit of the venue. Prices here are for one coin."),
    unreadableMarkets: noted(
      Schema.NullOr(Schema.Int),
      "Markets that the venue lists in an unknown form and that are left out; null before its first answer."
    ),
    takerBps: noted(Bps, "Taker fee of an account without volume, in basis points."),
    makerBps: noted(Bps, "Maker fee, for information; negative is a rebate."),
    ourBps: noted(Schema.Finite, "Fee of this service."),
    impactBps: noted(
      Bps,
      "Volume-weighted fill against the middle, half the spread included; for jupiter also the price impact fee. Null when the order cannot be filled."
    ),
    fundingAprPct: noted(
      Bps,
      "Funding of a year in percentage points, uncompounded; positive when longs pay. For jupiter, the borrow rate of the side."
    ),
    fundingBps: noted(Bps, "Funding over the hold; negative when the holder receives it."),
    fundingIntervalHours: noted(Bps, "The venue's own funding interval."),
    reliability: noted(Bps, "Share of fresh reads in the last hour, 0 to 1; null before the first read."),
    allInBps: noted(Bps, "takerBps + ourBps + impactBps + fundingBps."),
    bid: field(Schema.NullOr(Schema.Finite), "Best bid price, in USD; null when the book has none."),
    ask: field(Schema.NullOr(Schema.Finite), "Best ask price, in USD; null when the book has none."),
    mid: field(Schema.NullOr(Schema.Finite), "Middle of bid and ask, in USD; null without either."),
    filledPct: noted(Bps, "Share of the size that the visible book can absorb, rounded down."),
    openInterest: noted(Bps, "Coins of all open positions, by the venue; null where it is not known."),
    openInterestReason: noted(
      Schema.NullOr(Schema.Literals(["not_published", "unreadable"])),
      "Why the open interest of a market that was read is null. not_published: the venue's documents have none. unreadable: it is not in its documented form."
    ),
    marginTiers: noted(
      Schema.NullOr(Schema.Array(MarginTier)),
      "Margin by the value of a position, the first tier from zero on; null where the venue does not publish it."
    ),
    maxLeverage: noted(Bps, "Greatest leverage of the filled order; null without tiers, or when it cannot be filled."),
    maintenanceMarginPct: noted(Bps, "Maintenance margin of the filled order, in percent of its value."),
    liquidationPrice: noted(
      Bps,
      "Price at which the filled order is liquidated with the requested leverage and margin of its own, before fees and funding. Null without leverage or tiers, when the venue allows less leverage, and when no price does."
    ),
    healthy: field(Schema.Boolean, "True when the venue answered with a book that is fresh enough to compare."),
    asOfMs: noted(Schema.NullOr(Schema.Int), "When the book had this state."),
    reason: Schema.NullOr(PerpsReason)
  }).annotate({ identifier: "PerpsEntry", description: "What one venue would charge for the order." })
) {}

export class PerpsPickCost extends Schema.Opaque<PerpsPickCost>()(
  Schema.Struct({
    takerBps: field(Schema.Finite, "Taker fee of the venue, in basis points of the size."),
    ourBps: field(Schema.Finite, "Fee of this service, in basis points of the size."),
    impactBps: field(Schema.Finite, "Price impact of the size against the middle, in basis points."),
    fundingBps: field(
      Schema.Finite,
      "Funding over the hold, in basis points of the size; negative when it is received."
    ),
    totalBps: field(Schema.Finite, "Sum of the costs, in basis points of the size."),
    vsNextBps: noted(Bps, "How much more the next eligible venue costs; null when there is none.")
  }).annotate({ identifier: "PerpsPickCost", description: "The parts of the best pick's cost, in basis points." })
) {}

/** Venues compared for one order. */
export class PerpsComparison extends Schema.Opaque<PerpsComparison>()(
  Schema.Struct({
    perVenue: noted(Schema.Array(PerpsEntry), "Cheapest first, unhealthy ones last."),
    bestPick: noted(
      Schema.NullOr(PerpsEntry),
      "The first venue that is healthy and can fill the whole order; null when none can."
    ),
    reasonBps: field(Schema.NullOr(PerpsPickCost), "Costs behind the pick, in basis points; null without a pick."),
    asOfMs: noted(Schema.NullOr(Schema.Int), "Time of the newest book; null without any book.")
  })
) {}

/** A symbol with the venues that list it. */
export class PerpsMarket extends Schema.Opaque<PerpsMarket>()(
  Schema.Struct({
    symbol: field(Schema.String, "The symbol that reads of perps take."),
    builder: noted(
      Schema.NullOr(Schema.String),
      "Name of the exchange that a builder runs on Hyperliquid; null for a market of a venue itself."
    ),
    venues: field(
      Schema.Array(
        Schema.Struct({
          venue: PerpsVenue,
          venueSymbol: noted(Schema.String, "The base of the market at the venue, such as kPEPE or 1000PEPE."),
          coinsPerUnit: noted(Schema.Int, "Coins of the symbol in one unit of the venue.")
        })
      ),
      "The venues that list it now."
    )
  }).annotate({ identifier: "PerpsMarket", description: "A symbol, and the venues that list a market of it." })
) {}

/** How well the markets of a venue are known. */
export class PerpsVenueMarkets extends Schema.Opaque<PerpsVenueMarkets>()(
  Schema.Struct({
    venue: PerpsVenue,
    status: Status,
    reason: noted(
      Schema.NullOr(Schema.Literals(["timeout", "unreadable", "unavailable"])),
      "Why the venue's list could not be read now; null when it was. timeout: no answer in time. unreadable: the answer is not in its documented form. unavailable: the venue cannot be reached, fails, or may not be asked again yet."
    ),
    markets: noted(
      Schema.NullOr(Schema.Int),
      "Markets of the venue that are traded now; null when none of its lists was read."
    ),
    unreadableMarkets: noted(
      Schema.NullOr(Schema.Int),
      "Markets that the venue lists in an unknown form. They are left out."
    ),
    namelessMarkets: noted(
      Schema.NullOr(Schema.Int),
      "Markets whose names are no symbols of this API, such as 9BB6,RAYDIUM. They are left out."
    ),
    observedAtMs: field(Schema.NullOr(Schema.Int), "When the venue's list was read.")
  }).annotate({ identifier: "PerpsVenueMarkets", description: "The list of one venue, and how well it is known." })
) {}

/** How a list of markets was made, and how well it is known. */
export const PerpsMarketsMeta = Schema.Struct({
  requestId,
  methodVersion: methodVersion("public-perps-markets-v1"),
  venues: field(
    Schema.Array(PerpsVenueMarkets),
    "Each requested venue. A venue whose list cannot be read has the list of up to an hour ago and is stale, or is unavailable, and then its markets are missing."
  ),
  observedAtMs: field(Schema.NullOr(Schema.Int), "When the oldest of the lists was read."),
  status: Status,
  coverage: Coverage
})

/** A funding rate of the past. */
export class PerpsFundingRate extends Schema.Opaque<PerpsFundingRate>()(
  Schema.Struct({
    atMs: field(Schema.Int, "Time of the rate by the venue, in milliseconds since the Unix epoch."),
    rate: field(
      Decimal,
      "Share of a position that longs pay to shorts over `hours`, as exact text; negative when shorts pay. A quotient (velocity) has 18 digits."
    ),
    hours: noted(Schema.NullOr(Schema.Int), "Hours that the rate covers; null where the venue does not say."),
    aprPct: noted(
      Schema.NullOr(Decimal),
      "The same for a year in percentage points, uncompounded, rounded to 12 digits; null without hours."
    ),
    index: noted(
      Schema.NullOr(Decimal),
      "Funding that one unit of the venue has accrued since its beginning (paradex): a position pays the difference. Null elsewhere."
    )
  }).annotate({ identifier: "PerpsFundingRate", description: "A funding rate of a market at a venue." })
) {}

/** How past funding was read, and how well it is known. */
export const PerpsFundingMeta = Schema.Struct({
  requestId,
  methodVersion: methodVersion("public-perps-funding-v1"),
  venue: PerpsVenue,
  symbol: field(Schema.String, "The requested symbol."),
  venueSymbol: field(Schema.String, "The base of the market at the venue, such as kPEPE."),
  from: field(Schema.Int, "Unix second from which rates were read."),
  to: field(Schema.Int, "Unix second before which rates were read."),
  kind: noted(
    Schema.NullOr(Schema.Literals(["settlement", "hourly"])),
    "settlement: rates as they were paid. hourly: the first rate after each full hour, where funding accrues all the time (paradex): their sum is no payment. Null without rates."
  ),
  reason: noted(
    Schema.NullOr(Schema.Literals(["no_market", "not_published"])),
    "Why there are no rates. no_market: the venue does not trade the symbol. not_published: the venue publishes no past funding (jupiter)."
  ),
  observedAtMs: field(Schema.NullOr(Schema.Int), "When the newest of the rates were read from the venue."),
  status: Status,
  coverage: Coverage
})

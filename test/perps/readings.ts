/** Venues with scripted readings. */
import { Effect, Result } from "effect"
import type { PerpsVenue } from "../../src/api/schemas/Perps.ts"
import { type Level } from "../../src/perps/bookWalk.ts"
import { ONE, parseFixed } from "../../src/perps/exact.ts"
import type { VenueReading } from "../../src/perps/PerpsVenues.ts"
import type { Lots, Venue, VenueFault, VenueMarket } from "../../src/perps/Venue.ts"

/** Decimal text in units of 10^-30. */
export const fixed = (text: string): bigint => parseFixed(text) ?? 0n

/** Levels of a side, as text. */
export const levels = (...side: ReadonlyArray<readonly [price: string, size: string]>): ReadonlyArray<Level> =>
  side.map(([price, size]) => ({ price: fixed(price), size: fixed(size) }))

const anySize: Lots = { step: 1n, least: null, most: null, leastValue: null }

/** A market with the book 64,990 / 65,010, a rate of 10.95 % a year and Hyperliquid's fees, unless changed. */
export const market = (
  change: Partial<Omit<VenueMarket, "lots">> & { readonly lots?: Partial<Lots> } = {}
): VenueMarket => ({
  bids: levels(["64990", "10"]),
  asks: levels(["65010", "10"]),
  asOfMs: 1000,
  funding: { rate: { numerator: fixed("0.0000125"), denominator: ONE }, rateHours: 1, intervalHours: 1 },
  fees: { taker: 4_500_000n, maker: 1_500_000n },
  ...change,
  lots: { ...anySize, ...change.lots }
})

/** A reading of a venue that answers. */
export const answers = (venue: PerpsVenue, reading: VenueMarket): VenueReading => ({
  venue,
  outcome: Result.succeed(reading),
  fees: null,
  unreadable: 0,
  reliability: 1
})

/** A reading of a venue that does not answer. */
export const fails = (venue: PerpsVenue, fault: VenueFault): VenueReading => ({
  venue,
  outcome: Result.fail(fault),
  fees: { taker: 5_000_000n, maker: 2_000_000n },
  unreadable: null,
  reliability: 0.2
})

/** A venue with this read. */
export const venueOf = (key: PerpsVenue, read: Venue["read"], maxAgeMs = 10_000): Venue => ({
  key,
  fees: { taker: 5_000_000n, maker: 2_000_000n },
  maxAgeMs,
  unreadable: () => 0,
  read,
  markets: Effect.clockWith((clock) =>
    Effect.succeed({ names: ["BTC"], unreadable: 0, readAtMs: clock.currentTimeMillisUnsafe() })
  )
})

/** A venue that always has this market, as of now. */
export const steady = (key: PerpsVenue, reading: VenueMarket): Venue =>
  venueOf(key, () =>
    Effect.clockWith((clock) => Effect.succeed({ ...reading, asOfMs: clock.currentTimeMillisUnsafe() }))
  )

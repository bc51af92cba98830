import { type Effect, Schema } from "effect"
import type { PerpsVenue } from "../domain/Perps.ts"
import type { Book } from "./bookWalk.ts"
import type { Funding } from "./fundingRates.ts"
import type { OpenFee } from "./jupiterCosts.ts"

/** The fees of a venue on the value of a trade, in millionths of a basis point; negative is a rebate. */
export interface Fees {
  readonly taker: bigint
  readonly maker: bigint
}

/** The order sizes that a venue accepts; null where it has no such rule. In units of 10^-30. */
export interface Lots {
  /** Sizes are whole multiples of this many coins. */
  readonly step: bigint
  readonly least: bigint | null
  readonly most: bigint | null
  /** The least value of an order in dollars. */
  readonly leastValue: bigint | null
}

/** One market of one venue, at one moment. */
export interface VenueMarket extends Book {
  /** The time of the book at the venue, in milliseconds since the Unix epoch. */
  readonly asOfMs: number
  readonly lots: Lots
  readonly funding: Funding
  readonly fees: Fees
  /** The fee beyond the taker fee where a pool fills at one price and charges for the size; none for a book. */
  readonly openFee?: OpenFee
}

/** The venue answers, and has no such market or does not trade it now. */
export class NoMarket extends Schema.TaggedError<NoMarket>()("NoMarket", { symbol: Schema.String }) {}

/** The venue answers with a book that is too old to price from. */
export class StaleBook extends Schema.TaggedError<StaleBook>()("StaleBook", { asOfMs: Schema.Int }) {}

/**
 * The venue gave no usable answer. `late`: not in time. `down`: not at all, or an error of its own. `limited`: it
 * rejects the request rate. `malformed`: not in its documented form. `resting`: its circuit is open after repeated failures.
 */
export class VenueUnreadable extends Schema.TaggedError<VenueUnreadable>()("VenueUnreadable", {
  why: Schema.Literals(["late", "down", "limited", "malformed", "resting"]),
  detail: Schema.String
}) {}

/** The reason for a missing reading. */
export type VenueFault = NoMarket | StaleBook | VenueUnreadable

/** One exchange. */
export interface Venue {
  readonly key: PerpsVenue
  /** The fees of an account without volume, where the venue states them for all markets alike. */
  readonly fees: Fees | null
  /** Listed markets in a form that cannot be read, by the last listing or, where the venue is read by market, by all reads; null before the first. */
  readonly unreadable: () => number | null
  /** The oldest usable book. */
  readonly maxAgeMs: number
  /** Reads the market of a base by its name at the venue, in the units of the venue. The answer may be of any age; the caller sets the deadline. */
  readonly read: (symbol: string) => Effect.Effect<VenueMarket, NoMarket | VenueUnreadable>
}

import { type Duration, type Effect, Exit, Option, Schema } from "effect"
import type { PerpsVenue } from "../api/schemas/Perps.ts"
import type { Book } from "./bookWalk.ts"
import type { Ratio } from "./exact.ts"
import type { Funding } from "./fundingRates.ts"
import type { MarginTier } from "./margin.ts"
import type { VenueBudget } from "./VenueBudget.ts"
import type { OpenFee } from "./jupiterCosts.ts"

/** The fees of a venue on a trade's value, in millionths of a basis point. Negative is a rebate. */
export interface Fees {
  readonly taker: bigint
  readonly maker: bigint
}

/** The order sizes that a venue accepts, in units of 10^-30. Null where it has no such rule. */
export interface Lots {
  /** Sizes are multiples of this many coins. */
  readonly step: bigint
  readonly least: bigint | null
  readonly most: bigint | null
  /** The least value of an order in dollars. */
  readonly leastValue: bigint | null
}

export interface VenueMarket extends Book {
  /** When the book was current at the venue, in milliseconds since the Unix epoch. */
  readonly asOfMs: number
  readonly lots: Lots
  readonly funding: Funding
  readonly fees: Fees
  /** Coins of all open positions, longs or shorts; absent when the venue publishes none, null when it cannot be read. */
  readonly openInterest?: bigint | null
  /** Margin tiers, the first from zero on; absent or null when the venue does not publish them. */
  readonly margin?: ReadonlyArray<MarginTier> | null
  /** The fee beyond the taker fee of a pool that fills at one price and charges for the size; absent for a book. */
  readonly openFee?: OpenFee
}

/** The venue answers, but has no such market or does not trade it now. */
export class NoMarket extends Schema.TaggedError<NoMarket>()("NoMarket", { symbol: Schema.String }) {}

/** The venue answers, but its book is too old to price from. */
export class StaleBook extends Schema.TaggedError<StaleBook>()("StaleBook", { asOfMs: Schema.Int }) {}

/**
 * The venue gave no usable answer. `late`: not in time. `down`: no answer, or an error of the venue. `limited`: too
 * many requests. `malformed`: not in its documented form. `resting`: its circuit is open after repeated failures.
 * `paced`: nothing was sent, because the venue's limit of requests is used up.
 */
export class VenueUnreadable extends Schema.TaggedError<VenueUnreadable>()("VenueUnreadable", {
  why: Schema.Literals(["late", "down", "limited", "malformed", "resting", "paced"]),
  detail: Schema.String
}) {}

/** Why a reading is missing. */
export type VenueFault = NoMarket | StaleBook | VenueUnreadable

/** True for a read that found no such market. */
export const isAbsent = (exit: Exit.Exit<unknown, VenueFault>): boolean =>
  Option.exists(Exit.findErrorOption(exit), ({ _tag }) => _tag === "NoMarket")

/** A funding rate of the past. */
export interface PastRate {
  readonly atMs: number
  /** The share of a position that longs pay to shorts. */
  readonly rate: Ratio
  /** Hours that the rate covers; null where they are not known. */
  readonly rateHours: number | null
  /** What a unit of the venue has accrued since its beginning, in units of 10^-30; null where the venue does not say. */
  readonly index: bigint | null
}

/** Rates of a span of time, in any order. */
export interface PastRates {
  readonly rates: ReadonlyArray<PastRate>
  /** False when records in an unknown form are left out, or rates that the venue fails to send. */
  readonly isWhole: boolean
  /** Since when the span was not read any further back, and why. Older rates may be read later. Absent when all was read. */
  readonly unread?: { readonly beforeMs: number; readonly fault: NoMarket | VenueUnreadable }
  /** Since when the venue keeps rates of this market; absent when it keeps them all. */
  readonly keptFromMs?: number
  /** When the market was listed: it has no earlier rates. Absent where the venue does not say. */
  readonly listedFromMs?: number
  /** When the rates were read, where they were kept from an earlier read. */
  readonly readAtMs?: number
}

/** The funding that a venue publishes of the past. */
export interface FundingPast {
  /** `settlement`: rates as they were paid. `hourly`: the rate at each full hour, where funding accrues all the time. */
  readonly kind: "settlement" | "hourly"
  /** The span of a read. Spans begin at multiples of it, so that different requests share reads. */
  readonly spanMs: number
  /**
   * Rates from a time until before another, and the rates around them where the venue has them: a rate that is missing at
   * an end is noticed by its neighbours. Between the rates that it returns, it has all that the venue has.
   */
  readonly read: (
    symbol: string,
    fromMs: number,
    toMs: number,
    /** A read of many requests returns after this long with what it has. */
    patience?: Duration.Duration
  ) => Effect.Effect<PastRates, NoMarket | VenueUnreadable>
}

/** The markets that a venue lists. */
export interface ListedMarkets {
  /** The names of their bases, as `read` takes them. */
  readonly names: ReadonlyArray<string>
  /** How many markets are listed in an unknown form. */
  readonly unreadable: number
  readonly readAtMs: number
}

/** One exchange. */
export interface Venue {
  readonly key: PerpsVenue
  /** The fees of an account without volume, when the venue states them for all markets alike. */
  readonly fees: Fees | null
  /**
   * How many listed markets cannot be read, by the last listing. Where a venue is read market by market: by all reads
   * so far. Null before the first.
   */
  readonly unreadable: () => number | null
  /** A book older than this is not used. */
  readonly maxAgeMs: number
  /** The requests that may be sent to the venue; absent where its documents limit none. */
  readonly budget?: Pick<VenueBudget, "scarcity">
  /** Reads a market by its base's name, in the venue's units. The answer may be of any age. Has no deadline. */
  readonly read: (symbol: string) => Effect.Effect<VenueMarket, NoMarket | VenueUnreadable>
  /** The same with levels beyond the levels of `read`, for sizes that are larger. Absent when a venue has no more. */
  readonly readDeep?: (symbol: string) => Effect.Effect<VenueMarket, NoMarket | VenueUnreadable>
  /** The markets that are traded now. Has no deadline. */
  readonly markets: Effect.Effect<ListedMarkets, NoMarket | VenueUnreadable>
  /** Past funding; absent when the venue publishes none. */
  readonly past?: FundingPast
}

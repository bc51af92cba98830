/** A recorded venue: answers in the shape its documentation shows, shortened to one market, and what they mean. */
import type { Effect } from "effect"
import type { HttpClient } from "effect/http"
import type { PerpsVenue } from "../../src/domain/Perps.ts"
import type { Venue } from "../../src/perps/Venue.ts"

/** When every recorded book stood as it is. */
export const RECORDED_MS = Date.UTC(2026, 5, 1, 12)

/** The meaning of the answers of one venue. */
export interface Meaning {
  readonly bids: ReadonlyArray<readonly [price: string, size: string]>
  readonly asks: ReadonlyArray<readonly [price: string, size: string]>
  /** Funding of a year in percent points. */
  readonly fundingAprPct: number
  readonly fundingIntervalHours: number
  readonly takerBps: number
  readonly makerBps: number
  /** The smallest step of a size. */
  readonly step: string
}

/** One venue's recorded answers. */
export interface Recording {
  readonly key: PerpsVenue
  readonly make: Effect.Effect<Venue, never, HttpClient.HttpClient>
  /** By method and path; a POST by the `type` of its body too. */
  readonly answers: Readonly<Record<string, unknown>>
  /** Which of them carries the book, and the same book with a bid above its asks. */
  readonly book: string
  readonly crossed: unknown
  /** The statuses of a missing market, where the venue is read by symbol. */
  readonly absent: Readonly<Record<string, number>>
  readonly meaning: Meaning
}

/** The address of every recorded venue. */
export const BASE = "http://venue.test"

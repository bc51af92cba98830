/** A recorded venue: answers in their documented form, shortened to one market, and what they mean. */
import type { Effect } from "effect"
import type { HttpClient } from "effect/http"
import type { PerpsVenue } from "../../src/api/schemas/Perps.ts"
import type { Venue } from "../../src/perps/Venue.ts"

/** When every recorded book was taken. */
export const RECORDED_MS = Date.UTC(2026, 5, 1, 12)

/** What the answers of one venue mean. */
export interface Meaning {
  readonly bids: ReadonlyArray<readonly [price: string, size: string]>
  readonly asks: ReadonlyArray<readonly [price: string, size: string]>
  /** Yearly funding in percent points. */
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
  /** By method and path. A POST is also keyed by the `type` of its body. */
  readonly answers: Readonly<Record<string, unknown>>
  /** Which answer has the book, and the same book with a bid above its asks. */
  readonly book: string
  readonly crossed: unknown
  /** The statuses of a missing market, for venues that are read by symbol. */
  readonly absent: Readonly<Record<string, number>>
  readonly meaning: Meaning
}

/** The address of every recorded venue. */
export const BASE = "http://venue.test"

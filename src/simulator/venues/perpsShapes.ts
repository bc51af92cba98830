/** Requests and responses of simulated venues, and their number formats. */
import { fromAtomic } from "../../domain/decimal.ts"
import { type PerpsWorld, perps, type SimBook, type SimLevel, type SimPerp, type SimVenue } from "./perpsMarkets.ts"

/** A request to a venue: path below the venue's address, query parameters, and the body of a POST. */
export interface VenueRequest {
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly nowMs: number
  /** The book of a market, given the venue's state. */
  readonly book: (perp: SimPerp) => SimBook
  /** The share that longs pay to shorts over eight hours, in units of 10^-12. */
  readonly rate8h: PerpsWorld["rate8h"]
}

export interface VenueResponse {
  readonly status: number
  readonly json: unknown
}

export const ok = (json: unknown): VenueResponse => ({ status: 200, json })
export const refused = (status: number, json: unknown): VenueResponse => ({ status, json })

/** Decimal text of an integer in units of 10^-`digits`. */
export const signed = (value: bigint, digits: number): string =>
  value < 0n ? `-${fromAtomic(-value, digits)}` : fromAtomic(value, digits)

/** Price of a level in dollars. */
export const priceOf = ({ priceDigits }: SimPerp, { ticks }: SimLevel): string => fromAtomic(ticks, priceDigits)
/** Size of a level in coins. */
export const sizeOf = ({ sizeDigits }: SimPerp, { lots }: SimLevel): string => fromAtomic(lots, sizeDigits)

/** The markets of a venue. */
export const listedOn = (venue: SimVenue): ReadonlyArray<SimPerp> =>
  perps.filter(({ venues }) => venues.includes(venue))
/** Finds the market that the venue calls by its symbol and this suffix. */
export const find = (venue: SimVenue, name: string | null, suffix: string): SimPerp | undefined =>
  listedOn(venue).find(({ symbol }) => `${symbol}${suffix}` === name)

const HOUR_MS = 3_600_000

/** The full hours from a time to another, both included, oldest first. At most so many, and none in the future. */
export const hoursBetween = (fromMs: number, toMs: number, most: number, nowMs: number): ReadonlyArray<number> => {
  const first = Math.ceil(fromMs / HOUR_MS)
  const last = Math.floor(Math.min(toMs, nowMs) / HOUR_MS)
  return Array.from({ length: Math.max(0, Math.min(most, last - first + 1)) }, (_, hour) => (first + hour) * HOUR_MS)
}

/** A parameter as a number; NaN when it is missing. */
export const numberOf = (query: URLSearchParams, name: string): number => Number(query.get(name) ?? Number.NaN)

/** A rate for eight hours in units of 10^-12 as the text of an hour's, which has fifteen digits. */
export const hourly = (rate8h: bigint): string => signed(rate8h * 125n, 15)

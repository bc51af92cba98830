/** What simulated venues are asked and say, and how they spell numbers. */
import { fromAtomic } from "../../domain/decimal.ts"
import { type PerpsWorld, perps, type SimBook, type SimLevel, type SimPerp, type SimVenue } from "./perpsMarkets.ts"

/** What a venue is asked: the path below its address, the parameters, and the body of a POST. */
export interface Asked {
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
  readonly nowMs: number
  /** The book of a market, as the venue's health lets it be seen. */
  readonly book: (perp: SimPerp) => SimBook
  /** The share that longs pay shorts in eight hours, in units of 10^-12. */
  readonly rate8h: PerpsWorld["rate8h"]
}

/** A status and a body. */
export interface Said {
  readonly status: number
  readonly json: unknown
}

/** An answer. */
export const ok = (json: unknown): Said => ({ status: 200, json })
/** A refusal. */
export const refused = (status: number, json: unknown): Said => ({ status, json })

/** Decimal text of a whole number of 10^-digits. */
export const signed = (value: bigint, digits: number): string =>
  value < 0n ? `-${fromAtomic(-value, digits)}` : fromAtomic(value, digits)

/** Dollars of a level. */
export const priceOf = ({ priceDigits }: SimPerp, { ticks }: SimLevel): string => fromAtomic(ticks, priceDigits)
/** Coins of a level. */
export const sizeOf = ({ sizeDigits }: SimPerp, { lots }: SimLevel): string => fromAtomic(lots, sizeDigits)

/** The markets of a venue. */
export const listedOn = (venue: SimVenue): ReadonlyArray<SimPerp> =>
  perps.filter(({ venues }) => venues.includes(venue))
/** The market that a venue calls by its symbol and this ending. */
export const find = (venue: SimVenue, name: string | null, suffix: string): SimPerp | undefined =>
  listedOn(venue).find(({ symbol }) => `${symbol}${suffix}` === name)

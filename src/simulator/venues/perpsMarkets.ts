/**
 * Simulated perpetual futures: drifting prices, books around them, and funding. Seed and time determine everything.
 */
import { makeRandom } from "../chain/Random.ts"

/** Keys of the simulated venues. */
export const perpsVenues = ["hl", "velocity", "dydx", "paradex", "lighter", "aster", "jupiter"] as const
export type SimVenue = (typeof perpsVenues)[number]

/** One market. It is the same on every venue that lists it. */
export interface SimPerp {
  readonly symbol: string
  /** The market's number on venues that number markets. */
  readonly id: number
  /** Dollar price that the market drifts around. */
  readonly dollars: number
  readonly priceDigits: number
  readonly sizeDigits: number
  /** Typical size of a level of the book, in coins. */
  readonly typicalSize: number
  readonly venues: ReadonlyArray<SimVenue>
}

/** A level in whole ticks of 10^-priceDigits dollars and whole lots of 10^-sizeDigits coins. */
export interface SimLevel {
  readonly ticks: bigint
  readonly lots: bigint
}

/** Both sides of a book, best price first. */
export interface SimBook {
  readonly bids: ReadonlyArray<SimLevel>
  readonly asks: ReadonlyArray<SimLevel>
  readonly asOfMs: number
}

const everywhere = perpsVenues
/** The venues with an order book. Jupiter trades only the three tokens of its pool. */
const onBooks = ["hl", "velocity", "dydx", "paradex", "lighter", "aster"] as const
const notOnLighter = ["hl", "velocity", "dydx", "paradex", "aster"] as const

export const perps: ReadonlyArray<SimPerp> = [
  { symbol: "BTC", id: 1, dollars: 65_000, priceDigits: 1, sizeDigits: 4, typicalSize: 0.8, venues: everywhere },
  { symbol: "ETH", id: 2, dollars: 3200, priceDigits: 2, sizeDigits: 3, typicalSize: 12, venues: everywhere },
  { symbol: "SOL", id: 3, dollars: 160, priceDigits: 3, sizeDigits: 2, typicalSize: 150, venues: everywhere },
  { symbol: "DOGE", id: 4, dollars: 0.14, priceDigits: 6, sizeDigits: 0, typicalSize: 40_000, venues: onBooks },
  { symbol: "xyz:GOLD", id: 6, dollars: 4100, priceDigits: 1, sizeDigits: 4, typicalSize: 2, venues: ["hl"] },
  { symbol: "JTO", id: 5, dollars: 2.4, priceDigits: 5, sizeDigits: 1, typicalSize: 900, venues: notOnLighter }
]

/**
 * Depth and spread of each venue: half the spread and the distance between levels in basis points, and a factor for
 * sizes.
 */
const characters: Readonly<Record<SimVenue, { readonly half: number; readonly step: number; readonly depth: number }>> =
  {
    hl: { half: 0.4, step: 0.6, depth: 3 },
    velocity: { half: 1.2, step: 1.5, depth: 0.8 },
    dydx: { half: 0.8, step: 1, depth: 1 },
    paradex: { half: 0.5, step: 0.7, depth: 1.5 },
    lighter: { half: 0.3, step: 0.5, depth: 2 },
    aster: { half: 0.6, step: 0.8, depth: 1.2 },
    jupiter: { half: 0.1, step: 0.1, depth: 4 }
  }

const LEVELS = 60
const MINUTE_MS = 60_000

/** A number between -1 and 1 that changes slowly. The same seed and time give the same number. */
const wave = (seed: string, nowMs: number, periodMs: number): number => {
  const random = makeRandom(seed)
  const swing = (period: number) => Math.sin((2 * Math.PI * nowMs) / period + random.between(0, 2 * Math.PI))
  return (swing(periodMs) * 3 + swing(periodMs / 7.3) * 2 + swing(periodMs / 31)) / 6
}

/** Books and funding rates of one seed. */
export interface PerpsWorld {
  readonly book: (venue: SimVenue, perp: SimPerp, nowMs: number, levels?: number) => SimBook
  /** The share that longs pay to shorts over eight hours, in units of 10^-12. */
  readonly rate8h: (venue: SimVenue, perp: SimPerp, nowMs: number) => bigint
}

const wholeOf = (value: number): bigint => BigInt(Math.max(1, Math.round(value)))

export const makePerpsWorld = (seed: string): PerpsWorld => ({
  book: (venue, perp, nowMs, levels = LEVELS) => {
    const { depth, half, step } = characters[venue]
    const shared = wave(`${seed}${perp.symbol}`, nowMs, 90 * MINUTE_MS) * 0.02
    const own = wave(`${seed}${perp.symbol}${venue}`, nowMs, 5 * MINUTE_MS) * 0.0002
    const ticks = perp.dollars * 10 ** perp.priceDigits * (1 + shared + own)
    const random = makeRandom(`${seed}${perp.symbol}${venue}${Math.floor(nowMs / 1000)}`)
    const side = (direction: 1 | -1) => {
      let last = 0n
      return Array.from({ length: levels }, (_, i) => {
        const wanted = wholeOf(ticks * (1 + (direction * (half + i * step)) / 10_000))
        // Even with coarse ticks, no two levels have the same price and no bid meets an ask.
        const beyond = last + BigInt(direction)
        const isBeyond = last === 0n || (direction === 1 ? wanted > last : wanted < last)
        last = isBeyond ? wanted : beyond
        const size = perp.typicalSize * depth * (1 + i / 8) * random.between(0.3, 1.7)
        return { ticks: last, lots: wholeOf(size * 10 ** perp.sizeDigits) }
      })
    }
    return { bids: side(-1), asks: side(1), asOfMs: nowMs }
  },
  rate8h: (venue, perp, nowMs) => {
    const swing = wave(`${seed}${perp.symbol}${venue}funding`, nowMs, 240 * MINUTE_MS)
    return BigInt(Math.round((0.0001 + swing * 0.0003) * 1e12))
  }
})

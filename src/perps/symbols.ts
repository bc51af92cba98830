/** Names of markets at the venues. A venue may list a cheap coin by the thousand or the million. */
import type { PerpsVenue } from "../api/schemas/Perps.ts"
import type { Level } from "./bookWalk.ts"
import type { VenueMarket } from "./Venue.ts"

/** The name of a market's base at a venue. */
export interface VenueName {
  readonly name: string
  /** How many coins of the symbol one unit of the venue has. */
  readonly multiplier: bigint
}

const THOUSAND = 1000n
const MILLION = 1_000_000n

/** Symbols that a venue lists with a prefix, with the number of coins that the prefix stands for. */
const prefixed = (prefix: string, multiplier: bigint, ...symbols: ReadonlyArray<string>) =>
  symbols.map((symbol) => [symbol, { name: `${prefix}${symbol}`, multiplier }] as const)

/** Names and multipliers that differ from the symbol. Every other symbol has its own name at the venue. */
const names: Readonly<Record<PerpsVenue, ReadonlyMap<string, VenueName>>> = {
  hl: new Map(prefixed("k", THOUSAND, "BONK", "DOGS", "FLOKI", "LUNC", "NEIRO", "PEPE", "SHIB")),
  velocity: new Map([...prefixed("1M", MILLION, "BONK", "PEPE"), ...prefixed("1K", THOUSAND, "MEW", "WEN")]),
  dydx: new Map(),
  jupiter: new Map(),
  paradex: new Map(prefixed("k", THOUSAND, "BONK", "FLOKI", "PEPE", "SHIB")),
  lighter: new Map(prefixed("1000", THOUSAND, "BONK", "FLOKI", "PEPE", "SHIB", "TOSHI")),
  aster: new Map([
    ...prefixed("1000", THOUSAND, "BONK", "CAT", "FLOKI", "LUNC", "PEPE", "RATS", "SATS", "SHIB", "XEC"),
    ...prefixed("1000000", MILLION, "MOG"),
    ...prefixed("1M", MILLION, "BABYDOGE")
  ])
}

/** The name of a symbol at a venue. */
export const venueName = (venue: PerpsVenue, symbol: string): VenueName =>
  names[venue].get(symbol) ?? { name: symbol, multiplier: 1n }

/** The symbol that has this name at a venue, and how many of its coins one unit there has; null when no symbol has it. */
export const symbolAt = (venue: PerpsVenue, name: string) => {
  for (const [symbol, named] of names[venue]) {
    if (named.name === name) {
      return { symbol, multiplier: named.multiplier }
    }
  }
  return names[venue].has(name) ? null : { symbol: name, multiplier: 1n }
}

/** The name of the exchange that a builder runs on Hyperliquid, for a symbol such as `xyz:TSLA`; null for any other. */
export const builderOf = (symbol: string): string | null =>
  symbol.includes(":") ? symbol.slice(0, symbol.indexOf(":")) : null

/** False when the venue cannot have the symbol, because only Hyperliquid has markets of builders. */
export const mayList = (venue: PerpsVenue, symbol: string): boolean => venue === "hl" || builderOf(symbol) === null

/** Converts a market to single coins of the symbol. Null when a price has too many digits for that. */
export const inCoins = (market: VenueMarket, multiplier: bigint): VenueMarket | null => {
  if (multiplier === 1n) {
    return market
  }
  const { asks, bids, lots, openInterest } = market
  if ([...asks, ...bids].some(({ price }) => price % multiplier !== 0n)) {
    return null
  }
  const level = ({ price, size }: Level) => ({ price: price / multiplier, size: size * multiplier })
  return {
    ...market,
    bids: bids.map(level),
    asks: asks.map(level),
    ...(openInterest != null && { openInterest: openInterest * multiplier }),
    lots: {
      step: lots.step * multiplier,
      least: lots.least === null ? null : lots.least * multiplier,
      most: lots.most === null ? null : lots.most * multiplier,
      leastValue: lots.leastValue
    }
  }
}

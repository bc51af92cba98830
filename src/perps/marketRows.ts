/** The markets of several venues side by side, by symbol. Pure. */
import { isPerpsSymbol, type PerpsVenue } from "../api/schemas/Perps.ts"
import type { MarketsReading } from "./MarketReads.ts"
import { builderOf, symbolAt } from "./symbols.ts"

/** A symbol, and the venues that list it in the order of the readings. */
export interface MarketRow {
  readonly symbol: string
  /** The name of the exchange that a builder runs on Hyperliquid; null for any other market. */
  readonly builder: string | null
  readonly venues: ReadonlyArray<{
    readonly venue: PerpsVenue
    readonly venueSymbol: string
    readonly coinsPerUnit: number
  }>
}

/** The symbol of a venue's market, and how many coins its unit has; null when no symbol names it. */
const symbolOf = (venue: PerpsVenue, name: string) => {
  const found = symbolAt(venue, name)
  return found !== null && isPerpsSymbol(found.symbol) ? found : null
}

/** How many listed markets no symbol names. */
export const namelessOf = ({ listed, venue }: MarketsReading): number | null =>
  listed && listed.names.filter((name) => symbolOf(venue, name) === null).length

/** Every symbol that a venue lists, in the order of their code units. */
export const marketRows = (readings: ReadonlyArray<MarketsReading>): ReadonlyArray<MarketRow> => {
  const rows = new Map<string, Array<MarketRow["venues"][number]>>()
  for (const { listed, venue } of readings) {
    for (const name of new Set(listed?.names)) {
      const found = symbolOf(venue, name)
      if (found !== null) {
        const venues = rows.get(found.symbol) ?? []
        rows.set(found.symbol, venues)
        venues.push({ venue, venueSymbol: name, coinsPerUnit: Number(found.multiplier) })
      }
    }
  }
  return Array.from(rows, ([symbol, venues]) => ({ symbol, builder: builderOf(symbol), venues })).toSorted((a, b) =>
    a.symbol < b.symbol ? -1 : 1
  )
}

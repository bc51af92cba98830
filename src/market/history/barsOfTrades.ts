/** Candles made from trades. */
import type { Address, Mint } from "../../domain/Address.ts"
import { addToBar, BAR, beginBar, TRADERS } from "../model/bar.ts"
import { orderKey, TradeRecord } from "../model/TradeRecord.ts"
import { bucketStart, countsTraders, type Resolution } from "../model/resolutions.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { StoredBars, StoredBarsRequest } from "../model/StoredBars.ts"

export const secondOf = ({ timeMs }: TapeTrade): number => Math.floor(timeMs / 1000)

const tradersOf = (resolution: Resolution, trades: ReadonlyArray<TapeTrade>): number =>
  countsTraders(resolution) ? new Set(trades.map(({ wallet }) => wallet)).size : Number.NaN

const fill = (cells: Float64Array, at: number, start: number, trades: ReadonlyArray<TapeTrade>): void => {
  const record = new TradeRecord()
  beginBar(cells, at, start)
  for (const trade of trades) {
    record.read(trade)
    addToBar(cells, at, record)
  }
}

interface Selected {
  readonly mint: Mint
  readonly pool: Address | undefined
  readonly before: number
}

/** The trades in pools that make candles, in the order of the chain. */
export const inPools = (trades: Iterable<TapeTrade>, { before, mint, pool }: Selected): ReadonlyArray<TapeTrade> =>
  Array.from(trades)
    .filter((trade) => trade.mint === mint && trade.role !== "wallet" && secondOf(trade) < before)
    .filter((trade) => pool === undefined || trade.pool === pool)
    .toSorted((a, b) => orderKey(a.slot, a.index) - orderKey(b.slot, b.index))

/** The buckets of a request, made from any trades in any order. */
export const barsOfTrades = (
  trades: Iterable<TapeTrade>,
  { before, from, limit, mint, pool, resolution }: StoredBarsRequest
): StoredBars => {
  const wanted = inPools(trades, { before, mint, pool })
  const buckets = Array.from(Map.groupBy(wanted, (trade) => bucketStart(resolution, secondOf(trade))))
    .filter(([start]) => from === null || start >= from)
    .toSorted(([a], [b]) => b - a)
  const cells = new Float64Array(Math.min(limit, buckets.length) * BAR)
  for (const [place, [start, each]] of buckets.slice(0, limit).entries()) {
    fill(cells, place * BAR, start, each)
    cells[place * BAR + TRADERS] = tradersOf(resolution, each)
  }
  return { cells, isCut: buckets.length > limit }
}

/** Candles computed from trades, for stores that do not keep candles. */
import { addToBar, BAR, beginBar, TRADERS } from "../candles/bar.ts"
import { orderKey, TradeRecord } from "../tape/TradeRecord.ts"
import { bucketStart, countsTraders, type Resolution } from "../candles/resolutions.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"
import type { StoredBars, StoredBarsRequest } from "./StoredBars.ts"

const secondOf = ({ timeMs }: TapeTrade): number => Math.floor(timeMs / 1000)

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

/** The buckets that a request asks for, from any trades in any order. */
export const barsOfTrades = (
  trades: Iterable<TapeTrade>,
  { before, from, limit, mint, pool, resolution }: StoredBarsRequest
): StoredBars => {
  const wanted = Array.from(trades)
    .filter((trade) => trade.mint === mint && trade.role !== "wallet" && secondOf(trade) < before)
    .filter((trade) => pool === undefined || trade.pool === pool)
    .toSorted((a, b) => orderKey(a.slot, a.index) - orderKey(b.slot, b.index))
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

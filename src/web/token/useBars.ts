/** Live candles of one token. The first read returns all bars, later reads start at the newest bar. */
import { useRef } from "preact/hooks"
import { call } from "../data/request.ts"
import { type Read, useReading } from "../data/useRead.ts"
import { type Bar, type ChartAnswer, type ChartChoice, mergedBars, MOST_BARS } from "./bars.ts"

/** All bars read so far, with the metadata of the last answer. */
export interface Bars {
  readonly token: ChartAnswer["data"]["token"]
  readonly bars: ReadonlyArray<Bar>
  readonly meta: ChartAnswer["meta"]
}

/** Milliseconds between two reads of the open bar. */
export const BARS_EVERY_MS = 3000
const FIRST = 500

/** Reads a chart and keeps its open bar current. */
export const useBars = (choice: ChartChoice): Read<Bars> => {
  const key = JSON.stringify(choice)
  const kept = useRef<{ readonly key: string; readonly bars: ReadonlyArray<Bar> }>({ key, bars: [] })
  const { mint, ...selectors } = choice
  const read = async (signal: AbortSignal): Promise<Bars> => {
    const before = kept.current.key === key ? kept.current.bars : []
    const last = before.at(-1)
    const span = last === undefined ? { limit: FIRST } : { from: Math.floor(last.t / 1000), limit: MOST_BARS }
    const { data, meta } = await call("GET /api/v1/market/chart/:token", {
      path: { token: mint },
      query: { ...selectors, ...span },
      signal
    })
    const bars = mergedBars(before, data.bars)
    kept.current = { key, bars }
    return { token: data.token, bars, meta }
  }
  return useReading(key, read, BARS_EVERY_MS)
}

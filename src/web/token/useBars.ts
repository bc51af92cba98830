/** Candles of one token that move: read whole once, then from the newest bar on. */
import { useRef } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { type Read, useReading } from "../data/useRead.ts"

type ChartAnswer = Answer<"GET /api/v1/market/chart/:token">
type ChartData = ChartAnswer["data"]

/** One candle as the API gives it. */
export type Bar = ChartData["bars"][number]

/** Selectors of a chart. */
export interface ChartChoice {
  readonly mint: string
  readonly resolution: ChartData["resolution"]
  readonly denom: ChartData["denom"]
  readonly mode: ChartData["mode"]
}

/** All bars read so far, with the knowledge of the last answer. */
export interface Bars {
  readonly token: ChartData["token"]
  readonly bars: ReadonlyArray<Bar>
  readonly meta: ChartAnswer["meta"]
}

/** Milliseconds between two reads of the open bar. */
export const BARS_EVERY_MS = 3000
const FIRST = 500
const MOST = 1500

/** Bars with newer readings in the place of older ones of the same start, oldest first, the newest `MOST`. */
export const mergedBars = (before: ReadonlyArray<Bar>, after: ReadonlyArray<Bar>): ReadonlyArray<Bar> => {
  const from = after[0]?.t ?? Number.POSITIVE_INFINITY
  return [...before.filter(({ t }) => t < from), ...after].slice(-MOST)
}

/** Reads a chart and keeps its open bar current. */
export const useBars = (choice: ChartChoice): Read<Bars> => {
  const key = JSON.stringify(choice)
  const kept = useRef<{ readonly key: string; readonly bars: ReadonlyArray<Bar> }>({ key, bars: [] })
  const { mint, ...selectors } = choice
  const read = async (signal: AbortSignal): Promise<Bars> => {
    const before = kept.current.key === key ? kept.current.bars : []
    const last = before.at(-1)
    const span = last === undefined ? { limit: FIRST } : { from: Math.floor(last.t / 1000), limit: MOST }
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

/** Candles as the API gives them. */
import type { Answer } from "../data/contract.ts"

/** The answer of a chart. */
export type ChartAnswer = Answer<"GET /api/v1/market/chart/:token">
type ChartData = ChartAnswer["data"]

/** One candle as the API gives it. */
export type Bar = ChartData["bars"][number]

/** Selectors of a chart. */
export interface ChartChoice {
  readonly mint: string
  readonly resolution: ChartData["resolution"]
  readonly denom: ChartData["denom"]
  readonly mode: ChartData["mode"]
  /** Address of the only pool; empty for every pool. */
  readonly pool: string
}

/** The most bars that are kept, and that one read gives. */
export const MOST_BARS = 1500

/** Bars with newer readings in the place of older ones of the same start, oldest first, the newest `MOST_BARS`. */
export const mergedBars = (before: ReadonlyArray<Bar>, after: ReadonlyArray<Bar>): ReadonlyArray<Bar> => {
  const from = after[0]?.t ?? Number.POSITIVE_INFINITY
  return [...before.filter(({ t }) => t < from), ...after].slice(-MOST_BARS)
}

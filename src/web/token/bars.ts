import type { Answer } from "../data/contract.ts"

export type ChartAnswer = Answer<"GET /api/v1/market/chart/:token">
type ChartData = ChartAnswer["data"]

export type Bar = ChartData["bars"][number]

/** What a chart shows. */
export interface ChartChoice {
  readonly mint: string
  readonly resolution: ChartData["resolution"]
  readonly denom: ChartData["denom"]
  readonly mode: ChartData["mode"]
  /** Address of the only pool; empty for all pools. */
  readonly pool: string
}

/** Most bars kept, and most bars that one read returns. */
export const MOST_BARS = 1500

/** Joins bars, oldest first. Newer bars replace older ones with the same start; the newest `MOST_BARS` stay. */
export const mergedBars = (before: ReadonlyArray<Bar>, after: ReadonlyArray<Bar>): ReadonlyArray<Bar> => {
  const from = after[0]?.t ?? Number.POSITIVE_INFINITY
  return [...before.filter(({ t }) => t < from), ...after].slice(-MOST_BARS)
}

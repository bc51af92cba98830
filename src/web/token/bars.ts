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

/** Bars with one that changed or began. A late frame of an earlier bar replaces that bar. */
export const withBar = (bars: ReadonlyArray<Bar>, bar: Bar): ReadonlyArray<Bar> => {
  const at = bars.findLastIndex(({ t }) => t <= bar.t)
  const kept = bars[at]?.t === bar.t ? at : at + 1
  return [...bars.slice(0, kept), bar, ...bars.slice(at + 1)].slice(-MOST_BARS)
}

/** A bar of the drawing. One without trades has the previous close, and is marked. */
export type DrawnBar = Bar & { readonly isEmpty: boolean }

/**
 * Continuous bars, oldest first: each stretch without trades is filled with the previous close, before `untilMs`. A
 * stretch beside a bar that lacks blocks stays open, because it may have had trades. Only the newest `MOST_BARS` are
 * returned.
 */
export const continuous = (bars: ReadonlyArray<Bar>, stepMs: number, untilMs: number): ReadonlyArray<DrawnBar> => {
  const drawn: Array<DrawnBar> = []
  bars.forEach((bar, at) => {
    drawn.push({ ...bar, isEmpty: false })
    const next = bars[at + 1]
    const isKnown = bar.isWhole !== false && next?.isWhole !== false
    const end = isKnown ? (next?.t ?? untilMs) : bar.t
    // Bars further back than are shown are not made.
    for (let t = Math.max(bar.t + stepMs, end - MOST_BARS * stepMs); t < end; t += stepMs) {
      drawn.push({ ...bar, t, o: bar.c, h: bar.c, l: bar.c, v: 0, n: 0, isEmpty: true })
    }
  })
  return drawn.slice(-MOST_BARS)
}

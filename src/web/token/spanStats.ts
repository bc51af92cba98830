/** Figures of trailing windows, summed up from candles of five minutes. */
import type { Bar } from "./bars.ts"

/** One window. Sums are null where the bars do not reach back to its start. */
export interface SpanStats {
  readonly name: string
  readonly volume: number | null
  readonly trades: number | null
  /** Percent of the price before the window; null without one. */
  readonly changePct: number | null
}

const MINUTE = 60_000

/** Width of the bars that windows are made of. */
export const BAR_MS = 5 * MINUTE

const spans = [
  ["5 min", 5 * MINUTE],
  ["1 h", 60 * MINUTE],
  ["6 h", 360 * MINUTE],
  ["24 h", 1440 * MINUTE]
] as const

/**
 * Windows that end with the bucket of `nowMs`, from bars oldest first. `coveredFromMs` is the start of what is known; bars
 * before a window give the price that it began with.
 */
export const spanStats = (
  bars: ReadonlyArray<Bar>,
  nowMs: number,
  coveredFromMs: number | null
): ReadonlyArray<SpanStats> => {
  const end = (Math.floor(nowMs / BAR_MS) + 1) * BAR_MS
  return spans.map(([name, width]) => {
    const from = end - width
    const inside = bars.filter(({ t }) => t >= from)
    const before = bars.findLast(({ t }) => t < from)
    const isCovered = before !== undefined || (coveredFromMs !== null && coveredFromMs <= from)
    const last = (inside.at(-1) ?? before)?.c ?? null
    const first = before?.c ?? null
    return {
      name,
      volume: isCovered ? inside.reduce((sum, { v }) => sum + v, 0) : null,
      trades:
        isCovered && inside.every(({ n }) => n !== null) ? inside.reduce((sum, { n }) => sum + (n ?? 0), 0) : null,
      changePct: first === null || last === null || first === 0 ? null : (100 * (last - first)) / first
    }
  })
}

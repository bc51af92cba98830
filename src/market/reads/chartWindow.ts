/** The buckets of a chart, and what is known about them, for every source of bars. Times are Unix seconds. */
import type { ChartBar, ChartKnowledge, ChartRequest, ChartSupply, Lacking } from "../../api/schemas/Chart.ts"
import type { Status } from "../../domain/Scalar.ts"
import { bucketStart, type Resolution, widthOf } from "../model/resolutions.ts"

/** The second at which the bucket after the one that contains `second` begins. */
export const nextBucket = (resolution: Resolution, second: number): number => {
  const start = bucketStart(resolution, second)
  // Thirty-five days after the first of a month always lie in the next month.
  return bucketStart(resolution, start + widthOf[resolution] + (resolution === "1mn" ? 5 * 86_400 : 0))
}

/** A window of whole buckets. Null has no bound. */
export interface ChartWindow {
  readonly resolution: Resolution
  readonly from: number | null
  readonly to: number | null
  readonly limit: number
}

/** The window of a request, with its beginning floored and its end ceiled to a bucket. */
export const chartWindow = ({ from, limit, resolution, to }: ChartRequest): ChartWindow => ({
  resolution,
  from: from === null ? null : bucketStart(resolution, from),
  to: to === null ? null : to === bucketStart(resolution, to) ? to : nextBucket(resolution, to),
  limit
})

/** The result of reading a window. */
export interface ChartFindings {
  readonly bars: ReadonlyArray<Pick<ChartBar, "t">>
  /** The end of the previous page; null when there is none. */
  readonly prevTo: number | null
  /** True when the window contains older bars than this page. */
  readonly truncated: boolean
  /** From this second on the source is complete; null when unknown. */
  readonly sourceFrom: number | null
  readonly missingBars: number | null
  readonly lacking: Lacking
  readonly status: Status
  /** Slot of the newest block that the bars are made of; null without blocks. */
  readonly slot: number | null
  readonly observedAtMs: number | null
  readonly supply: ChartSupply | null
  readonly nowMs: number
}

const toMs = (second: number | null): number | null => (second === null ? null : second * 1000)

/**
 * The start of complete bars: the first bar of a page that was cut, or else the start of the window or of the source.
 */
const coveredFrom = (window: ChartWindow, { bars, prevTo, sourceFrom }: ChartFindings): number | null => {
  if (prevTo !== null) {
    return prevTo
  }
  if (window.from !== null && sourceFrom !== null) {
    return Math.max(window.from, sourceFrom)
  }
  const first = bars[0]?.t ?? null
  return window.from ?? sourceFrom ?? (first === null ? null : first / 1000)
}

/** The end of complete bars: the end of the last bar, or else of the window, but not later than the current bucket. */
const coveredTo = (window: ChartWindow, lastEndMs: number | null, nowMs: number): number | null => {
  const end = window.to === null ? null : Math.min(window.to, nextBucket(window.resolution, Math.floor(nowMs / 1000)))
  return lastEndMs ?? toMs(end)
}

/** What the answer of a chart says besides its bars. */
export const chartKnowledge = (window: ChartWindow, found: ChartFindings): ChartKnowledge => {
  const { bars, lacking, missingBars, nowMs, observedAtMs, prevTo, slot, status, supply, truncated } = found
  const last = bars.at(-1)
  const lastEndMs = last === undefined ? null : nextBucket(window.resolution, last.t / 1000) * 1000
  const fromMs = toMs(coveredFrom(window, found))
  const untilMs = coveredTo(window, lastEndMs, nowMs)
  // A bar is final once its source was read past its end. The clock alone may be ahead of the blocks.
  const readUntilMs = Math.min(nowMs, observedAtMs ?? nowMs)
  const isCovered = status !== "unavailable" && (fromMs === null || untilMs === null || fromMs < untilMs)
  return {
    slot,
    observedAtMs,
    status,
    coverage: {
      complete: lacking === null,
      reason: lacking,
      requestedFromMs: toMs(window.from),
      requestedToMs: toMs(window.to),
      coveredFromMs: isCovered ? fromMs : null,
      coveredToMs: isCovered ? untilMs : null,
      missingBars
    },
    truncated,
    prevTo,
    openBarMs: last !== undefined && lastEndMs !== null && lastEndMs > readUntilMs ? last.t : null,
    supply
  }
}

/** Divides the candles of a request into stored candles and trades. */
import { floorTo, levelOf, levels } from "../model/resolutions.ts"
import type { StoredBarsRequest } from "../model/StoredBars.ts"

/** The seconds up to which the candles of a minute, an hour and a day are closed. */
export interface ClosedTo {
  readonly minutes: number
  readonly hours: number
  readonly days: number
}

const [, MINUTE = 60, HOUR = 3600, DAY = 86_400] = levels

/** The closed times when every candle from this second on is open. */
export const closedBefore = (second: number): ClosedTo => ({
  minutes: floorTo(second, MINUTE),
  hours: floorTo(second, HOUR),
  days: floorTo(second, DAY)
})

/** The candles that can be closed once no trade from before this second can come. */
export const closedAfter = (known: ClosedTo, second: number): ClosedTo => {
  const minutes = Math.max(known.minutes, floorTo(second, MINUTE))
  const hours = Math.max(known.hours, floorTo(minutes, HOUR))
  return { minutes, hours, days: Math.max(known.days, floorTo(hours, DAY)) }
}

/** Closed candles of a width within `[from, to)`, in seconds. */
export interface BarSpan {
  readonly width: number
  readonly from: number
  readonly to: number
}

/**
 * Divides a request into the widest closed candles that fit, finer candles where the wide ones do not reach, and trades
 * from `tradesFrom` on; null when no trades are needed. The candles of a pool are made of trades alone.
 */
export const barSpans = (
  closed: ClosedTo,
  { before, from, pool, resolution }: StoredBarsRequest
): { readonly spans: ReadonlyArray<BarSpan>; readonly tradesFrom: number | null } => {
  if (pool !== undefined) {
    return { spans: [], tradesFrom: from ?? 0 }
  }
  const level = levelOf(resolution)
  const steps = [
    { width: DAY, to: closed.days },
    { width: HOUR, to: closed.hours },
    { width: MINUTE, to: closed.minutes }
  ].filter(({ width }) => width <= (levels[level] ?? 0))
  const spans: Array<BarSpan> = []
  let start = from ?? 0
  for (const { to, width } of steps) {
    // The request may begin or end inside a bucket of this width.
    const begin = Math.ceil(start / width) * width
    const end = Math.min(to, floorTo(before, width))
    if (begin === start && begin < end) {
      spans.push({ width, from: start, to: end })
      start = end
    }
  }
  return { spans, tradesFrom: start < before ? start : null }
}

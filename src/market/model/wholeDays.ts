import { missingSeconds } from "./Gaps.ts"
import type { TradeProgress } from "./TradeProgress.ts"

const DAY = 86_400

/** A UTC day of a chain. */
export interface StoredDay {
  /** `2026-11-28`. */
  readonly day: string
  /** The seconds of the day in which a block may be missing; 0 for a whole day. */
  readonly missingSeconds: number
}

/** The UTC days of a range, with what is missing of each. Seconds since the Unix epoch; the end is not included. */
export const storedDays = (
  { gaps, readFrom, timeMs }: Pick<TradeProgress, "gaps" | "readFrom" | "timeMs">,
  from: number,
  to: number
): ReadonlyArray<StoredDay> => {
  const days: Array<StoredDay> = []
  // Later blocks may still come in the second of the newest one.
  const readTo = Math.floor(timeMs / 1000)
  for (let start = Math.floor(from / DAY) * DAY; start < to; start += DAY) {
    const [first, last] = [Math.max(start, readFrom), Math.min(start + DAY, readTo) - 1]
    const seen = first > last ? 0 : last - first + 1 - missingSeconds(gaps, first, last)
    days.push({ day: new Date(start * 1000).toISOString().slice(0, 10), missingSeconds: DAY - seen })
  }
  return days
}

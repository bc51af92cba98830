/** Every chart resolution, the stored bars it is folded from, and where its buckets begin. All in UTC, in whole seconds. */

/** A chart resolution as the wire names it; `1mn` is a month. */
export type Resolution =
  | "1s"
  | "5s"
  | "15s"
  | "30s"
  | "1m"
  | "3m"
  | "5m"
  | "15m"
  | "30m"
  | "1h"
  | "2h"
  | "4h"
  | "6h"
  | "8h"
  | "12h"
  | "1d"
  | "1w"
  | "1mn"

const DAY = 86_400

/** Nominal width of every resolution in seconds; a month counts as 30 days. */
export const widthOf: Readonly<Record<Resolution, number>> = {
  "1s": 1,
  "5s": 5,
  "15s": 15,
  "30s": 30,
  "1m": 60,
  "3m": 180,
  "5m": 300,
  "15m": 900,
  "30m": 1800,
  "1h": 3600,
  "2h": 7200,
  "4h": 14_400,
  "6h": 21_600,
  "8h": 28_800,
  "12h": 43_200,
  "1d": DAY,
  "1w": 7 * DAY,
  "1mn": 30 * DAY
}

/** Widths of the bars that are kept, in seconds; every other resolution is folded from the widest that divides it. */
export const levels: ReadonlyArray<number> = [1, 60, 3600, DAY]

/** The stored widths of which bars know their distinct wallets: those of wider bars cannot be added up from finer ones. */
export const COUNTED_LEVELS = 2

/** True when bars of a resolution know their distinct wallets. */
export const countsTraders = (resolution: Resolution): boolean =>
  levels.indexOf(widthOf[resolution]) >= 0 && levels.indexOf(widthOf[resolution]) < COUNTED_LEVELS

/** Bars below a minute are kept this long, in seconds: seven days. */
export const FINE_RETENTION = 7 * DAY

/** The start of the bucket of this many seconds that holds `second`, counted from the epoch. Cheaper than a remainder. */
export const floorTo = (second: number, width: number): number => Math.floor(second / width) * width

/** The index in `levels` that a resolution is folded from. Weeks and months are made of days. */
export const levelOf = (resolution: Resolution): number =>
  levels.findLastIndex((width) => widthOf[resolution] % width === 0)

/** The first of January 1970 was a Thursday: weeks begin three days earlier. */
const MONDAY = 3

const monthStart = (second: number): number => {
  const date = new Date(second * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000
}

const weekStart = (second: number): number => {
  const day = Math.floor(second / DAY) + MONDAY
  return (day - (day % 7) - MONDAY) * DAY
}

/** The second at which the bucket that holds `second` begins. */
export const bucketStart = (resolution: Resolution, second: number): number => {
  if (resolution === "1mn") {
    return monthStart(second)
  }
  return resolution === "1w" ? weekStart(second) : floorTo(second, widthOf[resolution])
}

/**
 * Chart resolutions, the stored bars they are folded from, and where their buckets begin. All in UTC, in whole seconds.
 */

const DAY = 86_400

/** Nominal width of every resolution in seconds. A month counts as 30 days. */
export const widthOf = {
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
} as const

/** A chart resolution as the wire names it; `1mn` is a month. */
export type Resolution = keyof typeof widthOf

/**
 * Widths of the stored bars, in seconds. Every other resolution is folded from the widest stored bar that divides it.
 */
export const levels: ReadonlyArray<number> = [1, 60, 3600, DAY]

/**
 * The first so many stored widths know their distinct wallets. Wallets of wider bars cannot be added up from finer
 * bars.
 */
export const COUNTED_LEVELS = 2

/** True when the bars of a resolution know their distinct wallets. */
export const countsTraders = (resolution: Resolution): boolean =>
  levels.indexOf(widthOf[resolution]) >= 0 && levels.indexOf(widthOf[resolution]) < COUNTED_LEVELS

/** Bars below a minute are kept this long, in seconds: seven days. */
export const FINE_RETENTION = 7 * DAY

/**
 * The start of the bucket of `width` seconds that contains `second`, counted from the epoch. Cheaper than a remainder.
 */
export const floorTo = (second: number, width: number): number => Math.floor(second / width) * width

/** The index in `levels` of the bars that a resolution is folded from. Weeks and months are made of days. */
export const levelOf = (resolution: Resolution): number =>
  levels.findLastIndex((width) => widthOf[resolution] % width === 0)

/** The first of January 1970 was a Thursday, so weeks begin three days earlier. */
const MONDAY = 3

const monthStart = (second: number): number => {
  const date = new Date(second * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000
}

const weekStart = (second: number): number => {
  const day = Math.floor(second / DAY) + MONDAY
  return (day - (day % 7) - MONDAY) * DAY
}

/** The second at which the bucket that contains `second` begins. */
export const bucketStart = (resolution: Resolution, second: number): number => {
  if (resolution === "1mn") {
    return monthStart(second)
  }
  return resolution === "1w" ? weekStart(second) : floorTo(second, widthOf[resolution])
}

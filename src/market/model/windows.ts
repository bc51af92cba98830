/**
 * The rolling windows of the market reads. Sums are kept in buckets, and a window begins with a whole bucket: it holds
 * the buckets that begin less than its width before the next bucket, including the running one. With buckets of one
 * second it is exact.
 */

/** A rolling window as the wire names it. */
export type WindowName = "5m" | "1h" | "6h" | "24h"

/** The windows, shortest first. */
export const windowNames: ReadonlyArray<WindowName> = ["5m", "1h", "6h", "24h"]

/** Width of every window in seconds, in the order of `windowNames`. */
export const windowSeconds: ReadonlyArray<number> = [300, 3600, 21_600, 86_400]

/** Width in seconds of the buckets of each window of a token. */
export const bucketSeconds: ReadonlyArray<number> = [1, 60, 300, 600]

/** The number of buckets in each window of a token. */
export const bucketsOf: ReadonlyArray<number> = windowSeconds.map(
  (width, window) => width / (bucketSeconds[window] ?? 1)
)

/** The first bucket, counted from the epoch, of a window that ends with the second `now`. */
export const firstBucket = (width: number, step: number, now: number): number =>
  Math.floor(now / step) + 1 - width / step

/** The first second of a token's window that ends with the second `now`. It is the first second of a bucket. */
export const windowFrom = (window: number, now: number): number => {
  const step = bucketSeconds[window] ?? 1
  return firstBucket(windowSeconds[window] ?? 0, step, now) * step
}

/** The index of each window in `windowNames`. */
export const windowIndex: Readonly<Record<WindowName, number>> = { "5m": 0, "1h": 1, "6h": 2, "24h": 3 }

/** The width of a window in seconds. */
export const secondsOf = (name: WindowName): number => windowSeconds[windowIndex[name]] ?? 0

/** A value for each window. */
export const eachWindow = <A>(of: (window: WindowName) => A) => ({
  "5m": of("5m"),
  "1h": of("1h"),
  "6h": of("6h"),
  "24h": of("24h")
})

export const WINDOWS = 4

/** Blocks of a node arrive at most this many seconds after newer blocks, so older bars are final. */
export const LATE_SECONDS = 120

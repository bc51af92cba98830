/** The rolling windows of the market reads. A window at second `now` holds the seconds from `now - width + 1` to `now`. */

/** A rolling window as the wire names it. */
export type WindowName = "5m" | "1h" | "6h" | "24h"

/** The windows from the shortest to the longest. */
export const windowNames: ReadonlyArray<WindowName> = ["5m", "1h", "6h", "24h"]

/** Width of every window in seconds, in the order of `windowNames`. */
export const windowSeconds: ReadonlyArray<number> = [300, 3600, 21_600, 86_400]

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

/** The number of windows. */
export const WINDOWS = 4

/** Trades are applied up to this many seconds after newer ones; later ones need a correction. */
export const LATE_SECONDS = 120

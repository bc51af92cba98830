/** Length of a window of the market. */
export type Span = "5m" | "1h" | "6h" | "24h"

/** Every window with the text of its button. */
export const spans: ReadonlyArray<readonly [Span, string]> = [
  ["5m", "5 min"],
  ["1h", "1 h"],
  ["6h", "6 h"],
  ["24h", "24 h"]
]

/** Milliseconds between two reads of one part of the market page. */
export const EVERY_MS = 10_000

/** Milliseconds between two reads of a part that a socket keeps current. */
export const LIVE_MS = 60_000

/** Milliseconds between two reads of the changes in windows that are not the chosen one. */
export const OTHERS_MS = 30_000

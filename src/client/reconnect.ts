/** What a closed tracker socket means for its listener. */
import type { FathomError } from "./FathomError.ts"

/** Connect again at once, or after a pause; stop because nothing would come of it; or end, because all is said. */
export type Next = "at-once" | "after-a-pause" | "stop" | "end"

const AT_ONCE = new Set([1001, 1012, 4401])
/** Misuse, too big a message, a key that may no longer, and another socket in our place. */
const STOP = new Set([1008, 1009, 4403, 4409])

/** What to do after a socket was closed with this code. */
export const afterClose = (code: number): Next => {
  if (code === 1000) {
    return "end"
  }
  if (AT_ONCE.has(code)) {
    return "at-once"
  }
  return STOP.has(code) ? "stop" : "after-a-pause"
}

const PASSING = new Set([429, 502, 503, 504])

/** Whether asking for a session again may go better. */
export const isPassing = ({ code, status }: FathomError): boolean =>
  code === "connection_lost" || (status !== null && PASSING.has(status))

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

/** How long to pause after so many failures in a row: full jitter under a doubling ceiling. `dice` is at least 0 and below 1. */
export const pauseMs = (failures: number, dice: number): number =>
  dice * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)

/** Reconnection of the tracker socket by close code. */
import type { FathomError } from "./FathomError.ts"
import { TRANSIENT } from "./transient.ts"

/** Reaction to a close: reconnect at once or after a pause, fail, or end because the stream is complete. */
export type AfterClose = "at-once" | "after-a-pause" | "stop" | "end"

const AT_ONCE = new Set([1001, 1012, 4401])
/** Misuse, too large a message, a key without access, and a replacement by another socket. */
const STOP = new Set([1008, 1009, 4403, 4409])

/** The reaction to a close code. */
export const afterClose = (code: number): AfterClose => {
  if (code === 1000) {
    return "end"
  }
  if (AT_ONCE.has(code)) {
    return "at-once"
  }
  return STOP.has(code) ? "stop" : "after-a-pause"
}

/** True when another request for a session may succeed. */
export const isTransient = ({ code, status }: FathomError): boolean =>
  code === "connection_lost" || (status !== null && TRANSIENT.has(status))

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

/** Pause in milliseconds after consecutive failures: full jitter under a doubling ceiling. `jitter` is in [0, 1). */
export const pauseMs = (failures: number, jitter: number): number =>
  jitter * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)

/** When a client tries again, and after which pause. The pages use it too, so it imports nothing. */

/** Statuses after which the same request may succeed. */
export const TRANSIENT: ReadonlySet<number> = new Set([429, 502, 503, 504])

/**
 * A connection without a frame or heartbeat for this long counts as dead: two and a half heartbeats of twenty seconds.
 */
export const SILENCE_MS = 50_000

/** What to do after a close: reconnect at once or after a pause, fail, or end because the stream is complete. */
export type AfterClose = "at-once" | "after-a-pause" | "stop" | "end"

const AT_ONCE = new Set([1001, 1012, 4401])
/** Codes for misuse, a message that is too large, a key without access, and replacement by another socket. */
const STOP = new Set([1008, 1009, 4403, 4409])

/** What to do after a close with this code. */
export const afterClose = (code: number): AfterClose => {
  if (code === 1000) {
    return "end"
  }
  if (AT_ONCE.has(code)) {
    return "at-once"
  }
  return STOP.has(code) ? "stop" : "after-a-pause"
}

/** True when the same request may succeed after this failure. */
export const isTransient = ({ code, status }: { readonly code: string; readonly status: number | null }): boolean =>
  code === "connection_lost" || (status !== null && TRANSIENT.has(status))

/** True when the service refused the request for good: a 4xx other than a timeout (408) and a spent budget (429). */
export const isRefusal = ({ status }: { readonly status: number }): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429

/**
 * Milliseconds from a failure to the next attempt: a random part (`jitter` in [0, 1)) of a ceiling. The ceiling is
 * `firstMs` at first, doubles with each earlier failure, and never exceeds `longestMs`.
 */
export const backoffMs = (failuresBefore: number, jitter: number, firstMs: number, longestMs: number): number =>
  jitter * Math.min(longestMs, firstMs * 2 ** failuresBefore)

/** Milliseconds to wait before the next connection: up to half a second at first, up to half a minute later. */
export const pauseMs = (failures: number, jitter: number): number => backoffMs(failures, jitter, 500, 30_000)

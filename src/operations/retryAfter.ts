import { Duration, Result } from "effect"
import { Headers } from "effect/http"

/** Longest `Retry-After` that is reported. A longer one counts as this long. */
const LONGEST_MS = 300_000

/**
 * The delay that `Retry-After` asks for, in ms. Takes seconds or an HTTP date, at most five minutes; null without a
 * valid one.
 */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | null => {
  const parsed = Headers.parseRetryAfter(header ?? "")
  return Result.isSuccess(parsed)
    ? Math.min(LONGEST_MS, Duration.toMillis(Headers.retryAfterDelay(parsed.success, nowMs)))
    : null
}

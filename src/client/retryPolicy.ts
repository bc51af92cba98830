/** How long a client waits before it tries again. It imports no package: small clients use it too. */
import { backoffMs } from "./reconnect.ts"

/** Limits of attempts and delays. */
export interface RetryPolicy {
  /** Most attempts in total; 1 disables retries. */
  readonly tries: number
  /** Upper bound of the delay before the second attempt. It doubles with each further attempt. */
  readonly firstDelayMs: number
  readonly longestDelayMs: number
  /** The client does not wait for a longer `Retry-After` and returns the response as it is. */
  readonly longestWaitMs: number
}

/** Four attempts within a few seconds, or up to a minute apart when the service asks for it. */
export const defaultPolicy: RetryPolicy = {
  tries: 4,
  firstDelayMs: 250,
  longestDelayMs: 8000,
  longestWaitMs: 60_000
}

/** `Retry-After` in milliseconds from now; null when it is absent or malformed. */
export const retryAfterMs = (header: string | undefined, nowMs: number): number | null => {
  if (header === undefined) {
    return null
  }
  if (/^[0-9]{1,9}$/u.test(header)) {
    return Number(header) * 1000
  }
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}

/** State after a failed attempt. */
export interface FailedAttempt {
  /** Attempts so far. */
  readonly tried: number
  /** `Retry-After` in milliseconds; null without one. */
  readonly retryAfterMs: number | null
  /** Random number of at least 0 and less than 1. */
  readonly jitter: number
}

/**
 * Milliseconds before the next attempt; null when there is none. A random delay under a ceiling that doubles. After
 * `Retry-After` at least that time plus a random part, so that callers do not all return together.
 */
export const delayMs = (policy: RetryPolicy, { jitter, retryAfterMs, tried }: FailedAttempt): number | null => {
  if (tried >= policy.tries || (retryAfterMs !== null && retryAfterMs > policy.longestWaitMs)) {
    return null
  }
  if (retryAfterMs !== null) {
    return retryAfterMs + jitter * policy.firstDelayMs
  }
  return backoffMs(tried - 1, jitter, policy.firstDelayMs, policy.longestDelayMs)
}

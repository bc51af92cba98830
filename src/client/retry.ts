/** Which responses are retried, and after which delay. */
import { Clock, Effect, Random, Result } from "effect"
import { type HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { ErrorEnvelope } from "../api/middleware/ErrorEnvelope.ts"
import { IDEMPOTENCY_KEY, isRepeatable } from "./repeatable.ts"
import { backoffMs, TRANSIENT } from "./reconnect.ts"

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

type AttemptResult = Result.Result<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

const isTransient = (answer: AttemptResult): boolean =>
  Result.isSuccess(answer) ? TRANSIENT.has(answer.success.status) : answer.failure.reason._tag === "TransportError"

const send = Effect.fnUntraced(function* (
  once: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>,
  policy: RetryPolicy
) {
  for (let tried = 1; ; tried++) {
    const answer = yield* Effect.result(once)
    if (!isTransient(answer)) {
      return yield* Effect.fromResult(answer)
    }
    const header = Result.isSuccess(answer) ? answer.success.headers["retry-after"] : undefined
    const requestedMs = retryAfterMs(header, yield* Clock.currentTimeMillis)
    const wait = delayMs(policy, { tried, retryAfterMs: requestedMs, jitter: yield* Random.next })
    if (wait === null) {
      return yield* Effect.fromResult(answer)
    }
    if (Result.isSuccess(answer)) {
      // The body is read to its end, so that the connection can be reused.
      yield* Effect.ignore(answer.success.text)
    }
    yield* Effect.sleep(wait)
  }
})

const isKeyed = ({ headers }: HttpClientRequest.HttpClientRequest): boolean => headers[IDEMPOTENCY_KEY] !== undefined

/** Client middleware for every call: retries repeatable requests by the policy. */
export const retrying = (policy: RetryPolicy) =>
  HttpApiMiddleware.layerClient(ErrorEnvelope, ({ endpoint, group, next, request }) => {
    const once = next(request)
    const id = `${group.identifier}.${endpoint.identifier}`
    return isRepeatable({ id, method: endpoint.method, isKeyed: isKeyed(request) }) ? send(once, policy) : once
  })

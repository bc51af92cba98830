/** Trying again: which answers are worth it, and how long to wait. */
import { Clock, Effect, Random, Result } from "effect"
import { type HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { ErrorEnvelope } from "../api/middleware/ErrorEnvelope.ts"
import { IDEMPOTENCY_KEY, isRepeatable } from "./repeatable.ts"

/** How often a call is tried, and how long it waits in between. */
export interface RetryPolicy {
  /** How often a call is sent in all; 1 never tries again. */
  readonly tries: number
  /** The most to wait before the second try; it doubles with every further one. */
  readonly firstDelayMs: number
  readonly longestDelayMs: number
  /** A service that asks for more than this is not waited for: its refusal is the answer. */
  readonly longestWaitMs: number
}

/** Four tries within a few seconds, unless the service asks for up to a minute. */
export const defaultPolicy: RetryPolicy = {
  tries: 4,
  firstDelayMs: 250,
  longestDelayMs: 8000,
  longestWaitMs: 60_000
}

/** Statuses that another try may change. */
const PASSING = new Set([429, 502, 503, 504])

/** What `Retry-After` asks for, in milliseconds from now; null when it is absent or makes no sense. */
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

/** What there is to go by once a try has failed. */
export interface FailedTry {
  /** How many tries there have been. */
  readonly tried: number
  /** What the service asked for; null when it did not say. */
  readonly retryAfterMs: number | null
  /** A number of at least 0 and less than 1. */
  readonly dice: number
}

/**
 * How long to wait before the next try; null when there should be none. Full jitter under a doubling ceiling. A service that
 * names its time gets at least that, and callers who were told the same do not come back together.
 */
export const delayMs = (policy: RetryPolicy, { dice, retryAfterMs, tried }: FailedTry): number | null => {
  if (tried >= policy.tries || (retryAfterMs !== null && retryAfterMs > policy.longestWaitMs)) {
    return null
  }
  if (retryAfterMs !== null) {
    return retryAfterMs + dice * policy.firstDelayMs
  }
  return dice * Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** (tried - 1))
}

type Answer = Result.Result<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

const isPassing = (answer: Answer): boolean =>
  Result.isSuccess(answer) ? PASSING.has(answer.success.status) : answer.failure.reason._tag === "TransportError"

const send = Effect.fnUntraced(function* (
  once: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>,
  policy: RetryPolicy
) {
  for (let tried = 1; ; tried++) {
    const answer = yield* Effect.result(once)
    if (!isPassing(answer)) {
      return yield* Effect.fromResult(answer)
    }
    const header = Result.isSuccess(answer) ? answer.success.headers["retry-after"] : undefined
    const asked = retryAfterMs(header, yield* Clock.currentTimeMillis)
    const wait = delayMs(policy, { tried, retryAfterMs: asked, dice: yield* Random.next })
    if (wait === null) {
      return yield* Effect.fromResult(answer)
    }
    if (Result.isSuccess(answer)) {
      // Read to its end, so that its connection can serve the next try.
      yield* Effect.ignore(answer.success.text)
    }
    yield* Effect.sleep(wait)
  }
})

const isKeyed = ({ headers }: HttpClientRequest.HttpClientRequest): boolean => headers[IDEMPOTENCY_KEY] !== undefined

/** Client middleware around every call: repeats what may be repeated, as the policy says. */
export const retrying = (policy: RetryPolicy) =>
  HttpApiMiddleware.layerClient(ErrorEnvelope, ({ endpoint, group, next, request }) => {
    const once = next(request)
    const id = `${group.identifier}.${endpoint.identifier}`
    return isRepeatable({ id, method: endpoint.method, isKeyed: isKeyed(request) }) ? send(once, policy) : once
  })

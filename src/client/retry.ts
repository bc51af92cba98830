/** Which responses are retried, and after which delay. */
import { Clock, Effect, Random, Result } from "effect"
import { type HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { ErrorEnvelope } from "../api/middleware/ErrorEnvelope.ts"
import { IDEMPOTENCY_KEY, isRepeatable } from "./repeatable.ts"
import { TRANSIENT } from "./reconnect.ts"
import { delayMs, retryAfterMs, type RetryPolicy } from "./retryPolicy.ts"

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

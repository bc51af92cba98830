import { Clock, Effect, Predicate } from "effect"
import { HttpClientError, type HttpClientResponse } from "effect/http"
import { catalogue } from "../api/errors/catalogue.ts"
import type { Problem } from "../api/errors/Problem.ts"
import { errorOf } from "./errorOf.ts"
import { clientError, connectionLost, FathomError } from "./FathomError.ts"

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

const isProblem = (failure: unknown): failure is Problem =>
  Predicate.hasProperty(failure, "error") &&
  Predicate.hasProperty(failure.error, "code") &&
  typeof failure.error.code === "string" &&
  failure.error.code in catalogue

const ofProblem = ({ error: { code, details = [], message }, requestId }: Problem) =>
  new FathomError({ status: catalogue[code].status, code, message, requestId, retryAfterMs: null, details })

const asFathomError = Effect.fnUntraced(function* (
  failure: unknown,
  response: HttpClientResponse.HttpClientResponse | undefined
) {
  if (failure instanceof FathomError) {
    return failure
  }
  if (response !== undefined && response.status >= 400) {
    const text = yield* Effect.orElseSucceed(response.text, () => "")
    const { headers, status } = response
    const failed = { status, text, requestId: headers["x-request-id"], retryAfter: headers["retry-after"] }
    return errorOf(failed, yield* Clock.currentTimeMillis)
  }
  if (isProblem(failure)) {
    return ofProblem(failure)
  }
  if (HttpClientError.isHttpClientError(failure) && failure.reason._tag === "TransportError") {
    return connectionLost(failure.reason.cause)
  }
  if (response === undefined) {
    return clientError("invalid_call", messageOf(failure), { cause: failure })
  }
  return clientError("invalid_answer", messageOf(failure), { status: response.status, cause: failure })
})

/**
 * Turns every failure of a call into a `FathomError`. `last` holds the last response of the service, if one arrived.
 */
export const withFathomError = <A, R>(
  call: Effect.Effect<A, unknown, R>,
  last: { readonly response?: HttpClientResponse.HttpClientResponse | undefined } = {}
): Effect.Effect<A, FathomError, R> =>
  Effect.catch(call, (failure) => Effect.flatMap(asFathomError(failure, last.response), Effect.fail))

/** Sends requests to the funding service over HTTP, with one deadline, one retry and one circuit breaker. */
import { Effect, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { CircuitBreaker } from "effect/persistence"
import { counted, makeBreaker, retryOnce, usualBreaker, withDeadline } from "../operations/protection.ts"
import { makeExchange, type Reply } from "../operations/upstreamHttp.ts"
import { FundingUnavailable } from "./FundingClient.ts"
import type { FundingSettings } from "./fundingSettings.ts"

/** A path below the service's address, its parameters (undefined ones are left out), and the longest answer. */
export interface FundingRequest {
  readonly path: `/v1/${string}`
  readonly params: Readonly<Record<string, string | undefined>>
  readonly maxBytes: number
}

const STATUSES = [200, 404]

const requestOf = ({ token, url }: FundingSettings, { params, path }: FundingRequest) => {
  const request = HttpClientRequest.get(url + path).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.setUrlParams(params)
  )
  return token === null ? request : HttpClientRequest.bearerToken(request, Redacted.value(token))
}

/** Sends requests to the service. Retries once when the service was unreachable and sent no `Retry-After`. */
export const makeFundingCall = Effect.fnUntraced(function* (settings: FundingSettings) {
  const exchange = yield* makeExchange
  const guarded = yield* makeBreaker<FundingUnavailable>({
    ...usualBreaker,
    name: "funding",
    // One malformed answer says nothing about the health of the service.
    outcomeOf: (error) => (error.reason === "malformed" ? CircuitBreaker.ignored : counted(error)),
    rejection: (retryAfterMs) =>
      new FundingUnavailable({ reason: "unreachable", detail: "the circuit of the service is open", retryAfterMs })
  })

  return (request: FundingRequest): Effect.Effect<Reply, FundingUnavailable> =>
    exchange(requestOf(settings, request), { maxBytes: request.maxBytes, statuses: STATUSES }).pipe(
      retryOnce,
      withDeadline(settings.timeout),
      Effect.mapError(
        ({ detail, reason, retryAfterMs }) =>
          new FundingUnavailable({ reason, detail, ...(retryAfterMs !== undefined && { retryAfterMs }) })
      ),
      guarded
    )
})

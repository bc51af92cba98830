import { Context, Layer, type Redacted } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { Authorization } from "../api/middleware/Authorization.ts"
import { retrying } from "./retry.ts"
import { defaultPolicy, type RetryPolicy } from "./retryPolicy.ts"

export interface FathomClientOptions {
  /** Base URL of the service, without `/api/v1`. */
  readonly baseUrl: string | URL
  /** The secret of an API key. */
  readonly key: string | Redacted.Redacted
  readonly retry?: Partial<RetryPolicy>
}

const authorized = (key: FathomClientOptions["key"]) =>
  HttpApiMiddleware.layerClient(Authorization, ({ next, request }) => next(HttpClientRequest.bearerToken(request, key)))

/**
 * Every call of the contract as an effect: `client.spot.quote({ query })`. A call fails with the problems it declares,
 * or with an `HttpClientError` when no response arrives or the response does not fit the contract.
 */
export class FathomClient extends Context.Service<FathomClient, HttpApiClient.ForApi<typeof Api>>()(
  "fathom/client/FathomClient"
) {
  /** The client over an `HttpClient`. */
  static readonly layer = (options: FathomClientOptions): Layer.Layer<FathomClient, never, HttpClient.HttpClient> =>
    Layer.effect(FathomClient, HttpApiClient.make(Api, { baseUrl: options.baseUrl })).pipe(
      Layer.provide([authorized(options.key), retrying({ ...defaultPolicy, ...options.retry })])
    )
}

import { Context, Layer, type Redacted } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { Authorization } from "../api/middleware/Authorization.ts"
import { defaultPolicy, retrying, type RetryPolicy } from "./retry.ts"

/** Which service is called, and as whom. */
export interface FathomClientOptions {
  /** Where the service is, without `/api/v1`. */
  readonly baseUrl: string | URL
  /** The secret of an API key. */
  readonly key: string | Redacted.Redacted
  readonly retry?: Partial<RetryPolicy>
}

const authorized = (key: FathomClientOptions["key"]) =>
  HttpApiMiddleware.layerClient(Authorization, ({ next, request }) => next(HttpClientRequest.bearerToken(request, key)))

/**
 * Every call of the contract as an effect: `client.spot.quote({ query })`. Fails with the problems that the call declares, or
 * with an `HttpClientError` when nothing came back that the contract knows.
 */
export class FathomClient extends Context.Service<FathomClient, HttpApiClient.ForApi<typeof Api>>()(
  "fathom/client/FathomClient"
) {
  /** The client over whatever sends HTTP requests. */
  static readonly layer = (options: FathomClientOptions): Layer.Layer<FathomClient, never, HttpClient.HttpClient> =>
    Layer.effect(FathomClient, HttpApiClient.make(Api, { baseUrl: options.baseUrl })).pipe(
      Layer.provide([authorized(options.key), retrying({ ...defaultPolicy, ...options.retry })])
    )
}

/** Requests that the service sends to itself for a caller of `/mcp` or `/compat`, without a network. */
import { Context, Deferred, Effect, Layer, Option, type Scope } from "effect"
import { HttpEffect, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { KEY_HEADER } from "./bearer.ts"

/** The whole service as an effect. */
export type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** The service that answers inner requests. It is set once its routes are built. */
export class InnerApp extends Context.Service<InnerApp, { app: App | null }>()(
  "fathom/http/middleware/innerRequests/InnerApp"
) {
  static readonly layer = Layer.sync(InnerApp, () => ({ app: null }))
}

/** Headers of the caller that an inner request also has, because admission needs them. */
const PASSED = ["authorization", KEY_HEADER, "cookie", "x-forwarded-for"]

/** One inner request, with a JSON body if there is one. */
export interface Inner {
  readonly method: string
  readonly url: string
  readonly body?: string | null
  /** A key that the caller sent under another name than the two of the contract. */
  readonly key?: string | undefined
}

const requestOf = (
  outer: HttpServerRequest.HttpServerRequest,
  { body = null, key, method, url }: Inner
): HttpServerRequest.HttpServerRequest => {
  const headers = new Headers({ accept: "application/json" })
  for (const name of PASSED) {
    const value = outer.headers[name]
    if (value !== undefined) {
      headers.set(name, value)
    }
  }
  if (key !== undefined && !headers.has("authorization") && !headers.has(KEY_HEADER)) {
    headers.set(KEY_HEADER, key)
  }
  if (body !== null) {
    headers.set("content-type", "application/json")
    // A body without a length would be taken for absent.
    headers.set("content-length", String(Buffer.byteLength(body)))
  }
  const request = new Request(`http://fathom.invalid${url}`, { method, headers, ...(body !== null && { body }) })
  return HttpServerRequest.fromWeb(request).modify({
    url,
    ...(Option.isSome(outer.remoteAddress) && { remoteAddress: outer.remoteAddress })
  })
}

/**
 * The answer of the service, including everything that happens after a handler. Dies with the cause when there is no
 * answer.
 */
export const answerTo = (
  app: App,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.gen(function* () {
    const result = yield* Deferred.make<HttpServerResponse.HttpServerResponse>()
    yield* HttpEffect.toHandled(app, (_, response) => Deferred.succeed(result, response)).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request),
      // A failure after the answer changes nothing. A failure before it is the result.
      Effect.catchCause((cause) => Deferred.failCause(result, cause)),
      Effect.forkChild
    )
    return yield* Deferred.await(result)
  })

/** The answer to an inner request of a caller. */
export const answerOf = (
  app: App,
  outer: HttpServerRequest.HttpServerRequest,
  inner: Inner
): Effect.Effect<HttpServerResponse.HttpServerResponse> => answerTo(app, requestOf(outer, inner))

/** Requests that the service sends to itself for a caller of `/mcp`, without a network. */
import { Deferred, Effect, Option, type Scope } from "effect"
import { HttpEffect, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { KEY_HEADER } from "../middleware/bearer.ts"

/** The whole service as an effect. */
export type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Headers of the caller that an inner request also has, because admission needs them. */
const PASSED = ["authorization", KEY_HEADER, "x-forwarded-for"]

/** One inner request: further headers, and a JSON body if there is one. */
export interface Inner {
  readonly method: string
  readonly url: string
  readonly body?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

const requestOf = (
  outer: HttpServerRequest.HttpServerRequest,
  { body = null, headers: own = {}, method, url }: Inner
): HttpServerRequest.HttpServerRequest => {
  const headers = new Headers({ accept: "application/json", ...own })
  for (const name of PASSED) {
    const value = outer.headers[name]
    if (value !== undefined) {
      headers.set(name, value)
    }
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
export const answerOf = (
  app: App,
  outer: HttpServerRequest.HttpServerRequest,
  inner: Inner
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.gen(function* () {
    const result = yield* Deferred.make<HttpServerResponse.HttpServerResponse>()
    yield* HttpEffect.toHandled(app, (_, response) => Deferred.succeed(result, response)).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, requestOf(outer, inner)),
      // A failure after the answer changes nothing. A failure before it is the result.
      Effect.catchCause((cause) => Deferred.failCause(result, cause)),
      Effect.forkChild
    )
    return yield* Deferred.await(result)
  })

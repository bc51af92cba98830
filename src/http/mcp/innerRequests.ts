/** Requests that the service sends to itself for a caller of `/mcp`, without a network. */
import { Context, Deferred, Effect, Layer, Option, type Scope } from "effect"
import { HttpEffect, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { KEY_HEADER } from "../middleware/bearer.ts"
import { MCP_PATH, SESSION_HEADER } from "./paths.ts"

/** The whole service as an effect. */
export type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  unknown,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** The service that answers inner requests. It is set once its routes are built. */
export class InnerApp extends Context.Service<InnerApp, { app: App | null }>()(
  "fathom/http/mcp/innerRequests/InnerApp"
) {
  static readonly layer = Layer.sync(InnerApp, () => ({ app: null }))
}

/** Headers of the caller that an inner request also has, because admission needs them. */
const PASSED = ["authorization", KEY_HEADER, "x-forwarded-for"]

/** One inner request, with a JSON body if there is one. */
export interface Inner {
  readonly method: string
  readonly url: string
  readonly body?: string | null
}

const requestOf = (
  outer: HttpServerRequest.HttpServerRequest,
  { body = null, method, url }: Inner
): HttpServerRequest.HttpServerRequest => {
  const headers = new Headers({ accept: "application/json" })
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
const answerTo = (
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

const ENDING = Symbol("EndedByTheService")

/** True for a request with which the service itself ends a session. */
export const isEnding = ({ source }: HttpServerRequest.HttpServerRequest): boolean => ENDING in source

/** Ends a session in the protocol's runtime, whoever holds it. */
export const endSession = (app: App, id: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const source = new Request(`http://fathom.invalid${MCP_PATH}`, {
      method: "DELETE",
      headers: { [SESSION_HEADER]: id }
    })
    const request = HttpServerRequest.fromWeb(Object.assign(source, { [ENDING]: true })).modify({ url: MCP_PATH })
    return Effect.asVoid(answerTo(app, request))
  })

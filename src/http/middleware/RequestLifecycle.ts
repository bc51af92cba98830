import { Cause, Clock, Context, Effect, type Layer, Tracer } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import { routesOf } from "./routes.ts"
import { Drain } from "../Drain.ts"
import { keepContext, RequestContext, openRequest, withServices } from "./RequestContext.ts"
import { finalizeResponse } from "./finalizeResponse.ts"
import { Settings } from "../Settings.ts"
import { makePageGate } from "./pageGate.ts"
import { preflightHeaders } from "./headers.ts"
import { rawHeader } from "./rawHeader.ts"
import { placeholder } from "./ErrorEnvelope.ts"
import { serverProblem } from "./envelope.ts"

/** The longest URL in bytes. A longer one is a 414. */
export const MAX_URL = 8192

const preflight = HttpServerResponse.empty({ status: 204, headers: preflightHeaders })

/** Makes a test for the URLs of these paths. A parameter stands for the rest of the path. */
const pageTest = (pages: ReadonlyArray<`/${string}`>): ((url: string) => boolean) => {
  const [exact, open] = [pages.filter((path) => !path.includes(":")), pages.filter((path) => path.includes(":"))]
  const paths = new Set<string>(exact)
  const prefixes = open.map((path) => path.slice(0, path.indexOf(":")))
  return (url) => {
    const [path = ""] = url.split("?", 1)
    return paths.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
  }
}

/** Logs defects of routes outside the contract. ErrorEnvelope logs defects of endpoints. */
const reportDefect = (cause: Cause.Cause<unknown>) =>
  Cause.hasDies(cause)
    ? Effect.flatMap(RequestContext, ({ id }) =>
        Effect.logError("A request failed", cause).pipe(Effect.annotateLogs({ requestId: id }))
      )
    : Effect.void

/** Gives the span of a request the ids of the request, and the request the ids of its span. */
const nameSpan = (services: Context.Context<never>, context: RequestContext): void => {
  const span = Context.getOrUndefined(services, Tracer.ParentSpan)
  if (span?._tag === "Span") {
    span.attribute("requestId", context.id)
    if (context.clientId !== undefined) {
      span.attribute("clientRequestId", context.clientId)
    }
    context.trace = { traceId: span.traceId, spanId: span.spanId }
  }
}

/**
 * Global middleware around every request, routed or not. It opens the request context, answers OPTIONS, too long
 * URLs and too many requests for pages, and registers `finalizeResponse`. `pages` are the paths outside the contract, `hasOwnErrors` tells the
 * paths whose errors have their own form.
 */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  pages: ReadonlyArray<`/${string}`>,
  hasOwnErrors: (path: string) => boolean = () => false
): Layer.Layer<never, never, HttpRouter.HttpRouter | RateLimiter | UsageStore | Drain | Settings> =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const { begun } = yield* Drain
      const clock = yield* Clock.Clock
      const isPage = pageTest(pages)
      const refusalOf = makePageGate(yield* Settings, clock)
      const services = {
        clock,
        limiter: yield* RateLimiter,
        usage: yield* UsageStore,
        closing: begun,
        hasOwnErrors: (url: string) => hasOwnErrors(url.split("?", 1)[0] ?? ""),
        routes: routesOf(api, pages)
      }

      return (routed) => {
        const logged = Effect.tapCause(routed, reportDefect)
        return Effect.withFiber((fiber) => {
          const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const context = openRequest(crypto.randomUUID(), rawHeader(request, "x-client-request-id"))
          keepContext(request.source, context)
          nameSpan(fiber.context, context)
          const ofPage = isPage(request.url)
          HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, finalizeResponse(context, services, ofPage))
          if (request.url.length > MAX_URL) {
            context.problem = serverProblem("uri_too_long")
            return Effect.succeed(placeholder)
          }
          if (request.method === "OPTIONS") {
            return Effect.succeed(preflight)
          }
          const refusal = ofPage ? refusalOf(request) : null
          if (refusal !== null) {
            context.problem = refusal
            return Effect.succeed(placeholder)
          }
          return withServices(fiber, Context.add(fiber.context, RequestContext, context), logged)
        })
      }
    }),
    { global: true }
  )

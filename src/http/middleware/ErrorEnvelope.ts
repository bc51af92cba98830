import { Cause, Context, Effect, Layer, Option, Predicate } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiError, type HttpApiEndpoint } from "effect/http-api"
import type { Problem } from "../../api/errors/Problem.ts"
import { InternalError } from "../../api/errors/problems.ts"
import { ErrorEnvelope } from "../../api/middleware/ErrorEnvelope.ts"
import { RequestContext } from "./RequestContext.ts"
import { invalidRequest, type Source } from "./issues.ts"

/** Returned in place of the response that `finalizeResponse` writes from the context's problem. */
export const placeholder = HttpServerResponse.empty({ status: 500 })

const isProblem = (error: unknown): error is Problem =>
  Predicate.hasProperty(error, "error") && Predicate.hasProperty(error, "requestId")

type ApiContext = Context.Context<HttpServerRequest.ParsedSearchParams | HttpRouter.RouteContext>

/** The part of the request that failed its schema; undefined when a part of the response did. */
const sourceOf = (
  kind: HttpApiError.HttpApiSchemaError["kind"],
  services: ApiContext,
  context: RequestContext
): Source | undefined => {
  switch (kind) {
    case "Query":
      return { in: "query", input: Context.get(services, HttpServerRequest.ParsedSearchParams) }
    case "Params":
      return { in: "path", input: Context.get(services, HttpRouter.RouteContext).params }
    case "Headers":
      return { in: "header", input: undefined }
    case "Payload":
      return { in: "body", input: context.body?.value }
    default:
      return undefined
  }
}

const problemOf = (error: unknown, services: ApiContext, context: RequestContext): Problem | undefined => {
  if (isProblem(error)) {
    return error
  }
  if (!HttpApiError.HttpApiSchemaError.is(error)) {
    return undefined
  }
  const source = sourceOf(error.kind, services, context)
  return source && invalidRequest(error.cause.issue, source)
}

/** Logs a defect with endpoint and request id, but nothing that the caller sent. */
const report = (cause: Cause.Cause<unknown>, endpoint: HttpApiEndpoint.Top, context: RequestContext) =>
  Effect.logError("An endpoint failed", cause).pipe(
    Effect.annotateLogs({ requestId: context.id, method: endpoint.method, path: endpoint.path })
  )

export const layer: Layer.Layer<ErrorEnvelope> = Layer.succeed(
  ErrorEnvelope,
  ErrorEnvelope.of((httpEffect, { endpoint }) =>
    Effect.catchCause(httpEffect, (cause) =>
      Effect.contextWith((services: ApiContext) => {
        if (Cause.hasInterruptsOnly(cause)) {
          return Effect.interrupt
        }
        const context = Context.get(services, RequestContext)
        const known = Option.match(Cause.findErrorOption(cause), {
          onNone: () => undefined,
          onSome: (error) => problemOf(error, services, context)
        })
        context.problem = known ?? new InternalError()
        return known === undefined
          ? Effect.as(report(cause, endpoint, context), placeholder)
          : Effect.succeed(placeholder)
      })
    )
  )
)

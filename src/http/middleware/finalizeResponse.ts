import { type Clock, Effect } from "effect"
import { type HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { RateLimiter } from "../../access/RateLimiter.ts"
import type { UsageStore } from "../../access/usage/UsageStore.ts"
import { catalogue, type ErrorCode } from "../../api/errors/catalogue.ts"
import type { Problem } from "../../api/errors/Problem.ts"
import { LimiterUnavailable } from "../../api/errors/problems.ts"
import { invalid } from "../problems.ts"
import type { Routes } from "./routes.ts"
import { withDecisionDeadline } from "./decisionDeadline.ts"
import type { RequestContext, MeterReading } from "./RequestContext.ts"
import { encoded, validated, withChanges } from "./representation.ts"
import { type HeaderRecord, writeCommonHeaders, writeProblem } from "./headers.ts"
import { envelope, serverProblem } from "./envelope.ts"

/** Services that `finalizeResponse` uses. */
export interface ResponseServices {
  readonly clock: Clock.Clock
  readonly limiter: RateLimiter["Service"]
  readonly usage: UsageStore["Service"]
  /** True while the service drains. */
  readonly closing: () => boolean
  /** True for a URL whose errors have their own form, such as JSON-RPC. */
  readonly hasOwnErrors: (url: string) => boolean
  readonly routes: Routes
}

/** Codes for statuses that the framework answers without a body. 503 means that the shutdown interrupted the fiber. */
const bareCodes: Record<number, ErrorCode> = {
  413: "body_too_large",
  415: "unsupported_media_type",
  503: "data_unavailable"
}

const undecodable = (field: string) =>
  invalid({ in: "path", field, issue: "format" }, `${field} must be UTF-8 in percent-encoding.`)

const problemOfStatus = (
  status: number,
  { method, url }: HttpServerRequest.HttpServerRequest,
  context: RequestContext,
  { routes }: ResponseServices
): Problem => {
  if (status !== 404) {
    return serverProblem(bareCodes[status] ?? "internal_error")
  }
  const repaired = routes.repaired(url)
  const methods = routes.allowed(repaired?.url ?? url)
  if (methods.length === 0) {
    return serverProblem("not_found")
  }
  if (repaired !== null && methods.includes(method)) {
    return undecodable(repaired.parameter)
  }
  context.allow = methods.join(", ")
  return serverProblem("method_not_allowed")
}

/** True for HTML pages, which carry their own error text. */
const isHtml = ({ headers }: HttpServerResponse.HttpServerResponse): boolean =>
  headers["content-type"]?.startsWith("text/html") === true

/** Refunds every charge. The headers then show the budget after the last refund. */
const refundAll = (context: RequestContext, limiter: RateLimiter["Service"]) =>
  Effect.forEach(context.charges.splice(0), (charge) =>
    withDecisionDeadline(limiter.refund(charge), () => new LimiterUnavailable())
  ).pipe(
    Effect.match({
      // The charge is kept, and the headers stay as they are.
      onFailure: () => undefined,
      onSuccess: (states) => {
        const state = states.at(-1)
        context.reading = state && { ...state, cost: 0, refused: false }
      }
    })
  )

/**
 * The reading for a 429 that a limit other than the budget caused. It shows the budget, but resets when that limit
 * allows the request.
 */
const heldBack = (reading: MeterReading, problem: Problem, nowMs: number): MeterReading =>
  problem.error.code !== "rate_limited" || reading.refused
    ? reading
    : { ...reading, resetAtMs: nowMs + 1000 * (problem.retryAfter ?? 1), refused: true }

const write = (
  response: HttpServerResponse.HttpServerResponse,
  context: RequestContext,
  services: ResponseServices
) => {
  const nowMs = services.clock.currentTimeMillisUnsafe()
  const { problem } = context
  const headers: HeaderRecord = problem === undefined ? { ...response.headers } : {}
  if (problem !== undefined && context.reading !== undefined) {
    context.reading = heldBack(context.reading, problem, nowMs)
  }
  writeCommonHeaders(headers, context, nowMs)
  if (problem === undefined && isHtml(response)) {
    // No page of the service may be framed by another site.
    headers["x-frame-options"] = "DENY"
    headers["content-security-policy"] ??= "frame-ancestors 'none'"
  }
  if (services.closing()) {
    headers["connection"] = "close"
  }
  if (problem === undefined) {
    return withChanges(response, { headers })
  }
  writeProblem(headers, problem, context, nowMs)
  const { status } = catalogue[problem.error.code]
  return HttpServerResponse.text(envelope(problem, context.id), { status, contentType: "application/json", headers })
}

/**
 * Counts a response as usage of its credential, if it has one. A response without an operation is not counted: a tool
 * call of `/mcp` counts by the request that it stands for. The bytes of a stream are counted while it is open. */
const count = (
  { body, status }: HttpServerResponse.HttpServerResponse,
  { caller, charges, operation }: RequestContext,
  usage: UsageStore["Service"]
): void => {
  if (caller !== undefined && operation !== "") {
    const units = charges.reduce((sum, { cost }) => sum + cost, 0)
    usage.request({
      caller,
      operation,
      units,
      isError: status >= 400,
      bytes: body._tag === "Empty" ? 0 : (body.contentLength ?? 0)
    })
  }
}

/**
 * The last step of every response: replaces it by the context's problem, refunds charges, writes headers, compresses
 * and counts. `isPage` is true for a page or document outside the contract.
 */
export const finalizeResponse =
  (context: RequestContext, services: ResponseServices, isPage: boolean): HttpEffect.PreResponseHandler =>
  (request, response) => {
    const isWritten = () => context.replayed || isHtml(response) || services.hasOwnErrors(request.url)
    if (context.problem === undefined && response.status >= 400 && !isWritten()) {
      context.problem = problemOfStatus(response.status, request, context, services)
    }
    const status = context.problem === undefined ? response.status : catalogue[context.problem.error.code].status
    const failed = status >= 500 || status === 429
    const finish = () => {
      const written = write(response, context, services)
      const answer = isPage ? validated(request, written) : written
      return Effect.mapEager(encoded(request, answer), (sent) => {
        count(sent, context, services.usage)
        return sent
      })
    }
    return failed && context.charges.length > 0
      ? Effect.flatMap(refundAll(context, services.limiter), finish)
      : finish()
  }

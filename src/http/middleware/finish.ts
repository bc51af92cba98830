import { type Clock, Effect } from "effect"
import { type HttpEffect, HttpServerResponse } from "effect/http"
import type { RateLimiter } from "../../access/RateLimiter.ts"
import { catalogue, type ErrorCode } from "../../api/catalogue.ts"
import type { Problem } from "../../api/Problem.ts"
import { LimiterUnavailable } from "../../api/problems.ts"
import { decide } from "./decisionDeadline.ts"
import type { RequestContext, MeterReading } from "./RequestContext.ts"
import { type HeaderRecord, writeExchange, writeProblem } from "./headers.ts"
import { envelope, refusal } from "./refusal.ts"

/** What finishing an answer needs besides the answer. */
export interface Finishing {
  readonly clock: Clock.Clock
  readonly limiter: RateLimiter["Service"]
  /** Whether callers are asked to close their connections. */
  readonly closing: () => boolean
  /** Methods that would find something at this URL; empty when nothing is there. */
  readonly allowed: (url: string) => ReadonlyArray<string>
}

/** What the frameworks below us mean by an answer without a body. 503 is ours: the fiber was interrupted by shutdown. */
const bareCodes: Record<number, ErrorCode> = {
  413: "body_too_large",
  415: "unsupported_media_type",
  503: "data_unavailable"
}

const explain = (status: number, url: string, context: RequestContext, finishing: Finishing): Problem => {
  if (status !== 404) {
    return refusal(bareCodes[status] ?? "internal_error")
  }
  const methods = finishing.allowed(url)
  if (methods.length === 0) {
    return refusal("not_found")
  }
  context.allow = methods.join(", ")
  return refusal("method_not_allowed")
}

/** A page says itself what is wrong. */
const isPage = ({ headers }: HttpServerResponse.HttpServerResponse): boolean =>
  headers["content-type"]?.startsWith("text/html") === true

/** Gives every charge back. Where that leaves the budget is what the headers then say. */
const refundAll = (context: RequestContext, limiter: RateLimiter["Service"]) =>
  Effect.forEach(context.charges.splice(0), (charge) =>
    decide(limiter.refund(charge), () => new LimiterUnavailable())
  ).pipe(
    Effect.match({
      // The caller stays charged, and the headers keep saying so.
      onFailure: () => undefined,
      onSuccess: (states) => {
        const state = states.at(-1)
        context.reading = state && { ...state, cost: 0, refused: false }
      }
    })
  )

/** The response with other headers. Its own constructors would copy and normalise each of them again. */
const withHeaders = (response: HttpServerResponse.HttpServerResponse, headers: HeaderRecord) => {
  const copy: HttpServerResponse.HttpServerResponse = Object.create(Object.getPrototypeOf(response))
  return Object.assign(copy, response, { headers })
}

/**
 * What the headers say after a refusal that was not the budget's: they describe the budget all the same, and before the
 * refusal allows it, the request fits nowhere.
 */
const heldBack = (reading: MeterReading, problem: Problem, nowMs: number): MeterReading =>
  problem.error.code !== "rate_limited" || reading.refused
    ? reading
    : { ...reading, resetAtMs: nowMs + 1000 * (problem.retryAfter ?? 1), refused: true }

const write = (response: HttpServerResponse.HttpServerResponse, context: RequestContext, finishing: Finishing) => {
  const nowMs = finishing.clock.currentTimeMillisUnsafe()
  const { problem } = context
  const headers: HeaderRecord = problem === undefined ? { ...response.headers } : {}
  if (problem !== undefined && context.reading !== undefined) {
    context.reading = heldBack(context.reading, problem, nowMs)
  }
  writeExchange(headers, context, nowMs)
  if (finishing.closing()) {
    headers["connection"] = "close"
  }
  if (problem === undefined) {
    return withHeaders(response, headers)
  }
  writeProblem(headers, problem, context, nowMs)
  const { status } = catalogue[problem.error.code]
  return HttpServerResponse.text(envelope(problem, context.id), { status, contentType: "application/json", headers })
}

/** The last step of every answer: a problem in place of what the handler left, refunds, and all headers at once. */
export const finish =
  (context: RequestContext, finishing: Finishing): HttpEffect.PreResponseHandler =>
  (request, response) => {
    if (context.problem === undefined && response.status >= 400 && !context.replayed && !isPage(response)) {
      context.problem = explain(response.status, request.url, context, finishing)
    }
    const status = context.problem === undefined ? response.status : catalogue[context.problem.error.code].status
    const failed = status >= 500 || status === 429
    return failed && context.charges.length > 0
      ? Effect.map(refundAll(context, finishing.limiter), () => write(response, context, finishing))
      : Effect.succeed(write(response, context, finishing))
  }

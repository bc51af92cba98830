/** The headers of the contract. Constant values are computed once. */
import { catalogue, defaultRetryAfter } from "../../api/errors/catalogue.ts"
import type { Problem } from "../../api/errors/Problem.ts"
import type { BudgetName, BudgetTerms } from "../../api/schemas/Budget.ts"
import type { RequestContext, MeterReading } from "./RequestContext.ts"

/** Headers of one response, by lower-case name. */
export type HeaderRecord = Record<string, string>

const EXPOSED = [
  "X-Request-Id",
  "X-Client-Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-RateLimit-Budget",
  "X-RateLimit-Cost",
  "RateLimit-Policy",
  "RateLimit",
  "Retry-After",
  "Cache-Control",
  "WWW-Authenticate",
  "Idempotency-Replayed",
  "Deprecation",
  "Sunset",
  "Link"
].join(", ")

/** Headers of a CORS preflight, which needs no key and costs nothing. */
export const preflightHeaders: HeaderRecord = {
  "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, X-API-Key, X-Client-Request-Id",
  "access-control-allow-methods": "GET, POST, PATCH, DELETE, OPTIONS",
  "access-control-max-age": "86400"
}

/** The budget as the IETF draft on rate limits writes it. */
const policyOf = (budget: BudgetName, { limit, windowMs }: BudgetTerms): string =>
  `"${budget}";q=${limit};w=${windowMs / 1000}`

/** The Unix second of `Reset`, rounded up so that a retry at that second is never too early. */
const resetSecond = (reading: MeterReading): number => Math.ceil(reading.resetAtMs / 1000)

/** Whole seconds until `Reset`. At least one after a rejection, at most the window. */
const secondsLeft = (reading: MeterReading, nowMs: number): number => {
  const seconds = Math.ceil((resetSecond(reading) * 1000 - nowMs) / 1000)
  return Math.min(Math.max(reading.refused ? 1 : 0, seconds), reading.windowMs / 1000)
}

const writeReading = (headers: HeaderRecord, reading: MeterReading, nowMs: number): void => {
  headers["x-ratelimit-limit"] = String(reading.limit)
  headers["x-ratelimit-remaining"] = String(reading.remaining)
  headers["x-ratelimit-reset"] = String(resetSecond(reading))
  headers["x-ratelimit-budget"] = reading.budget
  headers["x-ratelimit-cost"] = String(reading.cost)
  headers["ratelimit-policy"] = policyOf(reading.budget, reading)
  headers["ratelimit"] = `"${reading.budget}";r=${reading.remaining};t=${secondsLeft(reading, nowMs)}`
}

/** Adds the headers of every response: request id, nosniff, CORS, rate limits, replay and client id. */
export const writeCommonHeaders = (headers: HeaderRecord, context: RequestContext, nowMs: number): void => {
  headers["x-request-id"] = context.id
  headers["x-content-type-options"] = "nosniff"
  headers["access-control-allow-origin"] = "*"
  headers["access-control-expose-headers"] = EXPOSED
  if (context.keyed) {
    headers["cache-control"] = "no-store"
  }
  if (context.reading !== undefined) {
    writeReading(headers, context.reading, nowMs)
  }
  if (context.replayed) {
    headers["idempotency-replayed"] = "true"
  }
  if (context.clientId !== undefined) {
    headers["x-client-request-id"] = context.clientId
  }
}

/** Seconds of `Retry-After`: on a 429 until the cost fits, otherwise from the problem or its code. */
const retryAfterOf = (problem: Problem, context: RequestContext, nowMs: number): number | undefined => {
  const { reading } = context
  return reading?.refused === true && problem.error.code === "rate_limited"
    ? secondsLeft(reading, nowMs)
    : (problem.retryAfter ?? defaultRetryAfter(problem.error.code))
}

/** Adds the headers of a problem: `Retry-After`, `WWW-Authenticate`, `Allow`, `Content-Range`. */
export const writeProblem = (headers: HeaderRecord, problem: Problem, context: RequestContext, nowMs: number): void => {
  const seconds = retryAfterOf(problem, context, nowMs)
  if (seconds !== undefined) {
    headers["retry-after"] = String(seconds)
  }
  if (catalogue[problem.error.code].status === 401) {
    headers["www-authenticate"] = "Bearer"
  }
  if (context.allow !== undefined) {
    headers["allow"] = context.allow
  }
  if (problem.contentRange !== undefined) {
    headers["content-range"] = problem.contentRange
  }
}

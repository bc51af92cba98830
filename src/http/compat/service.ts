/** What a compatible read is made of: a path of another service, and the requests of our own contract behind it. */
import { Effect, Schedule } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { type App, answerOf } from "../middleware/innerRequests.ts"

/** An answer other than 200. `code` is a code of our catalogue, or of this room where it says so itself. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

/** A refusal that this room decides without asking the contract. */
export const refuse = (status: number, code: string, message: string): Effect.Effect<never, Refusal> =>
  Effect.fail({ status, code, message })

/** A parameter that is missing or not valid. */
export const invalid = (message: string): Effect.Effect<never, Refusal> => refuse(400, "invalid_request", message)

/** Answers of the contract by path: `ask<typeof PoolAnswer.Encoded>("/api/v1/pools/…")`. */
export type Ask = <Answer>(url: string) => Effect.Effect<Answer, Refusal>

/** One request to a compatible path. */
export interface Call {
  /** A parameter of the path; empty when the path has none of that name. */
  readonly param: (name: string) => string
  readonly query: URLSearchParams
  readonly ask: Ask
  readonly nowMs: number
}

/** One path of a service, below its prefix. */
export interface Read {
  readonly path: `/${string}`
  readonly answer: (call: Call) => Effect.Effect<unknown, Refusal>
}

/** The paths of another service, and the form of its errors. */
export interface Service {
  readonly prefix: `/compat/${string}`
  readonly reads: ReadonlyArray<Read>
  /** Headers in which clients of the service send their key, in lower case. */
  readonly keyHeaders: ReadonlyArray<string>
  /** Status and body of a refusal, as the service writes them. */
  readonly refusal: (refusal: Refusal) => { readonly status: number; readonly body: unknown }
  /** Why a path that the service has, and we do not, is refused; null for any other path. */
  readonly notOffered: (method: string, path: string) => string | null
}

/** Headers that say what was charged, when to come back and how to authenticate. */
const KEPT = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-ratelimit-budget",
  "x-ratelimit-cost",
  "ratelimit-policy",
  "ratelimit",
  "retry-after",
  "www-authenticate"
]

/** Headers of the answers behind one call. Those of the last answer win, so a refusal, which ends a call, wins. */
export type KeptHeaders = Record<string, string>

interface Problem {
  readonly error: { readonly code: string; readonly message: string }
}

const refusalOf = (status: number, body: string): Refusal => {
  // Every error of the contract has this envelope.
  const { error } = JSON.parse(body) as Problem
  return { status, code: error.code, message: error.message }
}

/** Refusals that pass as soon as something is loaded, which begins with the first request for it. */
const LOADING: ReadonlySet<string> = new Set(["chart_warming", "data_unavailable", "state_cold"])

/** Times that a refusal is asked again, a second apart: clients of other services do not expect to come back. */
const RETRIES = 2

/** Asks the contract for a caller. An answer that is not 200 is a refusal. */
export const asking =
  (app: App, outer: HttpServerRequest.HttpServerRequest, kept: KeptHeaders, key: string | undefined): Ask =>
  <Answer>(url: string) =>
    Effect.gen(function* () {
      const response = yield* answerOf(app, outer, { method: "GET", url, key })
      for (const name of KEPT) {
        const value = response.headers[name]
        if (value !== undefined) {
          kept[name] = value
        }
      }
      const text = yield* Effect.promise(() => HttpServerResponse.toWeb(response).text())
      if (response.status !== 200) {
        return yield* Effect.fail(refusalOf(response.status, text))
      }
      delete kept["retry-after"]
      // The contract promises the form of its own answers.
      return JSON.parse(text) as Answer
    }).pipe(
      Effect.retry({
        times: RETRIES,
        schedule: Schedule.spaced("1 second"),
        while: ({ code, status }) => status === 503 && LOADING.has(code)
      })
    )

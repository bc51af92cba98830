/** One question to the funding service over HTTP: its deadline, the size of its answer, and when the service is left alone. */
import { Cause, Duration, Effect, Exit, Option, Redacted, Schedule } from "effect"
import { HttpClient, type HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { CircuitBreaker } from "effect/persistence"
import { boundedText } from "../domain/boundedText.ts"
import { FundingUnavailable } from "./FundingClient.ts"
import type { FundingSettings } from "./fundingSettings.ts"

/** A question: a path below the service's own, parameters that are sent when they are defined, the longest answer. */
export interface Question {
  readonly path: `/v1/${string}`
  readonly params: Readonly<Record<string, string | undefined>>
  readonly maxBytes: number
}

/** An answer that the protocol knows, not yet decoded. */
export interface Reply {
  readonly status: 200 | 404
  readonly text: string
}

/** Failures in a row after which the service is left alone, at first for a second and never for much longer than 30. */
const FAILURES = 5
const REST = Schedule.exponential("1 second").pipe(Schedule.upTo({ duration: "30 seconds" }))
const LONGEST_REST_SECONDS = 300

/** What `Retry-After` asks for in seconds, within reason. */
const restAsked = (header: string | undefined): { readonly retryAfterMs?: number } =>
  header !== undefined && /^[0-9]{1,6}$/u.test(header)
    ? { retryAfterMs: Math.min(Number(header), LONGEST_REST_SECONDS) * 1000 }
    : {}

const refusedStatus = ({ headers, status }: HttpClientResponse.HttpClientResponse): FundingUnavailable => {
  const detail = `HTTP ${status}`
  const rest = restAsked(headers["retry-after"])
  if (status === 429) {
    return new FundingUnavailable({ reason: "rate_limited", detail, ...rest })
  }
  const reason = status >= 500 || status === 408 ? "unreachable" : "malformed"
  return new FundingUnavailable({ reason, detail, ...rest })
}

// The error's own message quotes the request, and the request says who asks for what.
const brokenOff = ({ reason }: HttpClientError.HttpClientError): FundingUnavailable =>
  new FundingUnavailable({ reason: "unreachable", detail: reason._tag })

const malformed = (detail: string) => new FundingUnavailable({ reason: "malformed", detail })

const textOf = ({ stream }: HttpClientResponse.HttpClientResponse, maxBytes: number) =>
  boundedText(stream, maxBytes).pipe(Effect.catchTag("UnusableText", ({ detail }) => Effect.fail(malformed(detail))))

// One answer that is wrong says nothing about how the service fares.
const outcomeOf = (exit: Exit.Exit<Reply, FundingUnavailable>): CircuitBreaker.Outcome => {
  if (Exit.isSuccess(exit)) {
    return CircuitBreaker.success
  }
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  return error?.reason === "malformed"
    ? CircuitBreaker.ignored
    : CircuitBreaker.failure({ retryAfter: error?.retryAfterMs })
}

const leftAlone = ({ reason }: CircuitBreaker.CircuitBreakerError): FundingUnavailable =>
  new FundingUnavailable({
    reason: "unreachable",
    detail: "the service is left alone for a while",
    retryAfterMs: reason._tag === "CircuitOpen" ? Duration.toMillis(reason.retryAfter) : 1000
  })

const requestOf = ({ token, url }: FundingSettings, { params, path }: Question) => {
  const request = HttpClientRequest.get(url + path).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.setUrlParams(params)
  )
  return token === null ? request : HttpClientRequest.bearerToken(request, Redacted.value(token))
}

/** Asks the service, and once more when it could not be reached and does not ask for patience. */
export const makeAsk = Effect.fnUntraced(function* (settings: FundingSettings) {
  const client = yield* HttpClient.HttpClient
  const breaker = yield* CircuitBreaker.make({ tripPolicy: CircuitBreaker.consecutive(FAILURES), openDuration: REST })
  const { timeout } = settings

  const attempt = Effect.fnUntraced(
    function* (question: Question) {
      const response = yield* client.execute(requestOf(settings, question))
      const { status } = response
      const text = textOf(response, question.maxBytes)
      if (status !== 200 && status !== 404) {
        // A body that nobody reads keeps its connection.
        yield* Effect.ignore(text)
        return yield* refusedStatus(response)
      }
      const reply: Reply = { status, text: yield* text }
      return reply
    },
    Effect.catchTag("HttpClientError", (error) => Effect.fail(brokenOff(error)))
  )

  return (question: Question): Effect.Effect<Reply, FundingUnavailable> =>
    attempt(question).pipe(
      Effect.retry({
        times: 1,
        while: ({ reason, retryAfterMs }) => reason === "unreachable" && retryAfterMs === undefined
      }),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () =>
          Effect.fail(new FundingUnavailable({ reason: "timeout", detail: `no answer in ${Duration.format(timeout)}` }))
      }),
      breaker.execute({ key: "funding", classify: outcomeOf }),
      Effect.mapError((error) => (error._tag === "FundingUnavailable" ? error : leftAlone(error))),
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )
})

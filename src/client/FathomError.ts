import { Clock, Data, Effect, Option, Predicate, Schema } from "effect"
import { HttpClientError, type HttpClientResponse } from "effect/http"
import { catalogue, type ErrorCode } from "../api/errors/catalogue.ts"
import { ErrorDetail, type Problem } from "../api/errors/Problem.ts"
import { retryAfterMs } from "./retry.ts"

/** Codes of failures that the client itself detects. */
export type ClientCode =
  /** The call does not fit the contract; nothing was sent. */
  | "invalid_call"
  /** No response arrived. */
  | "connection_lost"
  /** The response does not fit the contract. */
  | "invalid_answer"
  /** A stream sent neither frames nor heartbeats for too long. */
  | "stream_silent"
  /** A stream ended without its last frame. */
  | "stream_broken"
  /** The account tracks no wallets. */
  | "no_tracked_wallets"
  /** The tracker closed the socket permanently; the message has the close code. */
  | "tracker_closed"
  /** The market socket was closed permanently; the message has the close code. */
  | "market_closed"

/** The error of a failed call: a problem of the contract, or a failure that the client detected. */
export class FathomError extends Data.TaggedError("FathomError")<{
  /** Status of the response; null without a response. */
  readonly status: number | null
  /** Branch on this. A newer service may send codes that are not listed here. */
  readonly code: ErrorCode | ClientCode | (string & {})
  readonly message: string
  readonly requestId: string | null
  /** `Retry-After` in milliseconds; null without one. */
  readonly retryAfterMs: number | null
  readonly details: ReadonlyArray<ErrorDetail>
}> {}

const WireEnvelope = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.Struct({
      code: Schema.String,
      message: Schema.String,
      details: Schema.optionalKey(Schema.Array(ErrorDetail))
    }),
    requestId: Schema.NullOr(Schema.String)
  })
)

const decodeEnvelope = Schema.decodeUnknownOption(WireEnvelope)

/** An error that the client detected. */
export const clientError = (code: ClientCode, message: string, status: number | null = null): FathomError =>
  new FathomError({ status, code, message, requestId: null, retryAfterMs: null, details: [] })

const ofResponse = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { headers, status } = response
  const envelope = decodeEnvelope(yield* Effect.orElseSucceed(response.text, () => ""))
  const requestId = headers["x-request-id"] ?? null
  const waits = retryAfterMs(headers["retry-after"], yield* Clock.currentTimeMillis)
  if (Option.isNone(envelope)) {
    const message = `The response has status ${status} and no error envelope.`
    return new FathomError({ status, code: "invalid_answer", message, requestId, retryAfterMs: waits, details: [] })
  }
  const { code, details = [], message } = envelope.value.error
  return new FathomError({
    status,
    code,
    message,
    requestId: envelope.value.requestId ?? requestId,
    retryAfterMs: waits,
    details
  })
})

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

const isProblem = (failure: unknown): failure is Problem =>
  Predicate.hasProperty(failure, "error") &&
  Predicate.hasProperty(failure.error, "code") &&
  typeof failure.error.code === "string" &&
  failure.error.code in catalogue

const ofProblem = ({ error: { code, details = [], message }, requestId }: Problem) =>
  new FathomError({ status: catalogue[code].status, code, message, requestId, retryAfterMs: null, details })

const asFathomError = Effect.fnUntraced(function* (
  failure: unknown,
  response: HttpClientResponse.HttpClientResponse | undefined
) {
  if (failure instanceof FathomError) {
    return failure
  }
  if (response !== undefined && response.status >= 400) {
    return yield* ofResponse(response)
  }
  if (isProblem(failure)) {
    return ofProblem(failure)
  }
  if (HttpClientError.isHttpClientError(failure) && failure.reason._tag === "TransportError") {
    return clientError("connection_lost", failure.message)
  }
  if (response === undefined) {
    return clientError("invalid_call", messageOf(failure))
  }
  return clientError("invalid_answer", messageOf(failure), response.status)
})

/**
 * Turns every failure of a call into a `FathomError`. `last` holds the last response of the service, if one arrived.
 */
export const withFathomError = <A, R>(
  call: Effect.Effect<A, unknown, R>,
  last: { readonly response?: HttpClientResponse.HttpClientResponse | undefined } = {}
): Effect.Effect<A, FathomError, R> =>
  Effect.catch(call, (failure) => Effect.flatMap(asFathomError(failure, last.response), Effect.fail))

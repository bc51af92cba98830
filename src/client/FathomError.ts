import { Clock, Data, Effect, Option, Predicate, Schema } from "effect"
import { HttpClientError, type HttpClientResponse } from "effect/http"
import { catalogue, type ErrorCode } from "../api/catalogue.ts"
import { ErrorDetail, type Problem } from "../api/Problem.ts"
import { retryAfterMs } from "./retry.ts"

/** What can go wrong on this side of the wire. */
export type ClientCode =
  /** The call does not fit the contract; nothing was sent. */
  | "invalid_call"
  /** Nothing came back. */
  | "connection_lost"
  /** Something came back that the contract does not know. */
  | "invalid_answer"
  /** A stream stopped saying even that it is alive. */
  | "stream_silent"
  /** A stream ended without its last frame. */
  | "stream_broken"
  /** The account tracks no wallets, so there is nothing to listen to. */
  | "no_tracked_wallets"
  /** The tracker closed the socket for good; the message says why. */
  | "tracker_closed"

/** A call that came to nothing: in the words of the contract, or of this client where the service said nothing. */
export class FathomError extends Data.TaggedError("FathomError")<{
  /** Of the answer; null when there was none. */
  readonly status: number | null
  /** Branch on this. A newer service may say words that are not listed here. */
  readonly code: ErrorCode | ClientCode | (string & {})
  readonly message: string
  readonly requestId: string | null
  /** How long the service asks to wait; null when it does not. */
  readonly retryAfterMs: number | null
  readonly details: ReadonlyArray<ErrorDetail>
}> {}

const Told = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.Struct({
      code: Schema.String,
      message: Schema.String,
      details: Schema.optionalKey(Schema.Array(ErrorDetail))
    }),
    requestId: Schema.NullOr(Schema.String)
  })
)

const decodeTold = Schema.decodeUnknownOption(Told)

/** An error of this side. */
export const ownError = (code: ClientCode, message: string, status: number | null = null): FathomError =>
  new FathomError({ status, code, message, requestId: null, retryAfterMs: null, details: [] })

const ofRefusal = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { headers, status } = response
  const told = decodeTold(yield* Effect.orElseSucceed(response.text, () => ""))
  const requestId = headers["x-request-id"] ?? null
  const waits = retryAfterMs(headers["retry-after"], yield* Clock.currentTimeMillis)
  if (Option.isNone(told)) {
    const message = `The answer has status ${status} and no explanation.`
    return new FathomError({ status, code: "invalid_answer", message, requestId, retryAfterMs: waits, details: [] })
  }
  const { code, details = [], message } = told.value.error
  return new FathomError({
    status,
    code,
    message,
    requestId: told.value.requestId ?? requestId,
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

/** What a failed call is told as. `response` is what the service sent last, if it sent anything. */
export const asFathomError = Effect.fnUntraced(function* (
  failure: unknown,
  response: HttpClientResponse.HttpClientResponse | undefined
) {
  if (failure instanceof FathomError) {
    return failure
  }
  if (response !== undefined && response.status >= 400) {
    return yield* ofRefusal(response)
  }
  if (isProblem(failure)) {
    return ofProblem(failure)
  }
  if (HttpClientError.isHttpClientError(failure) && failure.reason._tag === "TransportError") {
    return ownError("connection_lost", failure.message)
  }
  if (response === undefined) {
    return ownError("invalid_call", messageOf(failure))
  }
  return ownError("invalid_answer", messageOf(failure), response.status)
})

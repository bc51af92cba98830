/** JSON-RPC over HTTP: one call, its deadline, and when it is worth asking again. */
import { ByteSize, Clock, Duration, Effect, Redacted, Result, Schedule, Schema, Semaphore } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { boundedText } from "../../domain/boundedText.ts"
import { parseJson } from "../accounts/accountJson.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"
import type { RpcSettings } from "./rpcSettings.ts"

/** Asks the node; the value is the answer's result, not yet decoded. */
export type RpcCall = (
  method: string,
  params: ReadonlyArray<unknown>,
  timeout?: Duration.Duration
) => Effect.Effect<unknown, ChainUnavailable>

/** Why one attempt gave no result. */
interface Refusal {
  readonly unavailable: ChainUnavailable
  /** Whether asking again may help. */
  readonly again: boolean
  /** How long the node wants to be left alone. */
  readonly rest: Duration.Duration
}

const Answer = Schema.Struct({
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Finite, message: Schema.String }))
})
const decodeAnswer = Schema.decodeUnknownResult(Answer)

const MAX_BODY = ByteSize.toNumberUnsafe(ByteSize.mebibytes(256))
/** A node that asks for more patience than this is not waited for: the caller decides. */
const LONGEST_REST = Duration.seconds(10)
/** Codes by which a node says that it is behind, unhealthy, or not yet at the slot asked for. */
const BEHIND: ReadonlySet<number> = new Set([-32004, -32005, -32014, -32016])
/** HTTP's code, which most nodes put into the body too, and a common spelling of it. */
const TOO_MANY: ReadonlySet<number> = new Set([429, -32429])

const refuse = (
  reason: ChainUnavailable["reason"],
  detail: string,
  rest: Duration.Duration = Duration.zero,
  rpcCode?: number
): Refusal => ({
  unavailable: new ChainUnavailable({
    reason,
    detail,
    ...(rpcCode !== undefined && { rpcCode }),
    ...(Duration.isPositive(rest) && { retryAfterMs: Duration.toMillis(rest) })
  }),
  again: reason !== "invalid" && Duration.isLessThanOrEqualTo(rest, LONGEST_REST),
  rest
})

/** What `Retry-After` asks for, in seconds or as a date; zero when it is absent or means nothing. */
export const restAsked = (header: string | undefined, nowMs: number): Duration.Duration => {
  if (header === undefined) {
    return Duration.zero
  }
  const ms = /^\d+$/u.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isFinite(ms) ? Duration.millis(Math.max(0, ms)) : Duration.zero
}

const refusedStatus = (method: string, response: HttpClientResponse.HttpClientResponse, nowMs: number): Refusal => {
  const { status } = response
  const rest = restAsked(response.headers["retry-after"], nowMs)
  if (status === 429) {
    return refuse("rate_limited", `${method}: HTTP 429`, rest)
  }
  return refuse(status >= 500 || status === 408 ? "unreachable" : "invalid", `${method}: HTTP ${status}`, rest)
}

const resultOf = (method: string, body: string): Result.Result<unknown, Refusal> => {
  const answer = decodeAnswer(parseJson(body))
  if (Result.isFailure(answer)) {
    return Result.fail(refuse("invalid", `${method}: no JSON-RPC answer`))
  }
  const { error, result } = answer.success
  if (error !== undefined) {
    const reason = TOO_MANY.has(error.code) ? "rate_limited" : BEHIND.has(error.code) ? "unreachable" : "invalid"
    const detail = `${method}: ${error.code} ${error.message.slice(0, 200)}`
    return Result.fail(refuse(reason, detail, Duration.zero, error.code))
  }
  return result === undefined ? Result.fail(refuse("invalid", `${method}: no result`)) : Result.succeed(result)
}

/** Waits longer each time, and at least as long as the node asked for. */
const patience = (retries: number) =>
  Schedule.exponential("200 millis").pipe(
    Schedule.upTo({ times: retries }),
    Schedule.jittered,
    Schedule.setInputType<Refusal>(),
    Schedule.modifyDelay(({ duration, input }) => Effect.succeed(Duration.max(duration, input.rest)))
  )

/** Calls to one node, of which so many are in flight at a time. */
export const makeRpcCall = Effect.fnUntraced(function* (settings: RpcSettings) {
  const client = yield* HttpClient.HttpClient
  const permits = yield* Semaphore.make(settings.concurrency)
  const url = Redacted.value(settings.rpcUrl)

  const attempt = Effect.fnUntraced(
    function* (method: string, params: ReadonlyArray<unknown>) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
      const response = yield* client.execute(
        HttpClientRequest.post(url).pipe(HttpClientRequest.bodyText(body, "application/json"))
      )
      if (response.status !== 200) {
        return yield* Effect.fail(refusedStatus(method, response, yield* Clock.currentTimeMillis))
      }
      const text = yield* boundedText(response.stream, MAX_BODY).pipe(
        Effect.catchTag("UnusableText", ({ detail }) => Effect.fail(refuse("invalid", `${method}: ${detail}`)))
      )
      return yield* Effect.fromResult(resultOf(method, text))
    },
    Effect.catchTag("HttpClientError", (error) =>
      // The error's own message names the address of the node, which may hold a key.
      Effect.fail(refuse("unreachable", error.reason._tag))
    )
  )

  const call: RpcCall = (method, params, timeout = settings.timeout) =>
    attempt(method, params).pipe(
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(refuse("timeout", `${method}: no answer in ${Duration.format(timeout)}`))
      }),
      permits.withPermit,
      Effect.retry({ schedule: patience(settings.retries), while: ({ again }) => again }),
      Effect.mapError(({ unavailable }) => unavailable),
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )
  return call
})

/** JSON-RPC calls over HTTP, with deadlines and retries. */
import { ByteSize, Duration, Effect, Redacted, Result, Schema, Semaphore } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { retryTransient, withDeadline } from "../../operations/protection.ts"
import type { UpstreamFailure } from "../../operations/UpstreamFailure.ts"
import { type BodyRead, makeExchange, makeReadingExchange, type Reply } from "../../operations/upstreamHttp.ts"
import { parseJson } from "./accountJson.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import {
  EXPLAINED_STATUSES,
  isSearchRefused,
  isSearchTooLarge,
  isStatusRefused,
  SEARCH_METHOD
} from "./searchRefusal.ts"
import type { RpcNode, RpcSettings } from "./rpcSettings.ts"

/** Calls a method of the node and returns the result of the response, not decoded. */
export type RpcCall = (
  method: string,
  params: ReadonlyArray<unknown>,
  timeout?: Duration.Duration,
  /** The most bytes of the answer; 256 MiB by default. A longer answer fails as `isTooLarge`. */
  maxBytes?: number
) => Effect.Effect<unknown, ChainUnavailable>

const Response = Schema.Struct({
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Finite, message: Schema.String }))
})
const decodeResponse = Schema.decodeUnknownResult(Response)

/** The most bytes of an answer. */
export const MAX_BODY = ByteSize.toNumberUnsafe(ByteSize.mebibytes(256))
/** Error codes of a node that is behind, unhealthy, or not yet at the requested slot. */
const BEHIND: ReadonlySet<number> = new Set([-32004, -32005, -32014, -32016])
/** The HTTP status 429, which most nodes also put into the body, and a common variant of it. */
const TOO_MANY: ReadonlySet<number> = new Set([429, -32429])

/** The failure of a call whose answer is not what its method promises. */
export const unexpected = (method: string, detail = "an unexpected result"): ChainUnavailable =>
  new ChainUnavailable({ reason: "invalid", detail: `${method}: ${detail}` })

/** Decodes the result of a call. Fails as `unexpected` when the result has another form. */
export const decodeAnswer = <A>(method: string, schema: Schema.ConstraintCodec<A, unknown>) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (result: unknown): Effect.Effect<A, ChainUnavailable> =>
    Effect.mapError(decode(result), () => unexpected(method))
}

/** Turns the failure of an HTTP request into the failure of its call. */
export const failedCall =
  (method: string) =>
  ({ detail, isTooLarge, reason, retryAfterMs }: UpstreamFailure): ChainUnavailable =>
    new ChainUnavailable({
      reason: reason === "malformed" ? "invalid" : reason,
      detail: `${method}: ${detail}`,
      ...(isTooLarge === true && { isTooLarge }),
      ...(retryAfterMs !== undefined && { retryAfterMs })
    })

/** Adds the node's host to a refusal. */
const refusedBy = (failure: ChainUnavailable, { host }: RpcNode): ChainUnavailable => {
  const { detail, isRefused, isTooLarge = false, reason, rpcCode } = failure
  return isRefused === true
    ? new ChainUnavailable({
        reason,
        detail,
        isRefused,
        isTooLarge,
        node: host,
        ...(rpcCode !== undefined && { rpcCode })
      })
    : failure
}

/** The result of a JSON-RPC response. An error in the response is a failure. */
export const resultOf = (method: string, body: string): Result.Result<unknown, ChainUnavailable> => {
  const response = decodeResponse(parseJson(body))
  if (Result.isFailure(response)) {
    return Result.fail(unexpected(method, "not a JSON-RPC response"))
  }
  const { error, result } = response.success
  if (error !== undefined) {
    const { code, message } = error
    const reason = TOO_MANY.has(code) ? "rate_limited" : BEHIND.has(code) ? "unreachable" : "invalid"
    const detail = `${method}: ${code} ${message.slice(0, 200)}`
    const isRefused = method === SEARCH_METHOD && reason === "invalid" && isSearchRefused(error)
    const marks = { isRefused, isTooLarge: isSearchTooLarge(error) }
    return Result.fail(new ChainUnavailable({ reason, detail, rpcCode: code, ...(isRefused && marks) }))
  }
  return result === undefined ? Result.fail(unexpected(method, "no result")) : Result.succeed(result)
}

/** The result of a reply. The body of a refused request may hold the reason. */
const resultOfReply = (method: string, { status, text }: Reply): Result.Result<unknown, ChainUnavailable> => {
  if (status === 200) {
    return resultOf(method, text)
  }
  const result = resultOf(method, text)
  if (Result.isFailure(result) && result.failure.rpcCode !== undefined && !isStatusRefused(status)) {
    return result
  }
  const words = Result.isFailure(result) && result.failure.rpcCode !== undefined ? `, ${result.failure.detail}` : ""
  const detail = `${method}: HTTP ${status}${words}`
  return Result.fail(
    new ChainUnavailable({ reason: "invalid", detail, ...(isStatusRefused(status) && { isRefused: true }) })
  )
}

/** The deadline of the first attempt when there is another node to go to. Each further attempt has twice as long. */
const FIRST_DEADLINE = Duration.seconds(2)

/** Settings of calls to one node. */
export type CallSettings = Pick<RpcSettings, "concurrency" | "retries" | "timeout">

/** Which node each attempt goes to. */
export interface CallTarget {
  readonly node: () => RpcNode
  /** True when attempts may go to another node. The first attempts then have short deadlines. */
  readonly hasOthers?: boolean
  /** Called when an attempt failed for a reason that may not hold for another node. */
  readonly onFailure?: (node: RpcNode, failure: ChainUnavailable) => void
}

/** The code of an unhealthy node. The other codes of `BEHIND` concern one request. */
const UNHEALTHY = -32005

/** True for a failure that may not happen on another node: no answer, a rate limit, or an unhealthy node. */
export const isOfNode = ({ reason, rpcCode }: ChainUnavailable): boolean =>
  reason === "rate_limited" || (reason !== "invalid" && (rpcCode === undefined || rpcCode === UNHEALTHY))

/** A call, and how its request is sent and its answer read, once. */
interface Sending<A> {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
  readonly timeout?: Duration.Duration
  readonly send: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<Result.Result<A, ChainUnavailable>, UpstreamFailure>
}

/** Attempts of calls to nodes, with at most `concurrency` calls in flight. Redirects are not followed. */
const makeAttempts = Effect.fnUntraced(function* (settings: CallSettings, target: CallTarget) {
  const permits = yield* Semaphore.make(settings.concurrency)
  const { hasOthers = false, onFailure = () => undefined } = target

  return <A>({ method, params, send, timeout = settings.timeout }: Sending<A>): Effect.Effect<A, ChainUnavailable> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    const attempt = (node: RpcNode, times: number) => {
      const post = HttpClientRequest.post(Redacted.value(node.rpcUrl))
      const patience = Duration.times(FIRST_DEADLINE, 2 ** times)
      return send(HttpClientRequest.bodyText(post, body, "application/json")).pipe(
        withDeadline(hasOthers ? Duration.min(timeout, patience) : timeout),
        Effect.mapError(failedCall(method)),
        Effect.flatMap((result) => Effect.fromResult(Result.mapError(result, (failure) => refusedBy(failure, node)))),
        Effect.tapError((failure) => Effect.sync(() => (isOfNode(failure) ? onFailure(node, failure) : undefined)))
      )
    }
    return Effect.suspend(() => {
      let times = 0
      return Effect.suspend(() => attempt(target.node(), times++)).pipe(
        permits.withPermit,
        retryTransient(settings.retries)
      )
    })
  }
})

/** Calls nodes, with at most `concurrency` calls in flight. Redirects are not followed. */
export const makeRpcCall = Effect.fnUntraced(function* (settings: CallSettings, target: CallTarget) {
  const exchange = yield* makeExchange
  const attempts = yield* makeAttempts(settings, target)

  const call: RpcCall = (method, params, timeout, maxBytes = MAX_BODY) => {
    const rules = { maxBytes, ...(method === SEARCH_METHOD && { statuses: EXPLAINED_STATUSES }) }
    return attempts({
      method,
      params,
      ...(timeout !== undefined && { timeout }),
      send: (request) => Effect.map(exchange(request, rules), (reply) => resultOfReply(method, reply))
    })
  }
  return call
})

/** Calls a method of the node and reads the answer while it arrives. Each attempt makes a reader. */
export type ReadingRpcCall = <A>(
  method: string,
  params: ReadonlyArray<unknown>,
  reader: () => BodyRead<Result.Result<A, ChainUnavailable>>
) => Effect.Effect<A, ChainUnavailable>

/** Like `makeRpcCall`, for answers that are read while they arrive. */
export const makeReadingRpcCall: (
  settings: CallSettings,
  target: CallTarget
) => Effect.Effect<ReadingRpcCall, never, HttpClient.HttpClient> = Effect.fnUntraced(function* (settings, target) {
  const exchange = yield* makeReadingExchange
  const attempts = yield* makeAttempts(settings, target)
  return (method, params, reader) =>
    attempts({ method, params, send: (request) => Effect.suspend(() => exchange(request, reader())) })
})

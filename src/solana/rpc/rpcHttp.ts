/** JSON-RPC over HTTP: a call with its deadline and its retries. */
import { ByteSize, type Duration, Effect, Redacted, Result, Schema, Semaphore } from "effect"
import { HttpClientRequest } from "effect/http"
import { retryTransient, withDeadline } from "../../upstream/protection.ts"
import { makeExchange } from "../../upstream/upstreamHttp.ts"
import { parseJson } from "../accounts/accountJson.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"
import type { RpcSettings } from "./rpcSettings.ts"

/** Calls a method of the node; the value is the result of the response, not decoded. */
export type RpcCall = (
  method: string,
  params: ReadonlyArray<unknown>,
  timeout?: Duration.Duration
) => Effect.Effect<unknown, ChainUnavailable>

const Response = Schema.Struct({
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Finite, message: Schema.String }))
})
const decodeResponse = Schema.decodeUnknownResult(Response)

const MAX_BODY = ByteSize.toNumberUnsafe(ByteSize.mebibytes(256))
/** Error codes of a node that is behind, unhealthy, or not yet at the slot asked for. */
const BEHIND: ReadonlySet<number> = new Set([-32004, -32005, -32014, -32016])
/** HTTP's status, which most nodes put into the body too, and a common variant of it. */
const TOO_MANY: ReadonlySet<number> = new Set([429, -32429])

const invalid = (detail: string) => new ChainUnavailable({ reason: "invalid", detail })

const resultOf = (method: string, body: string): Result.Result<unknown, ChainUnavailable> => {
  const response = decodeResponse(parseJson(body))
  if (Result.isFailure(response)) {
    return Result.fail(invalid(`${method}: not a JSON-RPC response`))
  }
  const { error, result } = response.success
  if (error !== undefined) {
    const { code, message } = error
    const reason = TOO_MANY.has(code) ? "rate_limited" : BEHIND.has(code) ? "unreachable" : "invalid"
    const detail = `${method}: ${code} ${message.slice(0, 200)}`
    return Result.fail(new ChainUnavailable({ reason, detail, rpcCode: code }))
  }
  return result === undefined ? Result.fail(invalid(`${method}: no result`)) : Result.succeed(result)
}

/** Calls to one node, at most `concurrency` of them in flight. */
export const makeRpcCall = Effect.fnUntraced(function* (settings: RpcSettings) {
  const exchange = yield* makeExchange
  const permits = yield* Semaphore.make(settings.concurrency)
  const post = HttpClientRequest.post(Redacted.value(settings.rpcUrl))

  const call: RpcCall = (method, params, timeout = settings.timeout) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    return exchange(HttpClientRequest.bodyText(post, body, "application/json"), { maxBytes: MAX_BODY }).pipe(
      withDeadline(timeout),
      Effect.mapError(
        ({ detail, reason, retryAfterMs }) =>
          new ChainUnavailable({
            reason: reason === "malformed" ? "invalid" : reason,
            detail: `${method}: ${detail}`,
            ...(retryAfterMs !== undefined && { retryAfterMs })
          })
      ),
      Effect.flatMap(({ text }) => Effect.fromResult(resultOf(method, text))),
      permits.withPermit,
      retryTransient(settings.retries)
    )
  }
  return call
})

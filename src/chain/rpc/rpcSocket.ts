/** JSON-RPC over one WebSocket: calls, their responses, and notifications. */
import { Deferred, Duration, Effect, Redacted, Result, Schema, type Scope } from "effect"
import { Socket } from "effect/socket"
import { parseJson } from "./accountJson.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"

export interface Notification {
  readonly method: string
  readonly subscription: number
  readonly result: unknown
}

/** An open connection. */
export interface RpcSocket {
  /** Calls and waits for the response. `onResult` runs before any later message is processed. */
  readonly call: (
    method: string,
    params: ReadonlyArray<unknown>,
    onResult: (result: unknown) => void
  ) => Effect.Effect<void, ChainUnavailable>
  /** Calls without waiting for the response. */
  readonly send: (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<void, ChainUnavailable>
  /** Fails when the connection ends. */
  readonly closed: Effect.Effect<never, ChainUnavailable>
}

interface PendingCall {
  readonly method: string
  readonly onResult: (result: unknown) => void
  readonly done: Deferred.Deferred<void, ChainUnavailable>
}

// Subscription ids may exceed 2^53. They are only compared with each other.
const NotificationFrame = Schema.Struct({
  method: Schema.String,
  params: Schema.Struct({ subscription: Schema.Finite, result: Schema.Unknown })
})
const ResponseFrame = Schema.Struct({
  id: Schema.Int,
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Finite, message: Schema.String }))
})
const decodeFrame = Schema.decodeUnknownResult(Schema.Union([NotificationFrame, ResponseFrame]))

/** Bytes of the largest account that the chain allows, in base64, with the JSON around it. */
const MAX_FRAME = 16 * 1024 * 1024
/** The most unread bytes, for WebSocket implementations that can count them. */
const MAX_UNREAD = 4 * MAX_FRAME

const lost = (error: Socket.SocketError): ChainUnavailable =>
  new ChainUnavailable({
    reason: error.reason._tag === "SocketOpenError" && error.reason.kind === "Timeout" ? "timeout" : "unreachable",
    detail: `the socket ended: ${error.reason._tag}`
  })

/** Connects. Passes notifications on in order of arrival, and calls `onGarbage` for frames it cannot decode. */
export const openRpcSocket = Effect.fnUntraced(function* (options: {
  readonly url: Redacted.Redacted
  /** The deadline of a call. */
  readonly timeout: Duration.Duration
  readonly openTimeout: Duration.Duration
  readonly onNotification: (notification: Notification) => void
  readonly onGarbage: () => void
}): Effect.fn.Return<RpcSocket, ChainUnavailable, Scope.Scope | Socket.WebSocketConstructor> {
  const { timeout, onGarbage, onNotification } = options
  const waiting = new Map<number, PendingCall>()
  const ended = yield* Deferred.make<never, ChainUnavailable>()
  let lastId = 0

  const socket = yield* Socket.makeWebSocket(Redacted.value(options.url), {
    openTimeout: options.openTimeout,
    highWaterMark: MAX_UNREAD
  })
  const { pull } = yield* Effect.mapError(socket.reader, lost)
  const writer = yield* socket.writer

  const respond = ({ id, result, error }: typeof ResponseFrame.Type) => {
    const pending = waiting.get(id)
    if (pending === undefined) {
      return
    }
    waiting.delete(id)
    if (error === undefined && result !== undefined) {
      pending.onResult(result)
      Deferred.doneUnsafe(pending.done, Effect.void)
      return
    }
    const detail = `${pending.method}: ${error?.code ?? "no result"} ${error?.message.slice(0, 200) ?? ""}`
    Deferred.doneUnsafe(pending.done, Effect.fail(new ChainUnavailable({ reason: "invalid", detail })))
  }

  const take = (frame: string) => {
    const decoded = decodeFrame(parseJson(frame))
    if (Result.isFailure(decoded)) {
      onGarbage()
    } else if ("params" in decoded.success) {
      onNotification({ method: decoded.success.method, ...decoded.success.params })
    } else {
      respond(decoded.success)
    }
  }

  const decoder = new TextDecoder()
  const read = Effect.gen(function* () {
    for (const frame of yield* Effect.mapError(pull, lost)) {
      if (frame.length > MAX_FRAME) {
        return yield* new ChainUnavailable({ reason: "invalid", detail: `a frame of ${frame.length} bytes` })
      }
      take(typeof frame === "string" ? frame : decoder.decode(frame))
    }
  })
  yield* read.pipe(
    Effect.forever,
    Effect.catch((error) => Deferred.fail(ended, error)),
    Effect.forkScoped({ startImmediately: true })
  )

  const write = (id: number, method: string, params: ReadonlyArray<unknown>) =>
    writer.write(JSON.stringify({ jsonrpc: "2.0", id, method, params })).pipe(Effect.mapError(lost))
  const closed = Deferred.await(ended)

  const call: RpcSocket["call"] = Effect.fnUntraced(function* (method, params, onResult) {
    const id = ++lastId
    const done = Deferred.makeUnsafe<void, ChainUnavailable>()
    waiting.set(id, { method, onResult, done })
    yield* write(id, method, params)
    yield* Deferred.await(done).pipe(
      Effect.raceFirst(closed),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () =>
          Effect.fail(
            new ChainUnavailable({ reason: "timeout", detail: `${method}: no answer in ${Duration.format(timeout)}` })
          )
      }),
      Effect.ensuring(Effect.sync(() => waiting.delete(id)))
    )
  })

  return { call, send: (method, params) => Effect.suspend(() => write(++lastId, method, params)), closed }
})

import { Clock, Duration, Effect, Queue, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { type Socket } from "effect/socket"
import type { Block } from "../chain/Bank.ts"
import type { Faults } from "./Faults.ts"
import { failure, invalidRequest, parseError, readCall, readJson, success } from "./jsonRpc.ts"
import type { NodeState } from "./rpcMethods.ts"
import { makeSubscriptions, type Subscriptions } from "./subscriptions.ts"

/** The node's side of one WebSocket. */
export interface Connection {
  readonly publish: (block: Block) => void
  /** Drops the connection without a closing handshake. */
  readonly cut: () => void
}

/** Frames that may be sent from `dueMs` on, by the process clock. */
interface Batch {
  readonly frames: ReadonlyArray<string>
  readonly dueMs: number
}

const decoder = new TextDecoder()

const answerFrame = (subscriptions: Subscriptions, text: string): string => {
  const parsed = readJson(text)
  if (parsed === undefined) {
    return failure(null, parseError)
  }
  const call = readCall(parsed)
  if (call === null) {
    return failure(null, invalidRequest)
  }
  return Result.match(subscriptions.call(call.method, call.params), {
    onSuccess: (result) => success(call.id, result),
    onFailure: (reason) => failure(call.id, reason)
  })
}

/**
 * Disturbs the order of frames: `reorder` sends every other slot after the next one, `duplicates` sends frames twice.
 */
const makeDisorder = (faults: Faults) => {
  let held: ReadonlyArray<string> = []
  return (frames: ReadonlyArray<string>): ReadonlyArray<string> => {
    const { reorder, duplicates } = faults.current()
    const sent = duplicates ? frames.flatMap((frame) => [frame, frame]) : frames
    const late = held
    held = reorder && late.length === 0 ? sent : []
    return held.length > 0 ? [] : [...sent, ...late]
  }
}

/** Serves one WebSocket client until either side closes it. */
export const runConnection = Effect.fnUntraced(function* (options: {
  readonly request: HttpServerRequest.HttpServerRequest
  /** The TCP connection under the WebSocket. */
  readonly wire: { destroy(): unknown; destroySoon(): void }
  readonly state: NodeState
  readonly faults: Faults
  readonly connections: Set<Connection>
  readonly nextId: () => number
}) {
  const { request, wire, state, faults, connections, nextId } = options
  const socket: Socket.Socket = yield* request.upgrade
  const clock = yield* Clock.Clock
  const outbox = yield* Queue.unbounded<Batch>()
  const subscriptions = makeSubscriptions(state, nextId)
  const disorder = makeDisorder(faults)

  const send = (frames: ReadonlyArray<string>): void => {
    const { http, lag } = faults.current()
    if (http !== "frozen" && frames.length > 0) {
      Queue.offerUnsafe(outbox, { frames, dueMs: clock.currentTimeMillisUnsafe() + Duration.toMillis(lag) })
    }
  }

  const connection: Connection = {
    publish: (block) => send(disorder(subscriptions.framesOf(block))),
    cut: () => void wire.destroy()
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => connections.add(connection)),
    () =>
      Effect.sync(() => {
        connections.delete(connection)
        // A client that never answers the closing handshake must not keep the server open.
        wire.destroySoon()
      })
  )

  const { pull } = yield* socket.reader
  const writer = yield* socket.writer

  const read = Effect.forever(
    Effect.map(pull, (messages) => {
      for (const message of messages) {
        send([answerFrame(subscriptions, typeof message === "string" ? message : decoder.decode(message))])
      }
    })
  )
  const write = Effect.forever(
    Effect.gen(function* () {
      const { frames, dueMs } = yield* Queue.take(outbox)
      const early = dueMs - clock.currentTimeMillisUnsafe()
      if (early > 0) {
        yield* Effect.sleep(Duration.millis(early))
      }
      for (const frame of frames) {
        yield* writer.write(frame)
      }
    })
  )
  // The client is gone, so nobody would get the error.
  yield* Effect.ignore(Effect.raceFirst(read, write))
  return HttpServerResponse.empty()
}, Effect.scoped)

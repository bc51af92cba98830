/** A quote session as a streamed response: frames, heartbeats, and a cut for readers that do not read. */
import { type Cause, Duration, Effect, type Fiber, Latch, Option, Queue, Random, type Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { StreamTerms } from "../../domain/quotes/QuoteStream.ts"
import { uuidV4 } from "../../domain/uuid.ts"
import { QuoteSession } from "../../quotes/QuoteSession.ts"
import { frameText } from "./wireQuote.ts"

/** Most frames that wait for a slow reader. */
const BACKLOG = 64
const HEARTBEAT = Duration.seconds(20)
/** Time that a reader has for the last frames before its connection is cut. */
const CLOSE_GRACE = Duration.seconds(5)

const utf8 = new TextEncoder()
const RETRY = utf8.encode("retry: 3000\n\n")
const HEARTBEAT_COMMENT = utf8.encode(": hb\n\n")

/** A session and the response that carries it. */
export interface StreamedSession {
  readonly session: QuoteSession
  readonly response: HttpServerResponse.HttpServerResponse
  /** Bytes handed to the response so far. */
  readonly sentBytes: () => number
}

/**
 * Makes a session whose frames leave with the response. Both end with the scope; `request` is the fiber that writes the
 * response, interrupted when the reader has not taken the last frame in time.
 */
export const streamSession = Effect.fnUntraced(function* (
  terms: StreamTerms,
  request: Fiber.Fiber<unknown, unknown>
): Effect.fn.Return<StreamedSession, never, Scope.Scope> {
  const queue = yield* Queue.unbounded<Uint8Array, Cause.Done>()
  const over = yield* Latch.make()
  const id = uuidV4(yield* Random.Random).replaceAll("-", "")
  let sent = 0
  const offer = (bytes: Uint8Array) => {
    sent += bytes.length
    Queue.offerUnsafe(queue, bytes)
  }
  offer(RETRY)

  const session = new QuoteSession(`str_${id}`, terms, (frame) => {
    if (frame.event !== "close" && Queue.sizeUnsafe(queue) >= BACKLOG) {
      return false
    }
    offer(utf8.encode(frameText(frame)))
    if (frame.event === "close") {
      Queue.endUnsafe(queue)
      over.openUnsafe()
    }
    return true
  })

  const supervise = Effect.gen(function* () {
    while (Option.isNone(yield* Effect.timeoutOption(over.await, HEARTBEAT))) {
      if (Queue.sizeUnsafe(queue) < BACKLOG) {
        offer(HEARTBEAT_COMMENT)
      }
    }
    yield* Effect.sleep(CLOSE_GRACE)
    request.interruptUnsafe()
  })
  yield* Effect.forkScoped(supervise)

  const response = HttpServerResponse.stream(Stream.fromQueue(queue), {
    contentType: "text/event-stream",
    headers: { "x-accel-buffering": "no" }
  })
  return { session, response, sentBytes: () => sent }
})

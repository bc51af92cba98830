/** Streams a quote session as a response: frames, heartbeats, and a cut for readers that do not read. */
import { Duration, Effect, type Fiber, Latch, Option, type Scope } from "effect"
import { HttpServerResponse } from "effect/http"
import { Readable } from "node:stream"
import type { StreamTerms } from "../../api/schemas/QuoteStream.ts"
import { QuoteSession } from "../../quotes/QuoteSession.ts"
import { frameText } from "./wireQuote.ts"

/** Most frames that wait for a slow reader. */
const BACKLOG = 64
const HEARTBEAT = Duration.seconds(20)
/** How long a reader may take for the last frames before its connection is cut. */
const CLOSE_GRACE = Duration.seconds(5)

export const RETRY = "retry: 3000\n\n"
const HEARTBEAT_COMMENT = ": hb\n\n"

/** A session and the response that carries it. */
export interface StreamedSession {
  readonly session: QuoteSession
  readonly response: HttpServerResponse.HttpServerResponse
  /** Bytes handed to the response so far. */
  readonly sentBytes: () => number
}

export interface StreamWatch {
  /** Open once the last frame is written. */
  readonly over: Latch.Latch
  /** The fiber that writes the response. */
  readonly request: Fiber.Fiber<unknown, unknown>
  /** Writes a comment that shows that the stream is alive. */
  readonly beat: (comment: string) => void
}

/** Writes heartbeats until the stream is over. Cuts off a reader that does not take the last frame in time. */
export const watchStream = Effect.fnUntraced(function* ({ beat, over, request }: StreamWatch) {
  while (Option.isNone(yield* Effect.timeoutOption(over.await, HEARTBEAT))) {
    beat(HEARTBEAT_COMMENT)
  }
  yield* Effect.sleep(CLOSE_GRACE)
  request.interruptUnsafe()
})

/** The response of a stream of events. */
export const eventResponse = (events: Readable): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.raw(events, { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } })

/**
 * Makes a session whose frames leave with the response. Both end with the scope. `request` is the fiber that writes the
 * response; it is interrupted when the reader does not take the last frame in time.
 */
export const streamSession = Effect.fnUntraced(function* (
  terms: StreamTerms,
  request: Fiber.Fiber<unknown, unknown>
): Effect.fn.Return<StreamedSession, never, Scope.Scope> {
  // Frames reach the socket at once, without a fiber or a turn of the loop, as long as the reader keeps up.
  const frames = new Readable({ objectMode: true, read: () => undefined })
  const over = yield* Latch.make()
  const id = crypto.randomUUID().replaceAll("-", "")
  let sent = 0
  const push = (text: string) => {
    sent += Buffer.byteLength(text)
    frames.push(text)
  }
  push(RETRY)

  const session = new QuoteSession(`str_${id}`, terms, (frame) => {
    if (frame.event !== "close" && frames.readableLength >= BACKLOG) {
      return false
    }
    push(frameText(frame))
    if (frame.event === "close") {
      frames.push(null)
      over.openUnsafe()
    }
    return true
  })

  const beat = (comment: string) => {
    if (frames.readableLength < BACKLOG) {
      push(comment)
    }
  }
  yield* Effect.forkScoped(watchStream({ over, request, beat }))
  return { session, response: eventResponse(frames), sentBytes: () => sent }
})

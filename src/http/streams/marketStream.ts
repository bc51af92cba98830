/** A market connection as server-sent events: the frames of one subscription, numbered like on the socket. */
import { Clock, Deferred, Effect, type Fiber, Latch, Schema, type Scope } from "effect"
import type { HttpServerResponse } from "effect/http"
import { Readable } from "node:stream"
import type { MarketClose, StreamEnd } from "../../api/schemas/MarketClose.ts"
import { EndedFrame } from "../../api/schemas/MarketFrame.ts"
import { copyRest, type FrameRun, headOf, type SharedFrame } from "../../live/frames.ts"
import type { CloseCode, Control, LiveWire } from "../../live/LiveWire.ts"
import { eventResponse, RETRY, watchStream } from "./quoteStream.ts"

/** Why a stream ended, by the close code of its connection. */
const endings: Partial<Record<CloseCode, StreamEnd>> = {
  1012: "server_shutdown",
  1013: "slow_consumer",
  4403: "key_revoked",
  4409: "resumed_elsewhere"
}

type Ended = typeof EndedFrame.Type

const isEnded = Schema.is(EndedFrame)

const eventOf = (streamId: string, seq: number, { type }: SharedFrame, head: string) =>
  `id: ${streamId}:${seq}\nevent: ${type}\ndata: ${head}`

const END_OF_EVENT = "\n\n"

/** Frames as events, in one buffer. The heads are ASCII. */
const asEvents = (streamId: string, runs: ReadonlyArray<FrameRun>, sentAtMs: number): Buffer => {
  const all = runs.flatMap(({ firstSeq, frames, mark }) =>
    frames.map((frame, at) => {
      const seq = firstSeq + at
      return { frame, start: eventOf(streamId, seq, frame, headOf(frame.type, seq, sentAtMs, mark)) }
    })
  )
  const size = all.reduce((sum, { frame, start }) => sum + start.length + frame.length + END_OF_EVENT.length, 0)
  const bytes = Buffer.allocUnsafe(size)
  let end = 0
  for (const { frame, start } of all) {
    end += bytes.write(start, end, "latin1")
    end = copyRest(frame, bytes, end)
    end += bytes.write(END_OF_EVENT, end, "latin1")
  }
  return bytes
}

/** One event stream. Bytes that the response has not read count as not taken by the reader. */
export class EventWire implements LiveWire {
  readonly events = new Readable({ read: () => undefined })
  readonly over: Latch.Latch
  readonly #streamId: string
  readonly #clock: Clock.Clock
  readonly #began: (ended: Ended | null) => void
  #sent = 0
  // The byte position at which each write ends, and its number of frames. The oldest unsent write is first.
  #writes: Array<{ readonly end: number; readonly frames: number }> = []
  /**
   * Answers the connection's pings, because a response has none. A response that is not read is bounded by its bytes.
   */
  onPing: (nowMs: number) => void = () => undefined

  /** Calls `began` with null when the first frames are sent, or with the end of a subscription that never began. */
  constructor(streamId: string, clock: Clock.Clock, over: Latch.Latch, began: (ended: Ended | null) => void) {
    this.#streamId = streamId
    this.#clock = clock
    this.#began = began
    this.over = over
    this.write(RETRY)
  }

  /** Bytes handed to the response so far. */
  get sentBytes(): number {
    return this.#sent
  }

  write(text: string | Buffer): void {
    if (!this.over.isOpen()) {
      this.#sent += Buffer.byteLength(text)
      this.events.push(text)
    }
  }

  send(runs: ReadonlyArray<FrameRun>, sentAtMs: number, again = false): void {
    this.write(asEvents(this.#streamId, runs, sentAtMs))
    const frames = again ? 0 : runs.reduce((sum, run) => sum + run.frames.length, 0)
    this.#writes.push({ end: this.#sent, frames })
    this.#began(null)
  }

  sendControl(frame: Control): void {
    if (frame.type === "notice") {
      this.write(`event: notice\ndata: ${JSON.stringify(frame)}${END_OF_EVENT}`)
    } else if (isEnded(frame)) {
      this.#began(frame)
      this.finish(frame.code === "unsubscribed" ? "completed" : frame.code, frame.message, frame.retryAfterMs)
    }
  }

  unsentBytes(): number {
    return this.events.readableLength
  }

  unsentFrames(): number {
    const gone = this.#sent - this.events.readableLength
    const from = this.#writes.findIndex(({ end }) => end > gone)
    this.#writes = from === -1 ? [] : this.#writes.slice(from)
    return this.#writes.reduce((sum, { frames }) => sum + frames, 0)
  }

  ping(): void {
    this.onPing(this.#clock.currentTimeMillisUnsafe())
  }

  close(code: CloseCode, reason: string): void {
    const message = `The stream ended: ${reason}.`
    const sentAtMs = this.#clock.currentTimeMillisUnsafe()
    // A request whose subscription has not begun is answered with an error. Once it has begun, this has no effect.
    this.#began({ type: "ended", id: "", code: "data_unavailable", message, retryAfterMs: null, sentAtMs })
    this.finish(endings[code] ?? "failed", message)
  }

  /** Sends the last frame. Later calls have no effect. */
  finish(reason: StreamEnd, message: string, retryAfterMs: number | null = null): void {
    const sentAtMs = this.#clock.currentTimeMillisUnsafe()
    const frame: MarketClose = { type: "close", reason, message, retryAfterMs, sentAtMs }
    this.write(`event: close\ndata: ${JSON.stringify(frame)}${END_OF_EVENT}`)
    if (this.over.openUnsafe()) {
      this.events.push(null)
    }
  }
}

/** An event stream before its connection is opened. */
export interface MarketEvents {
  readonly wire: EventWire
  readonly response: HttpServerResponse.HttpServerResponse
  /** Completes with null when the subscription has begun, or with the end of a subscription that never began. */
  readonly began: Effect.Effect<Ended | null>
}

/** Makes a stream of events that ends with the scope. `request` is the fiber that writes its response. */
export const marketEvents = Effect.fnUntraced(function* (
  streamId: string,
  request: Fiber.Fiber<unknown, unknown>
): Effect.fn.Return<MarketEvents, never, Scope.Scope> {
  const over = yield* Latch.make()
  const began = yield* Deferred.make<Ended | null>()
  const clock = yield* Clock.Clock
  const wire = new EventWire(streamId, clock, over, (ended) => Deferred.doneUnsafe(began, Effect.succeed(ended)))
  yield* Effect.forkScoped(watchStream({ over, request, beat: (comment) => wire.write(comment) }))
  return { wire, response: eventResponse(wire.events), began: Deferred.await(began) }
})

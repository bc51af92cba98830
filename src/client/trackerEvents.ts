/** The tracker's live stream across reconnections. */
import { type Cause, Effect, Queue, Random, Schema, Stream } from "effect"
import { Socket } from "effect/socket"
import { ControlFrame, DataFrame } from "../domain/wallets/LiveFrame.ts"
import type { GroupId, RealtimeSession } from "../domain/wallets/Tracker.ts"
import type { FathomClient } from "./FathomClient.ts"
import { asFathomError, type FathomError, clientError } from "./FathomError.ts"
import { afterClose, isTransient, pauseMs } from "./reconnect.ts"
import { type TrackerEvent, TrackerMemory } from "./TrackerMemory.ts"

/** Timeout of a silent connection: two and a half heartbeats of twenty seconds. */
const SILENCE = "50 seconds"
/** Most frames that wait for the subscriber; the service holds twice as many for a resumption. */
const MOST_WAITING = 1000

/** Local close code of a silent connection. */
const SILENT = 1006

/** A text message, or the code of a close. */
type SocketEvent = string | { readonly code: number }

const decodeFrame = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Union([DataFrame, ControlFrame])))

const isData = (frame: DataFrame | ControlFrame): frame is DataFrame => "seq" in frame && frame.type !== "heartbeat"

/** Opens a socket; its messages in order, with the close last. Closed with the scope. */
const connect = Effect.fnUntraced(function* (url: string, firstMessage: string | null) {
  const make = yield* Socket.WebSocketConstructor
  const received = yield* Queue.unbounded<SocketEvent, Cause.Done>()
  const end = (code: number) => {
    Queue.offerUnsafe(received, { code })
    Queue.endUnsafe(received)
  }
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => make(url)),
    (open) => Effect.sync(() => open.close(1000))
  )
  socket.addEventListener("open", () => firstMessage !== null && socket.send(firstMessage))
  socket.addEventListener("close", (event) => end(event.code ?? SILENT))
  socket.addEventListener("message", (event) => {
    if (Queue.sizeUnsafe(received) < MOST_WAITING) {
      Queue.offerUnsafe(received, String(event.data))
      return
    }
    // A slow subscriber reconnects and resumes after the last frame that it read.
    end(SILENT)
    socket.close(1000)
  })
  return received
})

/** Options of a subscription. */
export interface SubscriptionOptions {
  /** Requests a session with control frames, whose heartbeats show that a quiet connection is alive. */
  readonly session: Effect.Effect<RealtimeSession, FathomError>
  /** Delivers control frames too. */
  readonly control?: boolean
}

class Subscription {
  private readonly memory = new TrackerMemory()
  private waitMs = 0
  private readonly options: SubscriptionOptions

  constructor(options: SubscriptionOptions) {
    this.options = options
  }

  /** One connection from its session to its close; a final null marks the end of the stream. */
  readonly connection: Stream.Stream<TrackerEvent | null, FathomError, Socket.WebSocketConstructor> = Stream.unwrap(
    Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(this.waitMs)
      this.waitMs = 0
      const session = yield* Effect.result(this.options.session)
      if (session._tag === "Failure") {
        return yield* isTransient(session.failure)
          ? Effect.as(this.pause(session.failure.retryAfterMs ?? 0), Stream.empty)
          : Effect.fail(session.failure)
      }
      const { message, wsUrl } = session.success
      if (wsUrl === "") {
        return yield* Effect.fail(clientError("no_tracked_wallets", message ?? "The account tracks no wallets."))
      }
      const received = yield* connect(wsUrl, this.memory.resumeMessage())
      return Stream.fromQueue(received).pipe(
        Stream.timeoutOrElse({ duration: SILENCE, orElse: () => Stream.succeed({ code: SILENT }) }),
        Stream.mapEffect((item) => (typeof item === "string" ? this.receive(item) : this.closed(item.code))),
        Stream.takeUntil(({ isOver }) => isOver),
        Stream.map(({ events }) => events),
        Stream.flattenIterable
      )
    })
  )

  private readonly receive = Effect.fnUntraced({ self: this }, function* (this: Subscription, text: string) {
    const frame = yield* Effect.mapError(decodeFrame(text), ({ message }) => clientError("invalid_answer", message))
    if (isData(frame)) {
      return { events: this.memory.take(frame), isOver: false }
    }
    if (this.memory.isStuck(frame)) {
      return yield* this.closed(SILENT)
    }
    return { events: this.options.control === true ? [frame] : [], isOver: false }
  })

  private readonly closed = Effect.fnUntraced({ self: this }, function* (this: Subscription, code: number) {
    const next = afterClose(code)
    if (next === "stop") {
      return yield* Effect.fail(clientError("tracker_closed", `The tracker closed the socket with code ${code}.`))
    }
    if (next === "after-a-pause") {
      yield* this.pause(0)
    }
    const events: ReadonlyArray<TrackerEvent | null> = next === "end" ? [null] : []
    return { events, isOver: true }
  })

  private readonly pause = (atLeastMs: number) =>
    Effect.map(Random.next, (jitter) => {
      this.waitMs = atLeastMs + pauseMs(this.memory.failures, jitter)
      this.memory.failures += 1
    })
}

/**
 * Every frame of the stream, each trade once, across reconnections; a lost connection is resumed where it stopped. A `gap`
 * marks events that could not be recovered. Ends when the service closes normally; fails when it rejects permanently.
 */
export const trackerEvents = (
  options: SubscriptionOptions
): Stream.Stream<TrackerEvent, FathomError, Socket.WebSocketConstructor> =>
  Stream.suspend(() => Stream.forever(Stream.scoped(new Subscription(options).connection))).pipe(
    Stream.takeWhile((event) => event !== null)
  )

/** The session request of the Effect client for `trackerEvents`: one group, or all wallets of the account. */
export const trackerSession = (
  client: FathomClient["Service"],
  group?: GroupId
): Effect.Effect<RealtimeSession, FathomError> =>
  client.tracker
    .session({ query: group === undefined ? { control: true } : { control: true, group } })
    .pipe(Effect.catch((failure) => Effect.flatMap(asFathomError(failure, undefined), Effect.fail)))

/** The tracker's live stream, connected for as long as somebody listens. */
import { type Cause, Effect, Queue, Random, Schema, Stream } from "effect"
import { Socket } from "effect/socket"
import { ControlFrame, DataFrame } from "../domain/wallets/LiveFrame.ts"
import type { GroupId, RealtimeSession } from "../domain/wallets/Tracker.ts"
import type { FathomClient } from "./FathomClient.ts"
import { asFathomError, type FathomError, ownError } from "./FathomError.ts"
import { afterClose, isPassing, pauseMs } from "./reconnect.ts"
import { type TrackerEvent, TrackerMemory } from "./TrackerMemory.ts"

/** Heartbeats come every twenty seconds: two of them and a half may be missed. */
const SILENCE = "50 seconds"
/** Frames that may wait for the listener; the service holds twice as many for those who come back. */
const MOST_WAITING = 1000

/** A code of our own for a connection that says nothing any more; it never leaves this file. */
const SILENT = 1006

/** What a socket says: a text, or the code it was closed with. */
type Said = string | { readonly code: number }

const decodeFrame = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Union([DataFrame, ControlFrame])))

const isData = (frame: DataFrame | ControlFrame): frame is DataFrame => "seq" in frame && frame.type !== "heartbeat"

/** A connection: what it says in order, its close last. It is closed with the scope. */
const connect = Effect.fnUntraced(function* (url: string, greeting: string | null) {
  const make = yield* Socket.WebSocketConstructor
  const said = yield* Queue.unbounded<Said, Cause.Done>()
  const end = (code: number) => {
    Queue.offerUnsafe(said, { code })
    Queue.endUnsafe(said)
  }
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => make(url)),
    (open) => Effect.sync(() => open.close(1000))
  )
  socket.addEventListener("open", () => greeting !== null && socket.send(greeting))
  socket.addEventListener("close", (event) => end(event.code ?? SILENT))
  socket.addEventListener("message", (event) => {
    if (Queue.sizeUnsafe(said) < MOST_WAITING) {
      Queue.offerUnsafe(said, String(event.data))
      return
    }
    // Whoever does not keep up takes the stream up again where it stopped reading.
    end(SILENT)
    socket.close(1000)
  })
  return said
})

/** How a listener asks for a session, and what it wants to hear. */
export interface Listening {
  /** Asks for a session with control frames, which prove that a quiet connection is alive. */
  readonly session: Effect.Effect<RealtimeSession, FathomError>
  /** Whether control frames are told, not only watched. */
  readonly control?: boolean
}

class Listener {
  private readonly memory = new TrackerMemory()
  private waitMs = 0
  private readonly options: Listening

  constructor(options: Listening) {
    this.options = options
  }

  /** One connection from its session to its end; a last null says that all is said. */
  readonly connection: Stream.Stream<TrackerEvent | null, FathomError, Socket.WebSocketConstructor> = Stream.unwrap(
    Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(this.waitMs)
      this.waitMs = 0
      const asked = yield* Effect.result(this.options.session)
      if (asked._tag === "Failure") {
        return yield* isPassing(asked.failure)
          ? Effect.as(this.pause(asked.failure.retryAfterMs ?? 0), Stream.empty)
          : Effect.fail(asked.failure)
      }
      const { message, wsUrl } = asked.success
      if (wsUrl === "") {
        return yield* Effect.fail(ownError("no_tracked_wallets", message ?? "The account tracks no wallets."))
      }
      const said = yield* connect(wsUrl, this.memory.greet())
      return Stream.fromQueue(said).pipe(
        Stream.timeoutOrElse({ duration: SILENCE, orElse: () => Stream.succeed({ code: SILENT }) }),
        Stream.mapEffect((item) => (typeof item === "string" ? this.hear(item) : this.closed(item.code))),
        Stream.takeUntil(({ isOver }) => isOver),
        Stream.map(({ events }) => events),
        Stream.flattenIterable
      )
    })
  )

  private readonly hear = Effect.fnUntraced({ self: this }, function* (this: Listener, text: string) {
    const frame = yield* Effect.mapError(decodeFrame(text), ({ message }) => ownError("invalid_answer", message))
    if (isData(frame)) {
      return { events: this.memory.take(frame), isOver: false }
    }
    if (this.memory.isStuck(frame)) {
      return yield* this.closed(SILENT)
    }
    return { events: this.options.control === true ? [frame] : [], isOver: false }
  })

  private readonly closed = Effect.fnUntraced({ self: this }, function* (this: Listener, code: number) {
    const next = afterClose(code)
    if (next === "stop") {
      return yield* Effect.fail(ownError("tracker_closed", `The tracker closed the socket with code ${code}.`))
    }
    if (next === "after-a-pause") {
      yield* this.pause(0)
    }
    const events: ReadonlyArray<TrackerEvent | null> = next === "end" ? [null] : []
    return { events, isOver: true }
  })

  private readonly pause = (atLeastMs: number) =>
    Effect.map(Random.next, (dice) => {
      this.waitMs = atLeastMs + pauseMs(this.memory.failures, dice)
      this.memory.failures += 1
    })
}

/**
 * Every frame of the stream, each trade once, across as many connections as it takes; after a connection is lost the stream
 * is taken up where it stopped. What could not be had again is told as a `gap`. Ends when the service closes normally; fails
 * when it refuses for good.
 */
export const trackerEvents = (
  listening: Listening
): Stream.Stream<TrackerEvent, FathomError, Socket.WebSocketConstructor> =>
  Stream.suspend(() => Stream.forever(Stream.scoped(new Listener(listening).connection))).pipe(
    Stream.takeWhile((event) => event !== null)
  )

/** A session for `trackerEvents` from the Effect client: of one group, or of all wallets of the account. */
export const trackerSession = (
  client: FathomClient["Service"],
  group?: GroupId
): Effect.Effect<RealtimeSession, FathomError> =>
  client.tracker
    .session({ query: group === undefined ? { control: true } : { control: true, group } })
    .pipe(Effect.catch((failure) => Effect.flatMap(asFathomError(failure, undefined), Effect.fail)))

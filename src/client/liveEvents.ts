/** A live stream that reconnects, whatever its socket carries. */
import { type Cause, Effect, Queue, Random, type Scope, Stream } from "effect"
import { Socket } from "effect/socket"
import { type ClientCode, clientError, type FathomError } from "./FathomError.ts"
import { afterClose, isTransient, pauseMs, SILENCE_MS } from "./reconnect.ts"

/** Most frames that wait for the subscriber. The service keeps twice as many for a resumption. */
const MOST_WAITING = 1000

/** Close code for a connection that the client itself finds silent. */
const SILENT = 1006

/** A text message, or the code of a close. */
type SocketEvent = string | { readonly code: number }

/** What the client does with a frame. */
export interface Taken<Event> {
  /** Null ends the stream. */
  readonly events: ReadonlyArray<Event | null>
  /** True when the connection is useless. */
  readonly isBroken?: boolean
  /** A message to send on the same connection after a pause. */
  readonly later?: { readonly message: () => string; readonly afterMs: number }
}

/** State of a stream that outlives its connections. */
export interface LiveProtocol<Event> {
  readonly name: string
  /** Code of the error after a permanent close. */
  readonly closedCode: ClientCode
  /** Consecutive connections without a frame that shows success. */
  failures: number
  /** Messages that open a connection. */
  opening(): ReadonlyArray<string>
  /** Handles the text of a frame. */
  take(text: string): Effect.Effect<Taken<Event>, FathomError>
}

/** A session. An empty address means that there is nothing to listen to. */
export interface LiveTicket {
  readonly wsUrl: string
  readonly message?: string
}

const connect = Effect.fnUntraced(function* (url: string, opening: ReadonlyArray<string>) {
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
  socket.addEventListener("open", () => opening.forEach((message) => socket.send(message)))
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
  return { received, socket }
})

class Subscription<Event> {
  #waitMs = 0
  readonly #session: Effect.Effect<LiveTicket, FathomError>
  readonly #protocol: LiveProtocol<Event>

  constructor(session: Effect.Effect<LiveTicket, FathomError>, protocol: LiveProtocol<Event>) {
    this.#session = session
    this.#protocol = protocol
  }

  /** One connection from its session to its close. A final null marks the end of the stream. */
  get connection(): Stream.Stream<Event | null, FathomError, Socket.WebSocketConstructor | Scope.Scope> {
    return Stream.unwrap(
      Effect.gen({ self: this }, function* () {
        yield* Effect.sleep(this.#waitMs)
        this.#waitMs = 0
        const session = yield* Effect.result(this.#session)
        if (session._tag === "Failure") {
          return yield* isTransient(session.failure)
            ? Effect.as(this.#pause(session.failure.retryAfterMs ?? 0), Stream.empty)
            : Effect.fail(session.failure)
        }
        const { message, wsUrl } = session.success
        if (wsUrl === "") {
          return yield* Effect.fail(clientError("no_tracked_wallets", message ?? "The account tracks no wallets."))
        }
        const { received, socket } = yield* connect(wsUrl, this.#protocol.opening())
        return Stream.fromQueue(received).pipe(
          Stream.timeoutOrElse({ duration: SILENCE_MS, orElse: () => Stream.succeed({ code: SILENT }) }),
          Stream.mapEffect((item) =>
            typeof item === "string" ? this.#receive(item, socket) : this.#closed(item.code)
          ),
          Stream.takeUntil(({ isOver }) => isOver),
          Stream.map(({ events }) => events),
          Stream.flattenIterable
        )
      })
    )
  }

  readonly #receive = Effect.fnUntraced(
    { self: this },
    function* (this: Subscription<Event>, text: string, socket: Socket.WebSocketLike) {
      const { events, isBroken = false, later } = yield* this.#protocol.take(text)
      if (later !== undefined) {
        const send = Effect.sync(() => socket.readyState === 1 && socket.send(later.message()))
        yield* Effect.forkScoped(Effect.delay(send, later.afterMs))
      }
      return isBroken ? yield* this.#closed(SILENT) : { events, isOver: false }
    }
  )

  readonly #closed = Effect.fnUntraced({ self: this }, function* (this: Subscription<Event>, code: number) {
    const next = afterClose(code)
    if (next === "stop") {
      const { closedCode, name } = this.#protocol
      return yield* Effect.fail(clientError(closedCode, `The ${name} closed the socket with code ${code}.`))
    }
    if (next === "after-a-pause") {
      yield* this.#pause(0)
    }
    const events: ReadonlyArray<Event | null> = next === "end" ? [null] : []
    return { events, isOver: true }
  })

  readonly #pause = (atLeastMs: number) =>
    Effect.map(Random.next, (jitter) => {
      this.#waitMs = atLeastMs + pauseMs(this.#protocol.failures, jitter)
      this.#protocol.failures += 1
    })
}

/**
 * The events of a stream across reconnections. Ends when the service closes normally; fails when it rejects
 * permanently.
 */
export const liveEvents = <Event>(
  session: Effect.Effect<LiveTicket, FathomError>,
  protocol: () => LiveProtocol<Event>
): Stream.Stream<Event, FathomError, Socket.WebSocketConstructor> =>
  Stream.suspend(() => {
    const subscription = new Subscription(session, protocol())
    return Stream.forever(Stream.scoped(Stream.suspend(() => subscription.connection)))
  }).pipe(Stream.takeWhile((event) => event !== null))

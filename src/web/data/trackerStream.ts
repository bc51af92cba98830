/** The live trades of tracked wallets: one socket at a time, resumed after a lost connection. */
import { afterClose, pauseMs, SILENCE_MS } from "../../client/reconnect.ts"
import { type DataFrameJson, type TrackerGap, TrackerMemory } from "../../client/TrackerMemory.ts"
import type { Answer } from "./contract.ts"
import { call, RequestFailed } from "./request.ts"

export type TrackedTrade = Answer<"GET /api/v1/tracker/trades">["trades"][number]

/**
 * State of the connection. `lost` until the next connection, `refused` for good, `idle` when no wallets are tracked.
 */
export type StreamState = "connecting" | "live" | "lost" | "refused" | "idle"

/** What the stream reports, in order. */
export interface StreamListener {
  readonly state: (state: StreamState) => void
  /** Replaces all trades shown, newest first. */
  readonly replace: (trades: ReadonlyArray<TrackedTrade>) => void
  readonly add: (trade: TrackedTrade) => void
  readonly gap: (gap: TrackerGap) => void
}

/** Close code for a connection that the page itself gives up. */
const GIVEN_UP = 1006

type Frame = DataFrameJson | Parameters<TrackerMemory["isStuck"]>[0]

const isData = (frame: Frame): frame is DataFrameJson => "seq" in frame && frame.type !== "heartbeat"

/** The URL of the socket on the host of this page. The content security policy refuses other hosts. */
const socketUrl = (wsUrl: string): string => {
  const { host, protocol } = globalThis.location
  const { pathname, search } = new URL(wsUrl)
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}${pathname}${search}`
}

class TrackerStream {
  readonly #group: string | null
  readonly #listener: StreamListener
  readonly #memory = new TrackerMemory<DataFrameJson>()
  readonly #stop = new AbortController()
  /** The next connection, or the end of a silent one. */
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The socket in use. Events of any other socket are ignored. */
  #socket: WebSocket | null = null

  constructor(group: string | null, listener: StreamListener) {
    this.#group = group
    this.#listener = listener
  }

  async connect(): Promise<void> {
    try {
      const { wsUrl } = await call("GET /api/v1/tracker/realtime/session", {
        query: { control: "true", group: this.#group ?? undefined },
        signal: this.#stop.signal
      })
      if (wsUrl === "") {
        return this.#listener.state("idle")
      }
      return this.#listen(new WebSocket(socketUrl(wsUrl)))
    } catch (cause) {
      return this.#stop.signal.aborted
        ? undefined
        : this.#retry(cause instanceof RequestFailed ? cause.retryAfterMs : null)
    }
  }

  close(): void {
    this.#stop.abort()
    clearTimeout(this.#timer)
    const socket = this.#socket
    this.#socket = null
    socket?.close()
  }

  #listen(socket: WebSocket): void {
    this.#socket = socket
    this.#awaitFrame(socket)
    socket.addEventListener("open", () => {
      const message = this.#memory.resumeMessage()
      if (message !== null) {
        socket.send(message)
      }
    })
    socket.addEventListener("message", ({ data }) => {
      if (this.#socket === socket) {
        this.#awaitFrame(socket)
        this.#take(socket, JSON.parse(String(data)) as Frame)
      }
    })
    socket.addEventListener("close", ({ code }) => {
      if (this.#socket === socket) {
        this.#closed(code)
      }
    })
  }

  /** Gives the connection up unless another frame or heartbeat arrives in time. */
  #awaitFrame(socket: WebSocket): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#giveUp(socket), SILENCE_MS)
  }

  #take(socket: WebSocket, frame: Frame): void {
    if (!isData(frame)) {
      return this.#memory.isStuck(frame) ? this.#giveUp(socket) : undefined
    }
    for (const event of this.#memory.take(frame)) {
      if (event.type === "snapshot") {
        this.#listener.state("live")
        this.#listener.replace(event.trades)
      } else if (event.type === "trade") {
        this.#listener.add(event)
      } else if (event.type === "gap") {
        this.#listener.gap(event)
      }
    }
    return undefined
  }

  #giveUp(socket: WebSocket): void {
    if (this.#socket === socket) {
      this.#closed(GIVEN_UP)
      socket.close()
    }
  }

  #closed(code: number): void {
    this.#socket = null
    const reaction = afterClose(code)
    if (reaction === "stop") {
      clearTimeout(this.#timer)
      return this.#listener.state("refused")
    }
    return this.#retry(reaction === "at-once" && this.#memory.failures === 0 ? 0 : null)
  }

  /** Connects again after this many milliseconds; for null after a pause that grows with each failure. */
  #retry(afterMs: number | null): void {
    this.#listener.state("lost")
    this.#memory.failures += 1
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.connect(), afterMs ?? pauseMs(this.#memory.failures, Math.random()))
  }
}

/** Follows the trades of a group, or of all groups for null, until the returned function is called. */
export const followTracker = (group: string | null, listener: StreamListener): (() => void) => {
  const stream = new TrackerStream(group, listener)
  listener.state("connecting")
  void stream.connect()
  return () => stream.close()
}

/** One socket that connects again after it was lost. What is sent and received is a protocol's. */
import { afterClose, isRefusal, pauseMs, SILENCE_MS } from "../../client/reconnect.ts"
import { RequestFailed } from "./request.ts"

/**
 * State of the connection. `lost` until the next connection, `refused` until somebody asks again, `idle` when there is
 * nothing to follow.
 */
export type StreamState = "connecting" | "live" | "lost" | "refused" | "idle"

/** What a socket carries. */
export interface Protocol {
  /** Requests the address of the next connection; empty when there is nothing to follow. */
  readonly session: (signal: AbortSignal) => Promise<string>
  /** Consecutive connections without a snapshot. The protocol sets it to 0 with a snapshot. */
  readonly memory: { failures: number }
  /** Messages that open a connection. */
  readonly opening: () => ReadonlyArray<string>
  /** Takes a frame. False gives the connection up. */
  readonly take: (frame: unknown) => boolean
  readonly state: (state: StreamState) => void
}

/** Close code for a connection that the page itself gives up. */
const GIVEN_UP = 1006

/** The URL of the socket on the host of this page. The content security policy refuses other hosts. */
const socketUrl = (wsUrl: string): string => {
  const { host, protocol } = globalThis.location
  const { pathname, search } = new URL(wsUrl)
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}${pathname}${search}`
}

export class LiveSocket {
  readonly #protocol: Protocol
  #stop = new AbortController()
  /** The next connection, or the end of a silent one. */
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The socket in use. Events of any other socket are ignored. */
  #socket: WebSocket | null = null

  constructor(protocol: Protocol) {
    this.#protocol = protocol
  }

  /** Requests a session and connects. Connects again after losses until it is closed or refused. */
  async connect(): Promise<void> {
    const { signal } = this.#stop
    try {
      const wsUrl = await this.#protocol.session(signal)
      if (signal.aborted) {
        return undefined
      }
      return wsUrl === "" ? this.#protocol.state("idle") : this.#listen(new WebSocket(socketUrl(wsUrl)))
    } catch (cause) {
      return signal.aborted ? undefined : this.#failed(cause)
    }
  }

  /** Sends a message if the socket is open. Otherwise the messages of the next opening replace it. */
  send(message: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#socket.send(message)
    }
  }

  close(): void {
    this.#stop.abort()
    this.#stop = new AbortController()
    clearTimeout(this.#timer)
    const socket = this.#socket
    this.#socket = null
    socket?.close()
  }

  #failed(cause: unknown): void {
    if (cause instanceof RequestFailed && isRefusal(cause)) {
      return this.#protocol.state("refused")
    }
    return this.#retry(cause instanceof RequestFailed ? cause.retryAfterMs : null)
  }

  #listen(socket: WebSocket): void {
    this.#socket = socket
    this.#awaitFrame(socket)
    socket.addEventListener("open", () => this.#protocol.opening().forEach((message) => socket.send(message)))
    socket.addEventListener("message", ({ data }) => {
      if (this.#socket === socket) {
        this.#awaitFrame(socket)
        if (!this.#protocol.take(JSON.parse(String(data)))) {
          this.#giveUp(socket)
        }
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
      return this.#protocol.state("refused")
    }
    return this.#retry(reaction === "at-once" && this.#protocol.memory.failures === 0 ? 0 : null)
  }

  /** Connects again after this many milliseconds; for null after a pause that grows with each failure. */
  #retry(afterMs: number | null): void {
    const { memory } = this.#protocol
    this.#protocol.state("lost")
    memory.failures += 1
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.connect(), afterMs ?? pauseMs(memory.failures, Math.random()))
  }
}

/** A WebSocket over the HTTP client of Node, for versions without one of their own (before 22). */
import type { Socket } from "effect/socket"
import { FrameReader, maskedFrame, OP } from "./frameReader.ts"

type Type = "open" | "message" | "error" | "close"
type Listener = (event: Socket.WebSocketEvent) => void

interface Stream {
  on(event: "data", listener: (chunk: Uint8Array) => void): void
  on(event: "close" | "error", listener: () => void): void
  write(bytes: Uint8Array): void
  end(): void
  destroy(): void
}

interface UpgradeRequest {
  on(event: "upgrade", listener: (response: unknown, socket: Stream, head: Uint8Array) => void): void
  on(event: "response" | "error", listener: () => void): void
  end(): void
  destroy(): void
}

/** The part of `node:http` and `node:https` that opens a socket. */
interface NodeHttp {
  readonly request: (url: string, options: { readonly headers: Readonly<Record<string, string>> }) => UpgradeRequest
}

interface Platform {
  readonly WebSocket?: new (url: string) => Socket.WebSocketLike
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown }
}

const LOST = 1006
/** Time that the other side has to answer a close, in milliseconds. */
const CLOSE_WAIT_MS = 2000

const random = (size: number): Uint8Array => crypto.getRandomValues(new Uint8Array(size))

class NodeSocket implements Socket.WebSocketLike {
  readyState = 0
  readonly #listeners = new Map<Type, Set<Listener>>()
  readonly #request: UpgradeRequest
  readonly #reader = new FrameReader()
  #stream: Stream | null = null
  #code = LOST

  constructor(http: NodeHttp, url: string) {
    const headers = {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": btoa(String.fromCharCode(...random(16)))
    }
    this.#request = http.request(url.replace(/^ws/u, "http"), { headers })
    this.#request.on("upgrade", (_response, stream, head) => this.#opened(stream, head))
    this.#request.on("response", () => this.#over())
    this.#request.on("error", () => this.#over())
    this.#request.end()
  }

  addEventListener(type: Type, listener: Listener): void {
    this.#listeners.set(type, (this.#listeners.get(type) ?? new Set()).add(listener))
  }

  removeEventListener(type: Type, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener)
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState === 1) {
      this.#write(
        typeof data === "string" ? OP.text : OP.binary,
        typeof data === "string" ? new TextEncoder().encode(data) : data
      )
    }
  }

  close(code = 1000): void {
    if (this.#stream === null) {
      this.#request.destroy()
      this.#over()
    } else if (this.readyState === 1) {
      this.readyState = 2
      this.#write(OP.close, Uint8Array.of(code >> 8, code & 255))
      const stream = this.#stream
      const timer: unknown = setTimeout(() => stream.destroy(), CLOSE_WAIT_MS)
      // A process that has nothing else to do ends at once.
      ;(timer as { readonly unref?: () => void }).unref?.()
    }
  }

  #opened(stream: Stream, head: Uint8Array): void {
    if (this.readyState !== 0) {
      stream.destroy()
      return
    }
    this.#stream = stream
    this.readyState = 1
    stream.on("data", (chunk) => this.#take(chunk))
    stream.on("error", () => this.#over())
    stream.on("close", () => this.#over())
    this.#emit("open", {})
    if (head.length > 0) {
      this.#take(head)
    }
  }

  #take(chunk: Uint8Array): void {
    try {
      for (const { op, payload } of this.#reader.take(chunk)) {
        this.#frame(op, payload)
      }
    } catch {
      this.#stream?.destroy()
      this.#over()
    }
  }

  #frame(op: number, payload: Uint8Array): void {
    if (op === OP.ping) {
      this.#write(OP.pong, payload)
    } else if (op === OP.close) {
      const [high = 1005 >> 8, low = 1005 & 255] = payload
      this.#code = (high << 8) | low
      if (this.readyState === 1) {
        this.#write(OP.close, payload.slice(0, 2))
      }
      this.#stream?.end()
      this.#over()
    } else if (op !== OP.pong) {
      this.#emit("message", { data: op === OP.text ? new TextDecoder().decode(payload) : payload })
    }
  }

  #write(op: number, payload: Uint8Array): void {
    this.#stream?.write(maskedFrame(op, payload, random(4)))
  }

  #over(): void {
    if (this.readyState !== 3) {
      this.readyState = 3
      this.#emit("close", { code: this.#code, reason: "" })
    }
  }

  #emit(type: Type, event: Socket.WebSocketEvent): void {
    this.#listeners.get(type)?.forEach((listener) => listener(event))
  }
}

/** Opens a socket by `node:http` or `node:https`. */
export const nodeSocket = (url: string): Socket.WebSocketLike => {
  const { process } = globalThis as Platform
  const http = process?.getBuiltinModule?.(url.startsWith("wss:") ? "node:https" : "node:http")
  if (http === undefined) {
    throw new TypeError("There is no WebSocket: use Node 20.16 or later, or give the option webSocket.")
  }
  return new NodeSocket(http as NodeHttp, url)
}

/** Opens a socket of the platform, or of Node where it has none. */
export const platformSocket = (url: string): Socket.WebSocketLike => {
  const { WebSocket } = globalThis as Platform
  return WebSocket === undefined ? nodeSocket(url) : new WebSocket(url)
}

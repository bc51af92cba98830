import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"

/** The event of a `PlainResponse` when its head has been written. */
export const HEAD_WRITTEN = "headWritten"

type Head = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

/**
 * A response with `strictContentLength` off. The HTTP adapter turns it on, and Node would then send headers and body in
 * two writes. Lengths are computed where the bodies are made. Emits HEAD_WRITTEN, by which a stream counts as answered
 * long before it ends. After the first part of a stream, each text is one write to the socket. Node would make four.
 */
export class PlainResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** True once Node has written the head with the first part of the body. */
  #isBegun = false
  /** True while the socket is full. */
  #isFull = false

  override writeHead(status: number, reason?: string | Head, headers?: Head): this {
    if (typeof reason === "object") {
      super.writeHead(status, reason)
    } else {
      super.writeHead(status, reason, headers)
    }
    this.emit(HEAD_WRITTEN)
    return this
  }

  override write(chunk: unknown, ...rest: ReadonlyArray<unknown>): boolean {
    const { socket } = this
    // An empty chunk would end the body.
    const isText = typeof chunk === "string" && chunk !== "" && rest.length === 0
    if (
      !isText ||
      !this.#isBegun ||
      socket?.writable !== true ||
      !this.chunkedEncoding ||
      this.writableEnded ||
      this.destroyed
    ) {
      const hasRoom = Reflect.apply(super.write, this, [chunk, ...rest])
      this.#isBegun = true
      return hasRoom
    }
    const hasRoom = socket.write(`${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`)
    if (!hasRoom && !this.#isFull) {
      this.#isFull = true
      socket.once("drain", () => {
        this.#isFull = false
        this.emit("drain")
      })
    }
    return hasRoom
  }
}

Object.defineProperty(PlainResponse.prototype, "strictContentLength", { get: () => false, set: () => {} })

import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"

/** The event of a `PlainResponse` when its head has been written. */
export const HEAD_WRITTEN = "headWritten"

type Head = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

/**
 * A response with `strictContentLength` off. The HTTP adapter turns it on, and Node would then send headers and body in
 * two writes. Lengths are computed where the bodies are made. Emits HEAD_WRITTEN, by which a stream counts as answered
 * long before it ends.
 */
export class PlainResponse extends ServerResponse {
  override writeHead(status: number, reason?: string | Head, headers?: Head): this {
    if (typeof reason === "object") {
      super.writeHead(status, reason)
    } else {
      super.writeHead(status, reason, headers)
    }
    this.emit(HEAD_WRITTEN)
    return this
  }
}

Object.defineProperty(PlainResponse.prototype, "strictContentLength", { get: () => false, set: () => {} })

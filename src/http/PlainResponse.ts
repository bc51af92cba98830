import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"

/** Emitted by a `PlainResponse` once its head has been written. */
export const HEAD_WRITTEN = "headWritten"

type Head = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

/**
 * A response with `strictContentLength` off. The HTTP adapter turns it on, which makes Node send headers and body in two
 * writes; lengths are computed where the texts are made. Emits HEAD_WRITTEN: a stream is answered then, long before it ends.
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

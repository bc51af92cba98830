import type { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"

/** One header of a request, without copying all of them. The name is in lower case. */
export const rawHeader = (request: HttpServerRequest.HttpServerRequest, name: string): string | undefined => {
  const { source } = request
  const value = source instanceof IncomingMessage ? source.headers[name] : request.headers[name]
  return Array.isArray(value) ? value.join(", ") : value
}

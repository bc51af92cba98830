import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { ErrorCode } from "../../api/catalogue.ts"
import { asText, rawErrorResponse, type RawResponse } from "./rawResponse.ts"
import type { Upgrade } from "../streams/TrackerSocket.ts"

interface ParserError extends Error {
  readonly code?: string
}

/** The part of a socket that an error response uses. */
interface Wire {
  readonly writable: boolean
  end(text: string): unknown
  destroy(): unknown
}

const METHODS = "GET, POST, PATCH, DELETE, OPTIONS"

const MAX_HEADERS = 32 * 1024
// Far above MAX_HEADERS, so that a long first line and long headers can be distinguished in most cases.
const MAX_PARSED = 128 * 1024

const codeOf = ({ code }: ParserError): ErrorCode => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return "headers_too_large"
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return "body_too_large"
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "request_timeout"
    default:
      return "invalid_request"
  }
}

const endWith = (wire: Wire, answer: RawResponse): void => {
  wire.end(asText(answer, STATUS_CODES[answer.status] ?? ""))
}

const send = (response: ServerResponse, answer: RawResponse): void => {
  response.writeHead(answer.status, answer.headers).end(answer.body)
}

// While a response is being written, another one would end up in the middle of it.
const isAnswering = (socket: object): boolean => {
  const current: unknown = Reflect.get(socket, "_httpMessage")
  return typeof current === "object" && current !== null && Reflect.get(current, "headersSent") === true
}

const isAbsent = (header: string | undefined): boolean => header === undefined || header === ""

/** HTTP/1.1 requires exactly one Host; older versions have none. */
const lacksHost = (request: IncomingMessage): boolean => request.httpVersion === "1.1" && isAbsent(request.headers.host)

const headerBytes = ({ rawHeaders }: IncomingMessage): number => rawHeaders.reduce((sum, { length }) => sum + length, 0)

/** True for an upgrade that may be ignored: HTTP/2 over cleartext, which clients offer by default. */
const isOffer = (request: IncomingMessage): boolean => request.headers.upgrade?.toLowerCase() === "h2c"

/**
 * Registers `handle` for requests and `upgrade` for upgrades on the server. Everything that is not a valid request is
 * answered in the error envelope.
 */
export const handleRequests = (
  server: Server,
  nextId: () => string,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  upgrade: Upgrade = () => false
): void => {
  const answer = (code: ErrorCode, headers?: Record<string, string>, message?: string) =>
    rawErrorResponse(code, { id: nextId(), headers, message })

  server.on("request", (request, response) => {
    if (lacksHost(request)) {
      return send(response, answer("invalid_request", undefined, "The Host header is required."))
    }
    if (headerBytes(request) > MAX_HEADERS) {
      return send(response, answer("headers_too_large"))
    }
    handle(request, response)
  })
  server.on("checkExpectation", (_request, response) => send(response, answer("expectation_failed")))
  server.on("connect", (_request, socket) => endWith(socket, answer("method_not_allowed", { allow: METHODS })))
  server.on("upgrade", (request, socket, head) => {
    if (lacksHost(request)) {
      return endWith(socket, answer("invalid_request", undefined, "The Host header is required."))
    }
    if (!upgrade(request, socket, head)) {
      endWith(socket, answer("upgrade_required", { upgrade: "HTTP/1.1" }))
    }
  })
  server.on("clientError", (error: ParserError, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) {
      return socket.destroy()
    }
    endWith(socket, answer(codeOf(error)))
  })
}

/** Options of a server that answers exceeded limits instead of dropping the connection. */
export const parserOptions = {
  requireHostHeader: false,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: MAX_PARSED,
  shouldUpgradeCallback: (request: IncomingMessage) => !isOffer(request)
}

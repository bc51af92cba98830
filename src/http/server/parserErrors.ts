import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { ErrorCode } from "../../api/errors/catalogue.ts"
import { asText, invalidHeader, type RawError, rawErrorResponse, type RawResponse } from "../middleware/rawResponse.ts"
import type { Upgrade } from "../streams/LiveSocket.ts"

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
// Far above MAX_HEADERS, so that a long first line and long headers can mostly be distinguished.
const MAX_PARSED = 128 * 1024

const codeOf = ({ code }: ParserError): ErrorCode => {
  switch (code) {
    case "HPE_INVALID_VERSION":
    case "HPE_PAUSED_H2_UPGRADE":
      return "version_not_supported"
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

// A second response would end up in the middle of the one being written.
const isAnswering = (socket: object): boolean => {
  const current: unknown = Reflect.get(socket, "_httpMessage")
  return typeof current === "object" && current !== null && Reflect.get(current, "headersSent") === true
}

const isAbsent = (header: string | undefined): boolean => header === undefined || header === ""

/** HTTP/1.1 requires exactly one Host; older versions have none. */
const lacksHost = (request: IncomingMessage): boolean => request.httpVersion === "1.1" && isAbsent(request.headers.host)

const headerBytes = ({ rawHeaders }: IncomingMessage): number => rawHeaders.reduce((sum, { length }) => sum + length, 0)

/**
 * Counts the headers of this name. Node keeps the first Authorization and Host, and drops the others. The length of the
 * name is compared first, because every request passes here.
 */
const countOf = ({ rawHeaders }: IncomingMessage, name: string): number =>
  rawHeaders.reduce(
    (count, text, i) => (i % 2 === 0 && text.length === name.length && text.toLowerCase() === name ? count + 1 : count),
    0
  )

const VERSIONS = new Set(["1.1", "1.0"])

/** True for a path, or for the whole server (`*`) where OPTIONS asks about it. */
const isTarget = ({ method, url = "" }: IncomingMessage): boolean =>
  url.startsWith("/") || (url === "*" && method === "OPTIONS")

const noHost = invalidHeader("Host", "missing", "The Host header is required.")
const twoHosts = invalidHeader("Host", "repeated", "Host may be sent only once.")
const noTarget: RawError = {
  code: "invalid_request",
  message: "The request target must be a path that begins with /.",
  details: [{ in: "path", field: "", issue: "format" }]
}
const twoKeys = invalidHeader("Authorization", "repeated", "Authorization may be sent only once.")

/** The fault of a request that must not reach a handler; null for a valid one. */
const faultOf = (request: IncomingMessage): RawError | null => {
  if (!VERSIONS.has(request.httpVersion)) {
    return { code: "version_not_supported" }
  }
  if (lacksHost(request)) {
    return noHost
  }
  if (countOf(request, "host") > 1) {
    return twoHosts
  }
  if (!isTarget(request)) {
    return noTarget
  }
  if (headerBytes(request) > MAX_HEADERS) {
    return { code: "headers_too_large" }
  }
  return countOf(request, "authorization") > 1 ? twoKeys : null
}

/**
 * The URL with `;` and `#` of its path escaped. They belong to the path, but the router would begin the query there.
 */
const routedUrl = (url: string): string => {
  const query = url.indexOf("?")
  const path = query === -1 ? url : url.slice(0, query)
  return /[#;]/u.test(path) ? path.replaceAll(";", "%3B").replaceAll("#", "%23") + url.slice(path.length) : url
}

const ABSOLUTE = /^https?:\/\/[^/?#]+/iu

/** The path of a target in absolute form, which every server must accept (RFC 9112, 3.2.2). */
const originForm = (url: string): string => {
  const authority = url.startsWith("/") ? undefined : ABSOLUTE.exec(url)?.[0]
  if (authority === undefined) {
    return url
  }
  const rest = url.slice(authority.length)
  return rest.startsWith("/") ? rest : `/${rest}`
}

/** True for an upgrade that may be ignored: HTTP/2 over cleartext, which clients offer by default. */
const isOffer = (request: IncomingMessage): boolean => request.headers.upgrade?.toLowerCase() === "h2c"

const answer = (error: RawError) => rawErrorResponse(error, crypto.randomUUID())

/**
 * Registers `handle` for requests and `upgrade` for upgrades. Everything that is not a valid request is answered in the
 * error envelope.
 */
export const handleRequests = (
  server: Server,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  upgrade: Upgrade = () => ({ code: "upgrade_required", headers: { upgrade: "HTTP/1.1" } })
): void => {
  server.on("request", (request, response) => {
    request.url = originForm(request.url ?? "")
    const fault = faultOf(request)
    if (fault !== null) {
      return send(response, answer(fault))
    }
    request.url = routedUrl(request.url ?? "")
    handle(request, response)
  })
  server.on("checkExpectation", (_request, response) => send(response, answer({ code: "expectation_failed" })))
  server.on("connect", (_request, socket) =>
    endWith(socket, answer({ code: "method_not_allowed", headers: { allow: METHODS } }))
  )
  server.on("upgrade", (request, socket, head) => {
    const fault = faultOf(request) ?? upgrade(request, socket, head)
    if (fault !== null) {
      endWith(socket, answer(fault))
    }
  })
  server.on("clientError", (error: ParserError, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) {
      return socket.destroy()
    }
    endWith(socket, answer({ code: codeOf(error) }))
  })
}

/** Options of a server that answers exceeded limits instead of dropping the connection. */
export const parserOptions = {
  requireHostHeader: false,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: MAX_PARSED,
  shouldUpgradeCallback: (request: IncomingMessage) => !isOffer(request)
}

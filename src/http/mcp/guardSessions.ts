/**
 * Admission to `/mcp`. The protocol's runtime keeps a session for each client until it is ended. Therefore only holders
 * of a key can open one, and the least recently used session ends when a holder, or all holders together, have too
 * many.
 */
import { ByteSize, Effect } from "effect"
import { HttpEffect, HttpIncomingMessage, HttpServerRequest } from "effect/http"
import { createHash } from "node:crypto"
import { KEY_HEADER } from "../middleware/bearer.ts"
import { type App, answerOf } from "./innerRequests.ts"
import { SessionList } from "./SessionList.ts"

/** Path of the endpoint. */
export const MCP_PATH = "/mcp"

/** Bounds of the sessions of one process and of the body of a message. */
export const mcpLimits = { all: 2000, perHolder: 20, bodyBytes: 65_536 } as const

const SESSION_HEADER = "mcp-session-id"

/** Identifies the credential of a request without keeping it. */
const holderOf = ({ headers }: HttpServerRequest.HttpServerRequest): string =>
  createHash("sha256")
    .update(headers[KEY_HEADER] ?? headers["authorization"] ?? "")
    .digest("base64url")

const isMcp = ({ url }: HttpServerRequest.HttpServerRequest): boolean => url.split("?", 1)[0] === MCP_PATH

/** Wraps the service. Other paths are passed on. */
export const guardSessions = (app: App): App => {
  const sessions = new SessionList(mcpLimits)
  const bounded = Effect.provideService(app, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(mcpLimits.bodyBytes))

  const end = (request: HttpServerRequest.HttpServerRequest, id: string) =>
    answerOf(app, request, { method: "DELETE", url: MCP_PATH, headers: { [SESSION_HEADER]: id } })

  const noteSession: HttpEffect.PreResponseHandler = (request, response) => {
    const id = response.headers[SESSION_HEADER]
    const ended = id === undefined ? null : sessions.add(id, holderOf(request))
    return ended === null ? Effect.succeed(response) : Effect.as(end(request, ended), response)
  }

  const open = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const admitted = yield* answerOf(app, request, { method: "GET", url: "/api/v1/account/key" })
    if (admitted.status !== 200) {
      return admitted
    }
    const response = yield* bounded
    // The runtime adds the session id only this late.
    yield* HttpEffect.appendPreResponseHandler(noteSession)
    return response
  })

  const go = (request: HttpServerRequest.HttpServerRequest): App => {
    const id = request.headers[SESSION_HEADER]
    if (id === undefined) {
      return request.method === "POST" ? open(request) : app
    }
    if (request.method === "DELETE") {
      sessions.remove(id)
    } else {
      sessions.use(id)
    }
    return bounded
  }

  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => (isMcp(request) ? go(request) : app))
}

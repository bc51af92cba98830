/** Answers `tools/list` and `resources/list` from texts that are made once. They are the same for every caller. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Message } from "./messages.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const LISTS = new Set(["tools/list", "resources/list"])

/** True when the answer depends on nothing but the list and the version of the session. */
const isPlain = ({ headers }: Request, { method, params }: Message, version: string): boolean =>
  LISTS.has(method) &&
  Object.keys(params).every((name) => name === "_meta") &&
  (headers["mcp-protocol-version"] ?? version) === version &&
  headers["origin"] === undefined &&
  headers["content-type"]?.startsWith("application/json") === true &&
  ["application/json", "text/event-stream"].every((type) => headers["accept"]?.includes(type))

/** The `result` of an answer as JSON; null when it is not a whole list. */
const resultOf = ({ body, headers, status }: Response): string | null => {
  if (
    status !== 200 ||
    body._tag !== "Uint8Array" ||
    headers["content-type"]?.startsWith("application/json") === false
  ) {
    return null
  }
  const answer: unknown = JSON.parse(Buffer.from(body.body).toString("utf8"))
  const result = typeof answer === "object" && answer !== null && "result" in answer ? answer.result : null
  return typeof result === "object" && result !== null && !("nextCursor" in result) ? JSON.stringify(result) : null
}

/** Answers a message from a known text, and by `routed` otherwise. */
export type ListAnswer = <E, R>(
  request: Request,
  message: Message,
  version: string,
  routed: Effect.Effect<Response, E, R>
) => Effect.Effect<Response, E, R>

/** Keeps the texts by method and version of the protocol. */
export const makeListTexts = (): ListAnswer => {
  const texts = new Map<string, string>()
  return (request, message, version, routed) => {
    if (!isPlain(request, message, version)) {
      return routed
    }
    const name = `${version} ${message.method}`
    const known = texts.get(name)
    if (known === undefined) {
      return Effect.tap(routed, (response) =>
        Effect.sync(() => {
          const result = resultOf(response)
          if (result !== null) {
            texts.set(name, result)
          }
        })
      )
    }
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${known}}`
    return Effect.succeed(HttpServerResponse.text(text, { contentType: "application/json" }))
  }
}

/**
 * Answers `tools/list`, `resources/list` and `prompts/list` from texts that are made once. They are the same for every
 * caller; a caller may ask for a selection of the tools.
 */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Message } from "./messages.ts"
import type { Selection } from "./selection.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

const LISTS = new Set(["tools/list", "resources/list", "prompts/list"])

/** True when the answer depends on nothing but the list and the version of the session. */
const isPlain = ({ headers }: Request, { params }: Message, version: string): boolean =>
  Object.keys(params).every((name) => name === "_meta") &&
  (headers["mcp-protocol-version"] ?? version) === version &&
  headers["origin"] === undefined &&
  headers["content-type"]?.startsWith("application/json") === true &&
  ["application/json", "text/event-stream"].every((type) => headers["accept"]?.includes(type))

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A whole list: the text of each tool by its name, and the text of a result without tools. */
interface KnownList {
  readonly tools: ReadonlyArray<readonly [name: string, text: string]>
  readonly others: string
}

/** The list in an answer; null when it is not a whole list. */
const listIn = ({ body, headers, status }: Response): KnownList | null => {
  if (
    status !== 200 ||
    body._tag !== "Uint8Array" ||
    headers["content-type"]?.startsWith("application/json") === false
  ) {
    return null
  }
  const answer: unknown = JSON.parse(Buffer.from(body.body).toString("utf8"))
  const result = isRecord(answer) ? answer["result"] : null
  if (!isRecord(result) || "nextCursor" in result) {
    return null
  }
  const { tools = [], ...others } = result
  const each: ReadonlyArray<unknown> = Array.isArray(tools) ? tools : []
  return {
    tools: each.map((tool) => [isRecord(tool) ? String(tool["name"]) : "", JSON.stringify(tool)] as const),
    others: JSON.stringify("tools" in result ? others : result)
  }
}

/** The answer to a request for a list. */
const answerWith = ({ id, method }: Message, { others, tools }: KnownList, selection: Selection): Response => {
  const seen = tools.flatMap(([name, text]) => (selection === null || selection.has(name) ? text : []))
  const rest = others === "{}" ? "}" : `,${others.slice(1)}`
  const result = method === "tools/list" ? `{"tools":[${seen.join()}]${rest}` : others
  const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
  return HttpServerResponse.text(text, { contentType: "application/json" })
}

/** Answers a message from a known text, and by `routed` otherwise. */
export type ListAnswer = <E, R>(
  request: Request,
  message: Message,
  version: string,
  selection: Selection,
  routed: Effect.Effect<Response, E, R>
) => Effect.Effect<Response, E, R>

/** Keeps whole lists by method and version of the protocol. */
export const makeListTexts = (): ListAnswer => {
  const lists = new Map<string, KnownList>()
  return (request, message, version, selection, routed) => {
    if (!LISTS.has(message.method)) {
      return routed
    }
    const isKept = isPlain(request, message, version)
    const name = `${version} ${message.method}`
    const known = isKept ? lists.get(name) : undefined
    return known === undefined
      ? Effect.map(routed, (response) => {
          const list = listIn(response)
          if (list === null) {
            return response
          }
          if (isKept) {
            lists.set(name, list)
          }
          return message.method === "tools/list"
            ? HttpServerResponse.setHeaders(answerWith(message, list, selection), {
                ...response.headers,
                "content-length": undefined
              })
            : response
        })
      : Effect.succeed(answerWith(message, known, selection))
  }
}

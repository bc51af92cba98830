/** Requests of the walk to a service, each answer judged by the document. */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { exchange } from "../support/http.ts"
import { type Answered, type Document, judgeOf, type Operation, operationsOf } from "../support/openapi.ts"
import { setSecond } from "../support/reads.ts"
import { LAST_ID, type Request, type Way } from "./walkRequests.ts"
import { NOW, ReceivedCall } from "./walkWorlds.ts"

/** The document as it is committed. */
export const document: Document = JSON.parse(
  readFileSync(new URL("../../src/api/openapi.json", import.meta.url), "utf8")
)
export const operations = operationsOf(document)
export const judge = judgeOf(document)

const urlOf = ({ path }: Operation, { params = {}, query = {} }: Request) => {
  const filled = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(params[name] ?? "x"))
  const search = new URLSearchParams(query).toString()
  return search === "" ? filled : `${filled}?${search}`
}

/** The answer to a request, with the key of a letter; null sends none. */
export const send = Effect.fnUntraced(function* (operation: Operation, request: Request, key: string | null = "a") {
  const { secretOf, url } = yield* ReceivedCall
  const headers = new Headers(key === null ? {} : { authorization: `Bearer ${secretOf(key)}` })
  if (request.body !== undefined || operation.hasBody) {
    headers.set("content-type", "application/json")
  }
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers.set(name, value)
  }
  const body = request.body === undefined ? null : JSON.stringify(request.body)
  return yield* Effect.promise(async (): Promise<Answered> => {
    const response = await fetch(url + urlOf(operation, request), { method: operation.method, headers, body })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })
})

/** An answer that came over a socket as text. */
const parsed = (text: string): Answered => {
  const [head = "", body = ""] = text.split("\r\n\r\n")
  const [first = "", ...lines] = head.split("\r\n")
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(": ")[0] ?? "", line.split(": ")[1] ?? ""])
  )
  return { status: Number(first.split(" ")[1]), headers, text: body }
}

const cursorIn = (text: string): string => /"nextCursor":\s*"([^"]+)"/u.exec(text)?.[1] ?? ""

/** The id of what an answer describes; empty when it has none. */
export const idIn = (text: string): string => /"(?:id|groupId)":\s*"([^"]+)"/u.exec(text)?.[1] ?? ""

/** The request, once everything that has to come before it was asked. */
const prepared = Effect.fnUntraced(function* ({ before = [], key = "a" }: Way, request: Request) {
  let id = ""
  for (const step of before) {
    const operation = operations.find((each) => each.id === step.operation)
    if (operation !== undefined) {
      const answer = yield* send(operation, step.request, key)
      judge(operation, answer)
      id = idIn(answer.text)
    }
  }
  return request.params?.["id"] === LAST_ID ? { ...request, params: { id } } : request
})

/** The answer at the end of a way. */
export const walk = Effect.fnUntraced(function* (operation: Operation, way: Way, request: Request) {
  if (way.raw !== undefined) {
    const { url } = yield* ReceivedCall
    const listening = { url, port: Number(new URL(url).port) }
    return parsed(yield* Effect.provideService(exchange(way.raw), Listening, listening))
  }
  if (way.staleCursorAfter !== undefined) {
    const first = yield* send(operation, request)
    judge(operation, first)
    yield* setSecond(NOW + way.staleCursorAfter)
    const cursor = cursorIn(first.text)
    const next =
      request.body === undefined
        ? { ...request, query: { ...request.query, cursor } }
        : { ...request, body: { ...Object(request.body), cursor } }
    const old = yield* send(operation, next)
    yield* setSecond(NOW)
    return old
  }
  return yield* send(operation, yield* prepared(way, request), way.key === undefined ? "a" : way.key)
})

/** A JSON-RPC client that uses the platform alone, so that it judges the node independently. */
import { Effect, Queue } from "effect"

export interface Answer {
  readonly status: number
  readonly text: string
  readonly json: unknown
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Posts a body as it is. */
export const postText = (url: string, body: string, contentType = "application/json") =>
  Effect.promise(async (signal): Promise<Answer> => {
    const response = await fetch(url, { method: "POST", body, headers: { "content-type": contentType }, signal })
    const text = await response.text()
    return { status: response.status, text, json: parsed(text) }
  })

/** Makes one call and returns the whole answer. */
export const call = (url: string, method: string, ...params: ReadonlyArray<unknown>) =>
  Effect.map(postText(url, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })), ({ json }) => json)

/** The value at a path of member names; `undefined` when there is none. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value
  )

/** An open WebSocket with everything it received, as JSON, and how it ended. */
export const connect = (url: string) =>
  Effect.gen(function* () {
    const received = yield* Queue.unbounded<unknown>()
    const closed = yield* Queue.unbounded<number>()
    const socket = yield* Effect.acquireRelease(
      Effect.callback<WebSocket>((resume) => {
        const opening = new WebSocket(url)
        opening.addEventListener("message", ({ data }) => Queue.offerUnsafe(received, parsed(String(data))))
        opening.addEventListener("close", ({ code }) => Queue.offerUnsafe(closed, code))
        opening.addEventListener("open", () => resume(Effect.succeed(opening)))
      }),
      (open) => Effect.sync(() => open.close())
    )
    const send = (method: string, ...params: ReadonlyArray<unknown>) =>
      Effect.sync(() => socket.send(JSON.stringify({ jsonrpc: "2.0", id: method, method, params })))
    const next = Queue.take(received)
    const ask = (method: string, ...params: ReadonlyArray<unknown>) => Effect.andThen(send(method, ...params), next)
    return { ask, send, next, closed: Queue.take(closed), pending: Queue.size(received) }
  })

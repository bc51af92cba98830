/** A server-sent stream over a socket, kept as it arrives. */
import { Effect } from "effect"
import { get, type IncomingMessage } from "node:http"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { secretOf } from "./http.ts"

/** One frame as it was sent. */
export interface SentFrame {
  readonly id: string
  readonly event: string
  readonly data: Record<string, unknown>
}

/** An open stream. */
export interface OpenStream {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly text: () => string
  readonly frames: () => ReadonlyArray<SentFrame>
  readonly ended: () => boolean
  /** Drops the connection. */
  readonly cut: () => void
}

const lineOf = (block: string, name: string): string =>
  block
    .split("\n")
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2) ?? ""

const framesIn = (text: string): ReadonlyArray<SentFrame> =>
  text
    .split("\n\n")
    .slice(0, -1)
    .filter((block) => block.startsWith("id: "))
    .map((block) => ({
      id: lineOf(block, "id"),
      event: lineOf(block, "event"),
      data: JSON.parse(lineOf(block, "data"))
    }))

/** Opens a stream with the key of that letter, or with these headers. A refusal is an open stream with another status. */
export const openStream = Effect.fnUntraced(function* (path: string, key: string | Record<string, string> = "a") {
  const { url } = yield* Listening
  return yield* Effect.callback<OpenStream>((resume) => {
    const headers = typeof key === "string" ? { authorization: `Bearer ${secretOf(key)}` } : key
    const request = get(url + path, { headers, agent: false }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk) => (text += chunk))
      response.on("error", () => undefined)
      resume(
        Effect.succeed({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: () => text,
          frames: () => framesIn(text),
          ended: () => response.closed || response.complete,
          cut: () => request.destroy()
        })
      )
    })
    request.on("error", () => undefined)
  })
})

/** Waits, in real time, until something holds; the sockets under test know nothing of the test clock. */
export const until = (what: string, holds: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    for (let attempt = 0; attempt < 30_000 && !holds(); attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    if (!holds()) {
      throw new Error(`never happened: ${what}`)
    }
  })

/** Server-sent events by `fetch`, which reports why a stream was refused; an `EventSource` does not. */
import { failureOf, RequestFailed } from "./request.ts"

/** One event. */
export interface StreamEvent {
  readonly event: string
  readonly data: unknown
}

/** The event of one block of lines; null for a comment or a heartbeat. */
export const eventOf = (block: string): StreamEvent | null => {
  const lines = block.split("\n").map((line) => line.replace(/\r$/u, ""))
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /u, ""))
  const data = valuesOf("data").join("\n")
  return data === "" ? null : { event: valuesOf("event").at(-1) ?? "message", data: JSON.parse(data) as unknown }
}

/** Reads events until the stream ends or `signal` aborts. Fails with `RequestFailed`. */
export const readEvents = async (url: string, onEvent: (event: StreamEvent) => void, signal: AbortSignal) => {
  const headers = { accept: "text/event-stream" }
  const response = await fetch(url, { credentials: "same-origin", headers, signal })
  if (!response.ok || response.body === null) {
    throw response.ok
      ? new RequestFailed(0, "unreachable", "The stream has no body.", [], null)
      : await failureOf(response)
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = `${rest}${part.value}`.split(/\r?\n\r?\n/u)
    rest = blocks.pop() ?? ""
    for (const block of blocks) {
      const event = eventOf(block)
      if (event !== null) {
        onEvent(event)
      }
    }
  }
}

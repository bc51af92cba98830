/** Server-sent events over `fetch`. Unlike an `EventSource`, it reports why a stream was refused. */
import { failureOf, respond } from "./request.ts"

/** One event with its data as text. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/**
 * The complete events in a text (an empty line ends each), and the incomplete rest. Comments and blocks without data
 * are dropped.
 */
export const eventsIn = (text: string): { readonly events: ReadonlyArray<ServerEvent>; readonly rest: string } => {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n")
  const rest = blocks.pop() ?? ""
  const events = blocks.flatMap((block) => {
    const lines = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"))
    const valueOf = (name: string) =>
      lines.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).replace(/^ /u, "")] : []))
    const data = valueOf("data")
    return data.length === 0 ? [] : [{ event: valueOf("event").at(-1) ?? "message", data: data.join("\n") }]
  })
  return { events, rest }
}

/** Reads the events of a response until it ends. */
export const readEvents = async (response: Response, take: (event: ServerEvent) => void): Promise<void> => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    const read = eventsIn(rest + part.value)
    rest = read.rest
    read.events.forEach(take)
  }
}

/**
 * Opens a stream and reads its events until it ends or `signal` aborts. Fails with `RequestFailed` when the service
 * refuses it.
 */
export const followEvents = async (
  url: string,
  take: (event: ServerEvent) => void,
  signal: AbortSignal
): Promise<void> => {
  const response = await respond("GET", url, { headers: { accept: "text/event-stream" }, signal })
  if (!response.ok) {
    throw await failureOf(response)
  }
  await readEvents(response, take)
}

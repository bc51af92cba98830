/** Server-sent events of a response, one after the other. */

/** One event of a stream. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** Events in a text that ends with an empty line each, and the rest that is not complete yet. Comments are left out. */
export const eventsIn = (text: string): { readonly events: ReadonlyArray<ServerEvent>; readonly rest: string } => {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n")
  const rest = blocks.pop() ?? ""
  const events = blocks.flatMap((block) => {
    const lines = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"))
    const valueOf = (name: string) =>
      lines.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).replace(/^ /u, "")] : []))
    return lines.length === 0 ? [] : [{ event: valueOf("event")[0] ?? "message", data: valueOf("data").join("\n") }]
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

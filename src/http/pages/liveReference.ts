/** Describes the messages of the sockets and event streams in plain Markdown, from their document. */
import { type MarkdownPage, propertiesOf, table } from "./reference.ts"

type Json = Readonly<Record<string, unknown>>

interface Message {
  readonly name: string
  readonly summary: string
  readonly payload: Json
}

interface Channel {
  readonly title: string
  readonly address: string
  readonly description: string
}

interface Operation {
  readonly action: "send" | "receive"
  readonly channel: { readonly $ref: string }
  readonly messages: ReadonlyArray<{ readonly $ref: string }>
}

/** The parts of an AsyncAPI document that the reference shows. */
export interface LiveDocument {
  readonly info: { readonly title: string; readonly description: string }
  readonly channels: Readonly<Record<string, Channel>>
  readonly operations: Readonly<Record<string, Operation>>
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>
    readonly schemas: Readonly<Record<string, Json>>
  }
}

const lastOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

const messageText = (document: LiveDocument, { name, payload, summary }: Message): string =>
  [`#### ${name}`, "", summary, ...table(propertiesOf(payload, document))].join("\n")

const operationText = (document: LiveDocument, { action, messages }: Operation): string =>
  [
    action === "send" ? "### To the client" : "### From the client",
    ...messages.flatMap(({ $ref }) => {
      const message = document.components.messages[lastOf($ref)]
      return message === undefined ? [] : [messageText(document, message)]
    })
  ].join("\n\n")

/** The page of the sockets and event streams, `live.md`. */
export const liveReference = (document: LiveDocument): MarkdownPage => {
  const operations = Object.values(document.operations)
  const channels = Object.entries(document.channels).map(([id, { address, description, title }]) =>
    [
      `## ${title}`,
      `\`${address}\``,
      description,
      ...operations
        .filter(({ channel }) => lastOf(channel.$ref) === id)
        .map((operation) => operationText(document, operation))
    ].join("\n\n")
  )
  const { description, title } = document.info
  return {
    name: "live.md",
    about: "Messages of the sockets and event streams.",
    text: [`# ${title}`, description, ...channels].join("\n\n").concat("\n")
  }
}

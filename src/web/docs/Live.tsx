/** The page of sockets and event streams, made from the AsyncAPI document. */
import { send } from "../data/request.ts"
import { useReading } from "../data/useRead.ts"
import { Markdown } from "../parts/Markdown.tsx"
import { Shown } from "../parts/States.tsx"
import { useTitle } from "../parts/useTitle.ts"
import type { Schema, Schemas } from "./document.ts"
import { Fields } from "./Fields.tsx"

interface Message {
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly payload: Schema
  readonly "x-cost"?: number
}

interface Channel {
  readonly title: string
  readonly address: string
  readonly description: string
}

interface Direction {
  readonly action: "send" | "receive"
  readonly channel: { readonly $ref: string }
  readonly messages: ReadonlyArray<{ readonly $ref: string }>
  readonly "x-scopes": ReadonlyArray<string>
  readonly "x-budget": string | null
}

interface LiveDocument {
  readonly info: { readonly description: string }
  readonly channels: Readonly<Record<string, Channel>>
  readonly operations: Readonly<Record<string, Direction>>
  readonly components: { readonly messages: Readonly<Record<string, Message>>; readonly schemas: Schemas }
}

const lastOf = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

const MessageFields = ({ of: message, schemas }: { readonly of: Message; readonly schemas: Schemas }) => (
  <details>
    <summary>
      <code>{message.name}</code> {message.summary}
    </summary>
    <Fields schemas={schemas} of={message.payload} />
  </details>
)

const Messages = ({ document, of: direction }: { readonly document: LiveDocument; readonly of: Direction }) => (
  <>
    <h3>{direction.action === "send" ? "To the client" : "From the client"}</h3>
    {direction.messages.map(({ $ref }) => {
      const message = document.components.messages[lastOf($ref)]
      return message !== undefined && <MessageFields key={$ref} of={message} schemas={document.components.schemas} />
    })}
  </>
)

const ChannelSection = ({
  document,
  id,
  of: { address, description, title }
}: {
  readonly document: LiveDocument
  readonly id: string
  readonly of: Channel
}) => {
  const directions = Object.values(document.operations).filter(({ channel }) => lastOf(channel.$ref) === id)
  const [first] = directions
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="path">
        <code>{address}</code>
      </p>
      <Markdown text={description} />
      <p class="soft">
        Scope: {first?.["x-scopes"].join(" or ")}. Budget: {first?.["x-budget"] ?? "free"}.
      </p>
      {directions.map((direction) => (
        <Messages key={direction.action} document={document} of={direction} />
      ))}
    </section>
  )
}

const readLive = () => send("GET", "/asyncapi.json").then((document) => document as LiveDocument)

/** Sockets and event streams with their messages in both directions. */
export const Live = () => {
  useTitle("Sockets and streams")
  const read = useReading("asyncapi", readLive)
  return (
    <Shown read={read} what="the messages" rows={12}>
      {(document) => (
        <article>
          <h1>Sockets and streams</h1>
          <Markdown text={document.info.description} />
          <p>
            <a href="/asyncapi.json" target="_top">
              AsyncAPI document
            </a>
          </p>
          {Object.entries(document.channels).map(([id, channel]) => (
            <ChannelSection key={id} document={document} id={id} of={channel} />
          ))}
        </article>
      )}
    </Shown>
  )
}

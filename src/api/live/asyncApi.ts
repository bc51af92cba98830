/**
 * Makes the AsyncAPI document of the sockets and event streams from the schemas that encode and decode their messages.
 */
import { JsonSchema, Schema } from "effect"
import { portable } from "../document/portable.ts"
import { type LiveChannel, liveChannels, type LiveMessage } from "./LiveContract.ts"

type Json = Record<string, unknown>

const SCHEMAS = "#/components/schemas/"

/** The words of a name in camel case. */
const camel = (text: string): string => text.replaceAll(/[ _]+(\w)/gu, (_, letter: string) => letter.toUpperCase())

const titleOf = (text: string): string => {
  const words = text.replaceAll("_", " ")
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** The name of a message, unique over all channels. */
const keyOf = ({ id }: LiveChannel, part: "frames" | "messages", { name }: LiveMessage): string =>
  camel(`${id}${part === "messages" ? " client" : ""} ${name}`)

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** A draft 7 schema, where no keyword may stand beside a reference. */
const apart = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(apart)
  }
  if (!isJson(value)) {
    return value
  }
  const { $ref, ...rest } = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, apart(inner)]))
  return typeof $ref === "string" && Object.keys(rest).length > 0
    ? { allOf: [{ $ref }], ...rest }
    : { ...($ref !== undefined && { $ref }), ...rest }
}

/**
 * Removes `additionalProperties: false` from a schema and the schemas inside it, because a later service may send more.
 */
const reopen = (value: unknown): void => {
  if (Array.isArray(value)) {
    value.forEach(reopen)
  } else if (isJson(value)) {
    if (value["additionalProperties"] === false) {
      Reflect.deleteProperty(value, "additionalProperties")
    }
    Object.values(value).forEach(reopen)
  }
}

interface Schemas {
  /** Payloads and queries by key. */
  readonly roots: Record<string, Json>
  readonly named: Record<string, Json>
}

const schemasOf = (all: Readonly<Record<string, Schema.Top>>): Schemas => {
  const compiled = Schema.toJsonSchemaDocument(Schema.Struct(all), { onExcessProperty: "error" })
  const { definitions, schema } = JsonSchema.toDocumentDraft07(compiled)
  const text = JSON.stringify({ paths: schema["properties"], components: { schemas: definitions } })
  const spec = portable(JSON.parse(text.replaceAll('"#/definitions/', `"${SCHEMAS}`))) as Json
  const { schemas } = spec["components"] as { schemas: Record<string, Json> }
  const roots = spec["paths"] as Record<string, Json>
  return { roots, named: schemas }
}

const HOST = {
  default: "127.0.0.1:3000",
  description: "Host and port of the service."
}

const server = (protocol: string, description: string) => ({
  host: "{host}",
  protocol,
  description,
  variables: { host: HOST }
})

const SERVERS = {
  ws: server("ws", "Sockets."),
  wss: server("wss", "Sockets, by TLS."),
  http: server("http", "Event streams."),
  https: server("https", "Event streams, by TLS.")
}

const serversOf = ({ transport }: LiveChannel) =>
  (transport === "socket" ? ["ws", "wss"] : ["http", "https"]).map((name) => ({ $ref: `#/servers/${name}` }))

const SECURITY = {
  ticket: {
    type: "httpApiKey",
    in: "query",
    name: "ticket",
    description: "The ticket of a session, which is requested with a key. It is good for one connection, and a secret."
  },
  bearer: { type: "http", scheme: "bearer", description: "An API key, svc_..., as a bearer token." },
  apiKey: { type: "httpApiKey", in: "header", name: "X-API-Key", description: "The same key in a header of its own." }
}

const securityOf = ({ transport }: LiveChannel) =>
  (transport === "socket" ? ["ticket"] : ["bearer", "apiKey"]).map((name) => ({
    $ref: `#/components/securitySchemes/${name}`
  }))

const queryKey = ({ id }: LiveChannel): string => `${id} query`

const bindingsOf = (channel: LiveChannel, query: unknown) =>
  channel.transport === "socket"
    ? { channel: { ws: { method: "GET", query, bindingVersion: "0.1.0" } }, operation: {} }
    : { channel: {}, operation: { http: { method: "GET", query, bindingVersion: "0.3.0" } } }

const PARTS = ["frames", "messages"] as const

const entriesOf = (channel: LiveChannel) =>
  PARTS.flatMap((part) => channel[part].map((message) => ({ key: keyOf(channel, part, message), message, part })))

const introduction = `Live data of Solana. Open a socket with the ticket of a session, and an event stream with a key. Amounts are atomic units as digits,
times are milliseconds since the Unix epoch, and unknown values are \`null\`. The HTTP requests are in \`/openapi.json\`.`

/** The document. */
export const asyncApi = (): Json => {
  const entries = liveChannels.flatMap(entriesOf)
  const { named, roots } = schemasOf(
    Object.fromEntries([
      ...entries.map(({ key, message }) => [key, message.schema] as const),
      ...liveChannels.map((channel) => [queryKey(channel), channel.query] as const)
    ])
  )
  const closed = new Set(entries.flatMap(({ key, part }) => (part === "messages" ? [key] : [])))
  for (const [key, schema] of [...Object.entries(roots), ...Object.entries(named)]) {
    if (!closed.has(key) && key !== "ResumePoint") {
      reopen(schema)
    }
  }
  const messages = entries.map(({ key, message: { cost, name, summary } }) => [
    key,
    {
      name,
      title: titleOf(name),
      summary,
      contentType: "application/json",
      payload: roots[key],
      ...(cost !== undefined && { "x-cost": cost })
    }
  ])
  const channels = liveChannels.map((channel) => [
    channel.id,
    {
      address: channel.address,
      title: channel.title,
      description: channel.description,
      servers: serversOf(channel),
      messages: Object.fromEntries(
        entriesOf(channel).map(({ key }) => [key, { $ref: `#/components/messages/${key}` }])
      ),
      bindings: bindingsOf(channel, roots[queryKey(channel)]).channel
    }
  ])
  const operations = liveChannels.flatMap((channel) =>
    PARTS.filter((part) => channel[part].length > 0).map((part) => [
      camel(`${channel.id} ${part}`),
      {
        action: part === "frames" ? "send" : "receive",
        title: part === "frames" ? `${channel.title}: to the client` : `${channel.title}: from the client`,
        summary: part === "frames" ? "Messages of the service." : "Messages of the client.",
        channel: { $ref: `#/channels/${channel.id}` },
        security: securityOf(channel),
        messages: channel[part].map((message) => ({
          $ref: `#/channels/${channel.id}/messages/${keyOf(channel, part, message)}`
        })),
        bindings: bindingsOf(channel, roots[queryKey(channel)]).operation,
        "x-scopes": channel.scopes,
        "x-budget": channel.budget
      }
    ])
  )
  return apart({
    asyncapi: "3.1.0",
    info: {
      title: "Fathom developer API, live",
      version: "v1",
      description: introduction,
      contact: { name: "Fathom" },
      license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
      tags: liveChannels.map(({ id, title }) => ({ name: id, description: title }))
    },
    defaultContentType: "application/json",
    servers: SERVERS,
    channels: Object.fromEntries(channels),
    operations: Object.fromEntries(operations),
    components: { securitySchemes: SECURITY, messages: Object.fromEntries(messages), schemas: named }
  }) as Json
}

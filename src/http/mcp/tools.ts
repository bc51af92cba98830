/** Makes the reads of the contract into tools of the Model Context Protocol, from the OpenAPI document. */
import { guides } from "./guides.ts"
import { outputSchemaOf } from "./outputs.ts"

type Json = Readonly<Record<string, unknown>>

/** The request that a tool call stands for. */
export interface ToolRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** JSON; null without a body. */
  readonly body: string | null
}

export interface ReadTool {
  /** Operation id with `_` instead of the point. */
  readonly name: string
  readonly description: string
  readonly inputSchema: {
    readonly type: "object"
    readonly properties: Json
    readonly required: ReadonlyArray<string>
    readonly additionalProperties: false
  }
  /** Schema of the structured answer, which stands beside the text. Only usual tools have one: it makes lists long. */
  readonly outputSchema?: Json
  readonly requestOf: (args: Json) => ToolRequest
}

/** A parameter or a body of an operation of the document. */
interface Operation extends Json {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly responses?: {
    readonly "200"?: { readonly content?: { readonly "application/json"?: { readonly schema: unknown } } }
  }
  readonly requestBody?: { readonly content: { readonly "application/json"?: { readonly schema: unknown } } }
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: unknown
}

/** The parts of an OpenAPI document that are used. */
export interface ContractDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

/** Reads that use POST, because they need a list or an order in the body. */
const READS_BY_POST = new Set([
  "routing.route",
  "spot.exitCheck",
  "screen.tokens",
  "spot.quotes",
  "tokenBatch.read",
  "tokens.prices",
  "priceHistory.atMany",
  "wallets.summary"
])

/** GET operations that are not plain reads: streams, tickets, probes, sessions of the app. */
const OTHERS =
  /^(?:accountKeys|closed|exports|marketStreams|sessions|system)\.|\.stream$|^(?:marketRealtime|tracker)\.session$/u

const isRead = (method: string, { operationId = "" }: Operation): boolean =>
  method === "get" ? !OTHERS.test(operationId) : READS_BY_POST.has(operationId)

const REF = "#/components/schemas/"

/** Bounds that descriptions say in words and the endpoint checks. A model would read them for nothing. */
const LEFT_OUT: ReadonlySet<string> = new Set(["pattern", "maxLength", "minLength"])

/** A schema with its references resolved. A schema that contains itself stays open at that point. */
const inlined = (
  schema: unknown,
  schemas: Readonly<Record<string, unknown>>,
  open: ReadonlyArray<string> = []
): unknown => {
  if (Array.isArray(schema)) {
    return schema.map((each) => inlined(each, schemas, open))
  }
  if (typeof schema !== "object" || schema === null) {
    return schema
  }
  const name = "$ref" in schema ? String(schema.$ref).slice(REF.length) : null
  if (name !== null) {
    return open.includes(name) ? {} : inlined(schemas[name] ?? {}, schemas, [...open, name])
  }
  const kept = Object.entries(schema).filter(([key, value]) => !LEFT_OUT.has(key) || typeof value === "object")
  return Object.fromEntries(kept.map(([key, value]) => [key, inlined(value, schemas, open)]))
}

/** Limits of the text of an answer, in bytes. */
export const answerBytes = { least: 1000, usual: 4000, most: 100_000 } as const

const ofAnswer = {
  maxBytes: {
    type: "integer",
    minimum: answerBytes.least,
    maximum: answerBytes.most,
    description: `Most bytes of the answer; ${answerBytes.usual} by default.`
  },
  fromElement: {
    type: "integer",
    minimum: 0,
    description: "Where to go on in the longest list of an answer that left elements out."
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value : String(value))

const requestWith = (method: string, path: string, parameters: ReadonlyArray<Parameter>, args: Json): ToolRequest => {
  const given = parameters.filter(({ name }) => args[name] !== undefined && args[name] !== null)
  const target = given
    .filter((parameter) => parameter.in === "path")
    .reduce((url, { name }) => url.replace(`{${name}}`, encodeURIComponent(text(args[name]))), path)
  const query = new URLSearchParams(
    given.filter((parameter) => parameter.in === "query").map(({ name }): [string, string] => [name, text(args[name])])
  )
  const url = query.size === 0 ? target : `${target}?${query}`
  return { method: method.toUpperCase(), url, body: args["body"] === undefined ? null : JSON.stringify(args["body"]) }
}

/** What a call costs, from the end of an operation's description. */
const costIn = (description = ""): string => /Costs .*$|Free of charge\.$/u.exec(description)?.[0] ?? ""

/** When to use the tool, where that is written down; what the contract says otherwise. */
const aboutOf = (name: string, { description, summary }: Operation): string => {
  const guide = guides.get(name)
  return (
    guide === undefined ? [summary, description].filter(Boolean).join(". ") : `${guide} ${costIn(description)}`
  ).trim()
}

const toolOf = (path: string, method: string, operation: Operation, document: ContractDocument): ReadTool => {
  const parameters = (operation.parameters ?? []).filter((each) => each.in === "path" || each.in === "query")
  const body = operation.requestBody?.content["application/json"]?.schema
  const described = parameters.map(({ description, name, schema }) => [
    name,
    { ...(inlined(schema, document.components.schemas) as Json), ...(description !== undefined && { description }) }
  ])
  const required = parameters.filter((each) => each.required === true || each.in === "path").map(({ name }) => name)
  const name = (operation.operationId ?? "").replace(".", "_")
  return {
    name,
    description: aboutOf(name, operation),
    inputSchema: {
      type: "object",
      properties: {
        ...Object.fromEntries(described),
        ...(body !== undefined && { body: inlined(body, document.components.schemas) }),
        ...ofAnswer
      },
      required: body === undefined ? required : [...required, "body"],
      additionalProperties: false
    },
    ...(guides.has(name) && {
      outputSchema: outputSchemaOf(
        operation.responses?.["200"]?.content?.["application/json"]?.schema,
        document.components.schemas
      )
    }),
    requestOf: (args) => requestWith(method, path, parameters, args)
  }
}

export const readTools = (document: ContractDocument): ReadonlyArray<ReadTool> =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      isRead(method, operation as Operation) ? [toolOf(path, method, operation as Operation, document)] : []
    )
  )

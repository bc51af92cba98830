/** Makes the reads of the contract into tools of the Model Context Protocol, from the OpenAPI document. */

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
  readonly requestOf: (args: Json) => ToolRequest
}

/** A parameter or a body of an operation of the document. */
interface Operation extends Json {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter>
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
  "spot.quotes",
  "tokenBatch.read",
  "tokens.prices",
  "priceHistory.atMany",
  "wallets.summary"
])

/** GET operations that are not plain reads: streams, tickets, probes, sessions of the app. */
const OTHERS =
  /^(?:accountKeys|closed|marketStreams|sessions|system)\.|\.stream$|^(?:marketRealtime|tracker)\.session$/u

const isRead = (method: string, { operationId = "" }: Operation): boolean =>
  method === "get" ? !OTHERS.test(operationId) : READS_BY_POST.has(operationId)

const REF = "#/components/schemas/"

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
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inlined(value, schemas, open)]))
}

/** Limits of the text of an answer, in bytes. */
export const answerBytes = { least: 1000, usual: 4000, most: 100_000 } as const

const ofAnswer = {
  maxBytes: {
    type: "integer",
    minimum: answerBytes.least,
    maximum: answerBytes.most,
    description: `Most bytes of the answer's text; ${answerBytes.usual} by default. Beyond that, elements of the longest list are left out.`
  },
  fromElement: {
    type: "integer",
    minimum: 0,
    description:
      "Index of the first shown element of the longest list. An answer that leaves out elements states the next index."
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

const toolOf = (path: string, method: string, operation: Operation, document: ContractDocument): ReadTool => {
  const parameters = (operation.parameters ?? []).filter((each) => each.in === "path" || each.in === "query")
  const body = operation.requestBody?.content["application/json"]?.schema
  const described = parameters.map(({ description, name, schema }) => [
    name,
    { ...(inlined(schema, document.components.schemas) as Json), ...(description !== undefined && { description }) }
  ])
  const required = parameters.filter((each) => each.required === true || each.in === "path").map(({ name }) => name)
  return {
    name: (operation.operationId ?? "").replace(".", "_"),
    description: [operation.summary, operation.description].filter(Boolean).join(". "),
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
    requestOf: (args) => requestWith(method, path, parameters, args)
  }
}

export const readTools = (document: ContractDocument): ReadonlyArray<ReadTool> =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      isRead(method, operation as Operation) ? [toolOf(path, method, operation as Operation, document)] : []
    )
  )

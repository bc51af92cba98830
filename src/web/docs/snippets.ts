/** A request as code: curl, TypeScript, Python. */
import type { OperationInfo, Parameter, Schema, Schemas } from "./document.ts"
import { isKeyed, isStream } from "./document.ts"
import { alternatives, resolve } from "./schema.ts"

/** A request of an operation with the values of its form. */
export interface FilledRequest {
  readonly operation: OperationInfo
  readonly schemas: Schemas
  /** Address of the service without a path. */
  readonly base: string
  readonly values: Readonly<Record<string, string>>
  /** JSON text; null without a body. */
  readonly body: string | null
}

const isGiven = (values: FilledRequest["values"], { name }: Parameter): boolean => (values[name] ?? "") !== ""

const givenIn = ({ operation: { parameters = [] }, values }: FilledRequest, place: Parameter["in"]) =>
  parameters.filter((parameter) => parameter.in === place && isGiven(values, parameter))

/** Path and query of a request. */
export const targetOf = (request: FilledRequest): string => {
  const { operation, values } = request
  const path = operation.path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(values[name] ?? ""))
  const query = givenIn(request, "query").map(({ name }) => [name, values[name] ?? ""])
  return query.length === 0 ? path : `${path}?${new URLSearchParams(Object.fromEntries(query))}`
}

/** The header parameters of a request. */
export const headersOf = (request: FilledRequest): ReadonlyArray<readonly [string, string]> =>
  givenIn(request, "header").map(({ name }) => [name, request.values[name] ?? ""] as const)

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const compact = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body))
  } catch {
    return body
  }
}

/** A command for a shell. The secret comes from `$KEY`. */
export const curlOf = (request: FilledRequest): string => {
  const { base, body, operation } = request
  return [
    `curl${isStream(operation) ? " -N" : ""}${operation.method === "GET" || (operation.method === "POST" && body !== null) ? "" : ` -X ${operation.method}`} "${base}${targetOf(request)}"`,
    ...(isKeyed(operation) ? [`-H "Authorization: Bearer $KEY"`] : []),
    ...headersOf(request).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`-H "Content-Type: application/json"`, `-d ${quoted(compact(body))}`])
  ].join(" \\\n  ")
}

const UNITS = "^(?:0|[1-9][0-9]*)$"
const LISTS = new Set(["venues", "pools"])

/** True for texts that the client takes as `bigint`. */
const isUnits = ({ description = "", pattern }: Schema): boolean => pattern === UNITS && description.includes("Units")

/** True for values that code writes without quotes. */
const isBare = ({ type }: Schema): boolean => type === "integer" || type === "boolean"

const groupsOf = (digits: string): string => digits.replaceAll(/\B(?=(?:\d{3})+$)/gu, "_")

const NAME = /^[A-Za-z_$][\w$]*$/u
const keyText = (name: string): string => (NAME.test(name) ? name : JSON.stringify(name))

/** A parameter in the form that the client takes: text becomes units, numbers, flags and lists. */
const parameterText = (schemas: Schemas, { in: place, name, schema }: Parameter, value: string): string => {
  const whole = resolve(schemas, alternatives(schemas, schema).variants[0] ?? schema).schema
  if (place === "query" && LISTS.has(name)) {
    return JSON.stringify(value.split(","))
  }
  if (/^\d+$/u.test(value) && isUnits(whole)) {
    return `${groupsOf(value)}n`
  }
  return isBare(whole) && /^(?:\d+|true|false)$/u.test(value) ? value : JSON.stringify(value)
}

const recordText = (entries: ReadonlyArray<readonly [string, string]>, indent: string): string =>
  entries.length === 0
    ? "{}"
    : `{\n${entries.map(([name, text]) => `${indent}  ${keyText(name)}: ${text}`).join(",\n")}\n${indent}}`

/** A value of a body in the form that the client takes. */
const valueText = (schemas: Schemas, schema: Schema, value: unknown, indent: string): string => {
  const variants = alternatives(schemas, schema).variants.map((variant) => resolve(schemas, variant).schema)
  const whole = variants.find(({ type }) => type === undefined || type === jsonType(value)) ?? variants[0] ?? {}
  if (typeof value === "string") {
    return isUnits(whole) && /^\d+$/u.test(value) ? `${groupsOf(value)}n` : JSON.stringify(value)
  }
  if (Array.isArray(value)) {
    return `[${value.map((item) => valueText(schemas, whole.items ?? {}, item, indent)).join(", ")}]`
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(
      ([name, field]) => [name, valueText(schemas, whole.properties?.[name] ?? {}, field, `${indent}  `)] as const
    )
    return recordText(fields, indent)
  }
  return JSON.stringify(value)
}

const jsonType = (value: unknown): string => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value)

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}

const IN_CLIENT = [
  ["params", "path"],
  ["query", "query"],
  ["headers", "header"]
] as const

const clientParts = (request: FilledRequest): ReadonlyArray<readonly [string, string]> => {
  const { body, operation, schemas, values } = request
  const parts = IN_CLIENT.flatMap(([part, place]) => {
    const given = givenIn(request, place).map((parameter) => {
      const name = place === "header" ? parameter.name.toLowerCase() : parameter.name
      return [name, parameterText(schemas, parameter, values[parameter.name] ?? "")] as const
    })
    return given.length === 0 ? [] : [[part, recordText(given, "  ")] as const]
  })
  const schema = operation.requestBody?.content?.["application/json"]?.schema
  return body === null || schema === undefined
    ? parts
    : [...parts, ["payload", valueText(schemas, schema, parsed(body), "  ")] as const]
}

const CLIENT = "fathom/client"

/** A program with the typed client. */
export const typescriptOf = (request: FilledRequest): string => {
  const { base, operation } = request
  const parts = clientParts(request)
  const call = `client.${operation.operationId}(${parts.length === 0 ? "" : recordText(parts, "")})`
  const use = isStream(operation)
    ? `for await (const frame of ${call}) {\n  console.log(frame)\n}`
    : `const answer = await ${call}\nconsole.log(answer)`
  return [
    `import { createClient } from ${JSON.stringify(CLIENT)}`,
    "",
    `const client = createClient({ baseUrl: ${JSON.stringify(base)}, key: process.env["KEY"] ?? "" })`,
    "",
    use
  ].join("\n")
}

const pythonText = (value: unknown, indent: string): string => {
  if (value === null) {
    return "None"
  }
  if (typeof value === "boolean") {
    return value ? "True" : "False"
  }
  if (Array.isArray(value)) {
    return `[${value.map((item) => pythonText(item, indent)).join(", ")}]`
  }
  if (typeof value === "object") {
    const fields = Object.entries(value).map(
      ([name, field]) => `${indent}    ${JSON.stringify(name)}: ${pythonText(field, `${indent}    `)},`
    )
    return fields.length === 0 ? "{}" : `{\n${fields.join("\n")}\n${indent}}`
  }
  return JSON.stringify(value)
}

/** A program in Python with `requests`. */
export const pythonOf = (request: FilledRequest): string => {
  const { base, body, operation } = request
  const path = targetOf({ ...request, operation: { ...operation, parameters: [] } })
  const query = Object.fromEntries(givenIn(request, "query").map(({ name }) => [name, request.values[name]]))
  const headers = Object.fromEntries(headersOf(request))
  const streams = isStream(operation)
  const fields = [
    ...(Object.keys(query).length === 0 ? [] : [`params=${pythonText(query, "    ")}`]),
    ...(isKeyed(operation)
      ? [
          `headers={"Authorization": "Bearer " + os.environ["KEY"]${Object.entries(headers)
            .map(([name, value]) => `, ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
            .join("")}}`
        ]
      : []),
    ...(body === null ? [] : [`json=${pythonText(parsed(body), "    ")}`]),
    ...(streams ? ["stream=True"] : []),
    "timeout=30"
  ]
  return [
    ...(isKeyed(operation) ? ["import os"] : []),
    "import requests",
    "",
    `answer = requests.${operation.method.toLowerCase()}(`,
    `    ${JSON.stringify(base + path)},`,
    ...fields.map((field) => `    ${field},`),
    ")",
    "answer.raise_for_status()",
    ...(streams ? ["for line in answer.iter_lines(decode_unicode=True):", "    print(line)"] : ["print(answer.text)"])
  ].join("\n")
}

/** Writes examples into the document: one for every parameter and body, one for every answer, and one for every error code. */
import type { Examples } from "./examples.ts"

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly default?: unknown
  readonly minimum?: number
  readonly anyOf?: ReadonlyArray<Schema>
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Media {
  readonly schema: Schema
  example?: unknown
  examples?: Readonly<Record<string, { readonly $ref: string }>>
}

interface Parameter {
  readonly name: string
  readonly schema: Schema
  example?: unknown
}

interface Body {
  readonly content?: Readonly<Record<string, Media>>
}

/** The part of a document that holds examples. */
export interface ExampleDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string
            readonly parameters?: ReadonlyArray<Parameter>
            readonly requestBody?: Body
            readonly responses: Readonly<Record<string, Body>>
          }
        >
      >
    >
  >
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>
  }
}

const resolved = (schemas: ExampleDocument["components"]["schemas"], schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (schemas[schema.$ref.split("/").at(-1) ?? ""] ?? schema)

/** A recorded text as the value that it spells. */
const spelled = ({ type }: Schema, text: string): unknown =>
  type === "integer" ? Number(text) : type === "boolean" ? text === "true" : text

/** The value of a parameter: from the recorded request, else from another operation, else one that its schema names. */
const parameterExample = (schema: Schema, own: string | undefined, shared: string | undefined): unknown => {
  const text = own ?? shared
  if (own === undefined && schema.default !== undefined) {
    return schema.default
  }
  if (own === undefined && schema.enum !== undefined) {
    return schema.enum[0]
  }
  if (text !== undefined) {
    return spelled(schema, text)
  }
  return schema.type === "boolean" ? true : schema.minimum
}

const codesOf = (schemas: ExampleDocument["components"]["schemas"], { schema }: Media): ReadonlyArray<string> =>
  (schema.anyOf ?? [schema]).flatMap((variant) => {
    const code = resolved(schemas, variant).properties?.["error"]?.properties?.["code"]?.enum?.[0]
    return typeof code === "string" ? [code] : []
  })

/** The document with its examples. A parameter, a body or an answer without one fails. */
export const withExamples = <D extends ExampleDocument>(
  document: D,
  { errors, operations, parameters: shared }: Examples
): D => {
  const { schemas } = document.components
  const missing: Array<string> = []
  const used = new Set<string>()
  const give = (place: { example?: unknown }, example: unknown, name: string) => {
    if (example === undefined) {
      missing.push(name)
    }
    place.example = example
  }
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const { operationId, parameters = [], requestBody, responses } = operation
    const own = operations[operationId]
    for (const parameter of parameters) {
      const { name, schema } = parameter
      const example = parameterExample(
        resolved(schemas, schema),
        own?.parameters[name],
        shared[`${operationId} ${name}`] ?? shared[name]
      )
      give(parameter, example, `${operationId} ${name}`)
    }
    for (const media of Object.values(requestBody?.content ?? {})) {
      give(media, own?.body, `${operationId} body`)
    }
    for (const [status, { content = {} }] of Object.entries(responses)) {
      for (const [type, media] of Object.entries(content)) {
        const codes = codesOf(schemas, media)
        if (codes.length > 0) {
          codes.forEach((code) => used.add(code))
          media.examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
        } else {
          if (type === "application/vnd.apache.parquet") {
            media.example = "PAR1...PAR1"
            continue
          }
          const answer = type === "text/csv" ? operations[`${operationId} csv`]?.answers[status] : own?.answers[status]
          give(media, answer?.value, `${operationId} ${status} ${type}`)
        }
      }
    }
  }
  if (missing.length > 0) {
    throw new Error(`No example of ${missing.join(", ")}: add a call to test/api/walkTable.ts.`)
  }
  document.components.examples = Object.fromEntries(
    [...used].map((code) => [code, { summary: code, value: errors[code] }])
  )
  return document
}

/** The OpenAPI document: its operations, their answers and their errors. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: Schema
  readonly anyOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly enum?: ReadonlyArray<string | number | boolean | null>
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  /** Schema of the JSON inside a text. */
  readonly contentSchema?: Schema
  readonly example?: unknown
  readonly examples?: ReadonlyArray<unknown>
}

/** Schemas of the document by name. */
export type Schemas = Readonly<Record<string, Schema>>

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required: boolean
  readonly schema: Schema
  readonly description?: string
  readonly example?: unknown
}

/** A body of a request or an answer. */
export interface Media {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>
}

interface Content {
  readonly description?: string
  readonly content?: Readonly<Record<string, Media>>
}

interface Described {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary?: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
  readonly security?: ReadonlyArray<unknown>
  readonly "x-scopes"?: ReadonlyArray<string>
  readonly "x-budget"?: string | null
  readonly "x-cost"?: number
}

/** The part of an OpenAPI document that the reference shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description?: string }
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: {
    readonly schemas: Schemas
    readonly headers?: Readonly<Record<string, { readonly description?: string; readonly schema?: Schema }>>
  }
}

/** One operation. `method` is in upper case; `path` has its parameters in braces. */
export interface OperationInfo extends Described {
  readonly method: string
  readonly path: string
}

/** One error that an operation can return. */
export interface ErrorInfo {
  readonly status: number
  readonly code: string
  readonly meaning: string
}

/** The document, with its operations as a list in the order of its tags. */
export interface Reference {
  readonly document: ApiDocument
  readonly operations: ReadonlyArray<OperationInfo>
}

export const referenceOf = (document: ApiDocument): Reference => {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }))
  )
  const operations = document.tags.flatMap(({ name }) => all.filter(({ tags }) => tags[0] === name))
  return { document, operations }
}

/** Status, media type and schema of an operation's success; null when it has no body. */
export const successOf = ({
  responses
}: OperationInfo): { readonly status: string; readonly type: string; readonly media: Media } | null => {
  for (const [status, { content = {} }] of Object.entries(responses)) {
    const [first] = Object.entries(content)
    if (status.startsWith("2") && first !== undefined) {
      return { status, type: first[0], media: first[1] }
    }
  }
  return null
}

/** True for an operation that answers with server-sent events. */
export const isStream = (operation: OperationInfo): boolean => successOf(operation)?.type === "text/event-stream"

/** True for an operation that needs a key or a session. */
export const isKeyed = ({ security }: OperationInfo): boolean => (security?.length ?? 0) > 0

const ADMISSION =
  / *(?:Scope: [^.]*(?:`[^`]*`[^.]*)*\.|Any key\.|No key is needed\.|Sessions of the app only\.) (?:Costs [^.]*\.|Free of charge\.)$/u

/** The prose of an operation. Its sentences on scope and cost are left out: the page shows both as fields. */
export const proseOf = ({ description = "" }: OperationInfo): string => description.replace(ADMISSION, "")

const SEPARATOR = " | "

const codeOf = (schemas: Schemas, { $ref = "" }: Schema): string | null => {
  const code =
    schemas[$ref.replace("#/components/schemas/", "")]?.properties?.["error"]?.properties?.["code"]?.enum?.[0]
  return typeof code === "string" ? code : null
}

/**
 * The errors of an operation by status. When one status has several codes, their meanings are in the order of their
 * schemas.
 */
export const errorsOf = (schemas: Schemas, { responses }: OperationInfo): ReadonlyArray<ErrorInfo> =>
  Object.entries(responses).flatMap(([status, { content = {}, description = "" }]) => {
    const schema = Number(status) < 400 ? undefined : content["application/json"]?.schema
    const variants = schema === undefined ? [] : (schema.anyOf ?? [schema])
    const meanings = description.split(SEPARATOR)
    return variants.flatMap((variant, place) => {
      const code = codeOf(schemas, variant)
      const meaning = meanings.length === variants.length ? (meanings[place] ?? "") : description
      return code === null ? [] : [{ status: Number(status), code, meaning }]
    })
  })

/** Types of parameters. A query carries text, but generators need the type of the value. */

import { SchemaAST } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

interface Schema {
  readonly [INTEGER]?: Bounds
  readonly allOf?: ReadonlyArray<Schema>
  readonly enum?: ReadonlyArray<unknown>
  readonly description?: string
  readonly [keyword: string]: unknown
}

/** Bounds of an integer parameter, both included, and its default. */
export interface Bounds {
  readonly minimum: number
  readonly maximum: number
  readonly default?: number
}

/** Keyword by which the schema of a digit string states its integer bounds. */
export const INTEGER = "x-integer"

export interface Parameter {
  readonly name: string
  schema: Schema
  description?: string
}

const flat = ({ allOf = [], ...schema }: Schema): Schema => Object.assign({}, schema, ...allOf)

const isFlag = ({ enum: values = [] }: Schema): boolean =>
  values.length === 2 && values.every((value) => value === "true" || value === "false")

const typed = (schema: Schema): Schema => {
  const { [INTEGER]: bounds, pattern: _, type: __, ...rest } = flat(schema)
  if (bounds !== undefined) {
    return { type: "integer", ...bounds, ...rest }
  }
  if (isFlag(schema)) {
    const { enum: _values, ...others } = schema
    return { ...others, type: "boolean" }
  }
  return schema
}

/** Descriptions of an endpoint's parameters by name. */
export const keyDescriptions = ({ headers, params, query }: HttpApiEndpoint.Top): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const schema of [headers, params, query]) {
    for (const { name, type } of schema !== undefined && SchemaAST.isObjects(schema.ast)
      ? schema.ast.propertySignatures
      : []) {
      const description = type.context?.annotations?.["description"]
      if (typeof description === "string") {
        found.set(String(name), description)
      }
    }
  }
  return found
}

/** Writes the type of the value and the description where generators look for them. */
export const retype = (
  parameter: Parameter,
  own: string | undefined,
  schemas: Readonly<Record<string, Schema>>
): void => {
  const { description, ...schema } = typed(parameter.schema)
  const target = typeof schema["$ref"] === "string" ? schemas[schema["$ref"].split("/").at(-1) ?? ""] : undefined
  const meaning = own ?? description ?? target?.description
  parameter.schema = schema
  if (meaning !== undefined) {
    parameter.description ??= meaning
  }
}

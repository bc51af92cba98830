/** Types of parameters: a query carries text, and generators need the type of the value that the text spells. */

interface Schema {
  readonly [INTEGER]?: Bounds
  readonly allOf?: ReadonlyArray<Schema>
  readonly enum?: ReadonlyArray<unknown>
  readonly description?: string
  readonly [keyword: string]: unknown
}

/** Ends of an integer parameter, both included, and its value when it is not given. */
export interface Bounds {
  readonly minimum: number
  readonly maximum: number
  readonly default?: number
}

/** Keyword under which the schema of a digit string states the integer that it spells. */
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

/** Writes the type of the value and the description where generators look for them. */
export const retype = (parameter: Parameter, schemas: Readonly<Record<string, Schema>>): void => {
  const { description, ...schema } = typed(parameter.schema)
  const target = typeof schema["$ref"] === "string" ? schemas[schema["$ref"].split("/").at(-1) ?? ""] : undefined
  const meaning = description ?? target?.description
  parameter.schema = schema
  if (meaning !== undefined) {
    parameter.description ??= meaning
  }
}

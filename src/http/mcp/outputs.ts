/** The JSON schema of what a tool answers beside its text: short, because a model reads it with every list of tools. */

type Json = Readonly<Record<string, unknown>>

type Schemas = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const REF = "#/components/schemas/"

const resolved = (schema: unknown, schemas: Schemas): Json => {
  const inner = isRecord(schema) ? schema : {}
  return typeof inner["$ref"] === "string" ? resolved(schemas[inner["$ref"].slice(REF.length)], schemas) : inner
}

/** The type of a schema, with null for a union of one type and null. Undefined for any other union. */
const typeOf = ({ anyOf, type }: Json, schemas: Schemas): unknown => {
  if (!Array.isArray(anyOf)) {
    return type
  }
  const types = anyOf.map((each) => resolved(each, schemas)["type"])
  return types.length === 2 && types[1] === "null" && typeof types[0] === "string" ? types : undefined
}

/** Names and types down to a depth, without bounds: an answer that is cut short must fit too. */
const outlineOf = (given: unknown, depth: number, schemas: Schemas): Json => {
  const schema = resolved(given, schemas)
  const { items, properties } = schema
  const type = typeOf(schema, schemas)
  if (type === "object" && isRecord(properties) && depth > 0) {
    const inner = Object.entries(properties).map(([name, each]) => [name, outlineOf(each, depth - 1, schemas)])
    return { type, properties: Object.fromEntries(inner) }
  }
  if (type === "array" && items !== undefined && depth > 0) {
    return { type, items: outlineOf(items, depth, schemas) }
  }
  return type === undefined ? {} : { type }
}

/** Levels of names that a schema shows: the answer, its `data`, and a row of it. */
const SHOWN = 2

/**
 * The schema of a tool's structured answer: the states of its numbers, the answer of the endpoint, and what was left
 * out. `answer` is absent when even one element of it is longer than `maxBytes`.
 */
export const outputSchemaOf = (answer: unknown, schemas: Schemas): Json => {
  const outline = outlineOf(answer, SHOWN, schemas)
  const { meta: _, ...shown } = isRecord(outline["properties"]) ? outline["properties"] : {}
  return {
    type: "object",
    properties: {
      known: { type: "string", description: "How well the numbers are known." },
      answer: Object.keys(shown).length === 0 ? outline : { type: "object", properties: shown },
      leftOut: { type: "string", description: "Which elements are shown, and how to read the rest." }
    }
  }
}

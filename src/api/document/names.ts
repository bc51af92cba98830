/** One schema a name: variants that a generator numbered become references to one schema, each with its own description. */
import { meanings } from "./meanings.ts"

type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const PREFIX = "#/components/schemas/"
const NUMBERED = /_\d+$/u

/** Structure of a schema, its description left out, as text. */
const structureOf = (schema: Json): string => JSON.stringify({ ...schema, description: undefined })

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** A reference to a schema, with a description where it has one of its own. */
const referenceTo = (name: string, description: string | undefined): Json => ({
  $ref: PREFIX + name,
  ...(description !== undefined && { description })
})

/** Applies `change` to every object inside of a value, from the outside in. */
const rewrite = (value: unknown, change: (schema: Json) => Json): unknown => {
  if (Array.isArray(value)) {
    return value.map((item) => rewrite(item, change))
  }
  if (!isJson(value)) {
    return value
  }
  return Object.fromEntries(Object.entries(change(value)).map(([key, inner]) => [key, rewrite(inner, change)]))
}

/** A reference beside a description, where a generator wrote an `allOf` of both. */
const flattened = (schema: Json): Json => {
  const { allOf, ...rest } = schema
  const [first, second, ...others] = Array.isArray(allOf) ? allOf : []
  const isBoth = isJson(first) && "$ref" in first && others.length === 0 && (second === undefined || isJson(second))
  const isProse = isJson(second) && Object.keys(second).every((key) => key === "description" || key === "default")
  return isBoth && (isProse || (second === undefined && Object.keys(rest).every((key) => key === "description")))
    ? { ...first, ...rest, ...second }
    : schema
}

/** The references that stand for the names of a document: those of a numbered name lead to the name without the number. */
const replacements = (schemas: Json): ReadonlyMap<string, Json> => {
  const found = new Map<string, Json>()
  for (const [name, schema] of Object.entries(schemas)) {
    const base = name.replace(NUMBERED, "")
    const original = schemas[base]
    if (base === name || !isJson(original) || !isJson(schema)) {
      continue
    }
    if (structureOf(original) !== structureOf(schema)) {
      throw new Error(`${name} and ${base} are different schemas of one identifier`)
    }
    const shared = meanings[base]
    if (shared === undefined) {
      throw new Error(`${base} has several descriptions and none in meanings.ts`)
    }
    const told = [original, schema].map((each) => textOf(each["description"]))
    const [first, own] = told.map((text) => (text === shared ? undefined : text))
    found.set(base, referenceTo(base, first))
    found.set(name, referenceTo(base, own))
  }
  return found
}

/** Control characters, as a pattern without the flag `u` has them: validators differ in it. */
const CONTROL = String.raw`\u0000-\u001f\u007f-\u009f`

/** A schema that every validator reads alike, without the bounds of an integer that are those of all exact ones. */
const portable = ({ maximum, minimum, ...schema }: Json): Json => ({
  ...schema,
  ...(typeof schema["pattern"] === "string" && { pattern: schema["pattern"].replaceAll(/\\p\{Cc?\}/gu, CONTROL) }),
  ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
  ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum })
})

/** Gives every schema of a document one name without a number. */
export const withPlainNames = (spec: Json): void => {
  const components = spec["components"] as { schemas: Json }
  const found = replacements(components.schemas)
  const change = (schema: Json): Json => {
    const flat = portable(flattened(schema))
    const reference = found.get(textOf(flat["$ref"])?.replace(PREFIX, "") ?? "")
    return reference === undefined ? flat : { ...reference, ...flat, $ref: reference["$ref"] }
  }
  for (const part of ["paths", "components"]) {
    spec[part] = rewrite(spec[part], change)
  }
  const { schemas } = spec["components"] as { schemas: Json }
  for (const name of found.keys()) {
    if (NUMBERED.test(name)) {
      Reflect.deleteProperty(schemas, name)
    }
  }
  for (const [name, schema] of Object.entries(schemas)) {
    if (isJson(schema) && meanings[name] !== undefined) {
      schema["description"] = meanings[name]
    }
  }
}

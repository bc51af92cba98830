/** Schemas in words, and their fields. */
import type { Schema, Schemas } from "./document.ts"

/** A schema after following its references. `name` is the name in the document; null for a schema without one. */
export interface Resolved {
  readonly schema: Schema
  readonly name: string | null
}

const REFERENCE = "#/components/schemas/"

const isNull = ({ type }: Schema): boolean => type === "null"

/** Follows references, the JSON inside texts, and `allOf` parts. A description at the place of use wins. */
export const resolve = (schemas: Schemas, schema: Schema): Resolved => {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace(REFERENCE, "")
    const inner = resolve(schemas, schemas[name] ?? {})
    const { description = inner.schema.description } = schema
    return { name, schema: { ...inner.schema, ...(description === undefined ? {} : { description }) } }
  }
  if (schema.contentSchema !== undefined) {
    return resolve(schemas, schema.contentSchema)
  }
  if (schema.allOf !== undefined) {
    const { allOf, ...own } = schema
    return { name: null, schema: Object.assign(own, ...allOf.map((part) => resolve(schemas, part).schema)) }
  }
  return { name: null, schema }
}

/** The alternatives of a schema without null. `isNullable` is true when null is one of them. */
export const alternatives = (
  schemas: Schemas,
  schema: Schema
): { readonly variants: ReadonlyArray<Schema>; readonly isNullable: boolean } => {
  const whole = resolve(schemas, schema).schema
  const all = whole.anyOf ?? [schema]
  return { variants: all.filter((variant) => !isNull(variant)), isNullable: all.some(isNull) }
}

const rangeText = ({ exclusiveMinimum, maximum, minimum }: Schema): string => {
  const low = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? null : minimum
  const high = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? null : maximum
  if (exclusiveMinimum !== undefined) {
    return high === null ? `, above ${exclusiveMinimum}` : `, above ${exclusiveMinimum}, up to ${high}`
  }
  if (low === null) {
    return high === null ? "" : `, up to ${high}`
  }
  return high === null ? `, from ${low}` : `, ${low} to ${high}`
}

const countText = ({ maxItems, minItems }: Schema): string =>
  maxItems === undefined ? "" : ` (${minItems ?? 0} to ${maxItems})`

const plainText = (schemas: Schemas, schema: Schema): string => {
  const { name, schema: whole } = resolve(schemas, schema)
  if (whole.anyOf !== undefined) {
    return typeText(schemas, whole)
  }
  if (whole.enum !== undefined) {
    return whole.enum.map((value) => JSON.stringify(value)).join(" or ")
  }
  if (whole.type === "array") {
    return `list of ${whole.items === undefined ? "values" : typeText(schemas, whole.items)}${countText(whole)}`
  }
  if (whole.type === "object" || whole.properties !== undefined) {
    return name === null ? "object" : name.replace(/(?:Encoded|_\d+)$/u, "")
  }
  return `${whole.type ?? "any value"}${rangeText(whole)}`
}

/** The type of a schema in words, such as `list of MarketRow` or `integer, 1 to 1000`. */
export const typeText = (schemas: Schemas, schema: Schema): string => {
  const { isNullable, variants } = alternatives(schemas, schema)
  const words = [...new Set(variants.map((variant) => plainText(schemas, variant)))]
  return [...words, ...(isNullable ? ["null"] : [])].join(" or ")
}

export interface Field {
  readonly name: string
  readonly type: string
  readonly description: string
  readonly isRequired: boolean
  readonly schema: Schema
}

/** The objects that a value of the schema can contain, looking through lists and null; empty for plain values. */
export const objectsIn = (schemas: Schemas, schema: Schema): ReadonlyArray<Resolved> =>
  alternatives(schemas, schema).variants.flatMap((variant) => {
    const found = resolve(schemas, variant)
    if (found.schema.anyOf !== undefined) {
      return objectsIn(schemas, found.schema)
    }
    if (found.schema.type === "array" && found.schema.items !== undefined) {
      return objectsIn(schemas, found.schema.items)
    }
    return found.schema.properties === undefined ? [] : [found]
  })

/** The fields of an object in the order of the document. */
export const fieldsOf = (schemas: Schemas, { properties = {}, required = [] }: Schema): ReadonlyArray<Field> =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    type: typeText(schemas, schema),
    description: resolve(schemas, schema).schema.description ?? "",
    isRequired: required.includes(name)
  }))

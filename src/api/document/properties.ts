/** Gives every property of the document a description, and every parameter its own. */
import { fields } from "./fields.ts"
import { meanings } from "./meanings.ts"

interface Schema {
  description?: string
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
}

type Schemas = Readonly<Record<string, Schema>>

const PREFIX = "#/components/schemas/"

const innerOf = ({
  additionalProperties,
  allOf = [],
  anyOf = [],
  items,
  oneOf = []
}: Schema): ReadonlyArray<Schema> => [
  ...allOf,
  ...anyOf,
  ...oneOf,
  ...(items === undefined ? [] : [items]),
  ...(typeof additionalProperties === "object" ? [additionalProperties] : [])
]

/** True for a schema with a description: its own, that of what it refers to, or that of its one alternative to null. */
const isDescribed = (schemas: Schemas, schema: Schema): boolean => {
  if (schema.description !== undefined) {
    return true
  }
  if (schema.$ref !== undefined) {
    const target = schemas[schema.$ref.replace(PREFIX, "")]
    return target !== undefined && isDescribed(schemas, target)
  }
  const variants = (schema.anyOf ?? []).filter(({ type }) => type !== "null")
  const [only] = variants
  return only !== undefined && variants.length === 1 && isDescribed(schemas, only)
}

/** Calls `visit` with each property inside of a schema, and with its place: the names that lead to it. */
const eachProperty = (
  schema: Schema,
  place: ReadonlyArray<string>,
  visit: (property: Schema, place: ReadonlyArray<string>) => void
): void => {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const inner = [...place, name]
    visit(property, inner)
    eachProperty(property, inner, visit)
  }
  for (const inner of innerOf(schema)) {
    eachProperty(inner, place, visit)
  }
}

/** True for a reference, or one beside null, to a schema that describes itself alone: its words are better than those of a name. */
const refersToDescribed = (schemas: Schemas, { $ref, anyOf = [] }: Schema): boolean => {
  const [only, ...others] = $ref === undefined ? anyOf.filter(({ type }) => type !== "null") : [{ $ref }]
  const name = others.length === 0 ? only?.$ref?.replace(PREFIX, "") : undefined
  return name !== undefined && meanings[name] === undefined && schemas[name]?.description !== undefined
}

interface Naming {
  readonly schemas: Schemas
  readonly own: Readonly<Record<string, string>>
}

/** Writes the descriptions of `fields` into the properties of a schema that have none of their own. */
const describe = (schema: Schema, root: string, { own, schemas }: Naming): void =>
  eachProperty(schema, [root], (property, place) => {
    const [whole, name] = [place.join("."), place.at(-1) ?? ""]
    const byName = refersToDescribed(schemas, property) ? undefined : (own[name] ?? fields[name])
    const meaning = own[whole] ?? fields[whole] ?? byName
    if (property.description === undefined && meaning !== undefined) {
      property.description = meaning
    }
  })

/** A body of a request or an answer. */
export interface Media {
  readonly schema: Schema
  /** First name of the places of its properties; `frame` unless given. */
  readonly root?: string
}

interface Described {
  readonly schemas: Schemas
  readonly medias: ReadonlyArray<Media>
  /** Descriptions by place or name, before those of all documents. */
  readonly own?: Readonly<Record<string, string>>
}

/** Gives the properties of named schemas, and of schemas without a name, their descriptions. */
export const withDescriptions = ({ medias, own = {}, schemas }: Described): void => {
  for (const [name, schema] of Object.entries(schemas)) {
    describe(schema, name, { own, schemas })
  }
  for (const { root = "frame", schema } of medias) {
    describe(schema, root, { own, schemas })
  }
}

/** Places of the properties that no description leads to, `Schema.property`. */
export const undescribed = ({ medias, schemas }: Described): ReadonlyArray<string> => {
  const found: Array<string> = []
  const collect = (schema: Schema, root: string) =>
    eachProperty(schema, [root], (property, place) => {
      if (!isDescribed(schemas, property)) {
        found.push(place.join("."))
      }
    })
  for (const [name, schema] of Object.entries(schemas)) {
    collect(schema, name)
  }
  for (const { root = "frame", schema } of medias) {
    collect(schema, root)
  }
  return found
}

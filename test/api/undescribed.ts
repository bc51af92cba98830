/** Finds the properties of a document that nothing describes. */

interface Schema {
  readonly description?: string
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

/** A body of a request, an answer or a message. */
export interface Media {
  readonly schema: Schema
  /** First name of the places of its properties; `frame` unless given. */
  readonly root?: string
}

interface Document {
  readonly schemas: Schemas
  readonly medias: ReadonlyArray<Media>
}

interface Body {
  readonly content?: Readonly<Record<string, Media>>
}

interface Operation {
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
}

/** The bodies of every request and answer of a document. */
export const mediasOf = (paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>): ReadonlyArray<Media> =>
  Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ requestBody, responses }) =>
      [requestBody ?? {}, ...Object.values(responses)].flatMap(({ content = {} }) => Object.values(content))
    )
  )

/** Places of the properties that no description leads to, `Schema.property`. */
export const undescribed = ({ medias, schemas }: Document): ReadonlyArray<string> => {
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

/** Search over operations, parameters, fields, error codes and the prose of the guides, in memory. */
import { type OperationInfo, type Reference, type Schema, type Schemas, errorsOf, successOf } from "./document.ts"
import { sections } from "./prose.ts"
import { fieldsOf, objectsIn } from "./schema.ts"

/** One place in the reference. */
export interface Entry {
  /** Id of the operation; page and heading of a section. */
  readonly operation: string
  readonly kind: "operation" | "parameter" | "field" | "error" | "section"
  /** The name that counts most: path, parameter, field, code or title. */
  readonly name: string
  readonly text: string
}

const DEEPEST = 5

/** Names and descriptions of a schema's fields, nested ones included, each name once. */
const namesIn = (schemas: Schemas, schema: Schema, depth: number, found: Map<string, string>): Map<string, string> => {
  for (const { schema: object } of objectsIn(schemas, schema)) {
    for (const field of fieldsOf(schemas, object)) {
      if (!found.has(field.name)) {
        found.set(field.name, field.description)
        if (depth < DEEPEST) {
          namesIn(schemas, field.schema, depth + 1, found)
        }
      }
    }
  }
  return found
}

const entriesOf = (schemas: Schemas, operation: OperationInfo): ReadonlyArray<Entry> => {
  const { description = "", method, operationId, parameters = [], path, requestBody, summary = "" } = operation
  const fields = new Map<string, string>()
  for (const media of [requestBody?.content?.["application/json"], successOf(operation)?.media]) {
    if (media !== undefined) {
      namesIn(schemas, media.schema, 0, fields)
    }
  }
  const at = (kind: Entry["kind"], name: string, text: string): Entry => ({ operation: operationId, kind, name, text })
  return [
    at("operation", `${method} ${path}`, `${summary} ${description} ${operationId}`),
    ...parameters.map(({ name, schema }) => at("parameter", name, schema.description ?? "")),
    ...Array.from(fields, ([name, text]) => at("field", name, text)),
    ...errorsOf(schemas, operation).map(({ code, meaning }) => at("error", code, meaning))
  ]
}

/** Everything in a reference that can be found. */
export const indexOf = ({ document, operations }: Reference): ReadonlyArray<Entry> => [
  ...operations.flatMap((operation) => entriesOf(document.components.schemas, operation)),
  ...sections().map(({ id, page, text, title }) => ({
    operation: `${page}#${id}`,
    kind: "section" as const,
    name: title,
    text
  }))
]

const weights: Readonly<Record<Entry["kind"], number>> = { operation: 4, parameter: 3, field: 2, error: 1, section: 3 }

/** Places among the results that sections get, however many fields have the searched name. */
const SECTIONS = 4

/** Points of an entry for one word in lower case; 0 when the entry does not contain it. */
const pointsFor = ({ kind, name, text }: Entry, word: string): number => {
  const own = name.toLowerCase()
  if (own === word) {
    return 100 + weights[kind]
  }
  // Every operation about charts comes before a page about charts.
  if (kind !== "section" && own.startsWith(word)) {
    return 40 + weights[kind]
  }
  if (own.includes(word)) {
    return 20 + weights[kind]
  }
  return text.toLowerCase().includes(word) ? 5 + weights[kind] : 0
}

/** The best entries that contain every word of the query, at most `most`. */
export const find = (entries: ReadonlyArray<Entry>, query: string, most = 12): ReadonlyArray<Entry> => {
  const words = query.toLowerCase().split(/\s+/u).filter(Boolean)
  if (words.length === 0) {
    return []
  }
  const ranked = entries
    .flatMap((entry) => {
      const points = words.map((word) => pointsFor(entry, word))
      return points.every((one) => one > 0) ? [{ entry, points: points.reduce((sum, one) => sum + one, 0) }] : []
    })
    .toSorted((one, other) => other.points - one.points)
  const isSection = ({ entry }: (typeof ranked)[number]): boolean => entry.kind === "section"
  const kept = new Set(ranked.filter(isSection).slice(0, SECTIONS))
  const others = ranked.filter((each) => !kept.has(each)).slice(0, most - kept.size)
  return [...kept, ...others].toSorted((one, other) => other.points - one.points).map(({ entry }) => entry)
}

/** The operations of the contract, as the committed document has them. */
import { readFileSync } from "node:fs"

export interface Operation {
  readonly method: string
  readonly path: string
  readonly id: string
  readonly scopes: ReadonlyArray<string>
  /** True when a key is accepted, false for operations of a session and for open ones. */
  readonly takesKey: boolean
  readonly isOpen: boolean
  readonly statuses: ReadonlySet<number>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly example: unknown }>
  readonly hasBody: boolean
  /** A body of the right form, if the document has one. */
  readonly example: unknown
}

/** The values at a path of keys; undefined where it ends early. */
const dig = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value
  )

const listAt = (value: unknown, key: string): ReadonlyArray<unknown> => {
  const list = dig(value, key)
  return Array.isArray(list) ? list : []
}

const entriesAt = (value: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<[string, unknown]> => {
  const inner = dig(value, ...path)
  return typeof inner === "object" && inner !== null ? Object.entries(inner) : []
}

const exampleOf = (media: unknown): unknown => dig(media, "example") ?? entriesAt(media, "examples")[0]?.[1]

const operationOf = (path: string, method: string, operation: unknown): Operation => {
  const security = listAt(operation, "security")
  const body = dig(operation, "requestBody", "content", "application/json")
  return {
    method: method.toUpperCase(),
    path,
    id: String(dig(operation, "operationId")),
    scopes: listAt(operation, "x-scopes").map(String),
    takesKey: security.some((scheme) => dig(scheme, "bearer") !== undefined),
    isOpen: security.length === 0,
    statuses: new Set(entriesAt(operation, "responses").map(([status]) => Number(status))),
    parameters: listAt(operation, "parameters").map((parameter) => ({
      name: String(dig(parameter, "name")),
      in: String(dig(parameter, "in")),
      example: exampleOf(parameter)
    })),
    hasBody: body !== undefined,
    example: exampleOf(body)
  }
}

/** Every operation. */
export const operations = (): ReadonlyArray<Operation> => {
  const document: unknown = JSON.parse(readFileSync(new URL("../../src/api/openapi.json", import.meta.url), "utf8"))
  return entriesAt(document, "paths").flatMap(([path, methods]) =>
    entriesAt(methods).map(([method, operation]) => operationOf(path, method, operation))
  )
}

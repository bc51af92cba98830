/** Every parameter and body field of the document, sent with values that it does not allow, and the messages of the answers. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { type Request } from "./walkRequests.ts"
import { anything } from "./walkRequests.ts"
import { valid } from "./walkTable.ts"
import { ReceivedCall, bare } from "./walkWorlds.ts"

interface Shape {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly anyOf?: ReadonlyArray<Shape>
  readonly allOf?: ReadonlyArray<Shape>
}

interface Described {
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> }
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string
            readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: "query" | "path" | "header" }>
            readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Shape } } }
          }
        >
      >
    >
  >
}

interface Refused {
  readonly error: { readonly message: string; readonly details?: ReadonlyArray<{ readonly field: string }> }
}

const document: Described = JSON.parse(readFileSync(new URL("../../src/api/openapi.json", import.meta.url), "utf8"))

const resolve = (shape: Shape): Shape => {
  const name = shape.$ref?.split("/").at(-1)
  const target = name === undefined ? undefined : document.components.schemas[name]
  return target === undefined ? shape : resolve(target)
}

/** Paths of all fields of a body. An item of a list is its first. */
const fieldsOf = (shape: Shape, path: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> => {
  const { allOf = [], anyOf = [], items, properties = {} } = resolve(shape)
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [[...path, name], ...fieldsOf(inner, [...path, name])]),
    ...(items === undefined ? [] : [[...path, "0"], ...fieldsOf(items, [...path, "0"])]),
    ...[...allOf, ...anyOf].flatMap((inner) => fieldsOf(inner, path))
  ]
}

const put = (body: unknown, [name, ...rest]: ReadonlyArray<string>, value: unknown): unknown => {
  if (name === undefined) {
    return value
  }
  const inner: unknown = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined
  return name === "0" ? [put(inner, rest, value)] : { ...Object(body), [name]: put(inner, rest, value) }
}

interface Attempt {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly field: string
  readonly request: Request
}

const texts = ["~", "-1", "0x1", "1e9", "99999999999999999999999", "a,,b", "a,a", "1".repeat(40), "x".repeat(700), ""]
const values = [...texts, {}, [], -1, 0.5, 1e300, true, null, Array.from({ length: 200 }, () => "~")]

const attempts: ReadonlyArray<Attempt> = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId: id, parameters, requestBody }]) => {
    const request = valid[id]?.(anything)
    if (request === undefined) {
      return []
    }
    const schema = requestBody?.content["application/json"].schema
    const of = (field: string, changed: Request): Attempt => ({ id, method, path, field, request: changed })
    return [
      ...parameters.flatMap(({ in: part, name }) =>
        texts.flatMap((text) => {
          switch (part) {
            case "query":
              return [of(name, { ...request, query: { ...request.query, [name]: text } })]
            case "path":
              return text === "" ? [] : [of(name, { ...request, params: { ...request.params, [name]: text } })]
            case "header":
              return [of(name, { ...request, headers: { ...request.headers, [name]: text } })]
          }
        })
      ),
      ...(schema === undefined ? [] : fieldsOf(schema)).flatMap((field) =>
        values.map((value) => of(field.join("."), { ...request, body: put(request.body, field, value) }))
      )
    ]
  })
)

const send = Effect.fnUntraced(function* ({
  method,
  path,
  request: { body, headers = {}, params = {}, query = {} }
}: Attempt) {
  const { secretOf, url } = yield* ReceivedCall
  const filled = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(params[name] ?? "x"))
  return yield* Effect.promise(() =>
    fetch(`${url}${filled}?${new URLSearchParams(query)}`, {
      method: method.toUpperCase(),
      headers: {
        ...headers,
        // A session is the credential of the operations that only a session may ask for.
        ...(headers["cookie"] === undefined && { authorization: `Bearer ${secretOf("a")}` }),
        ...(body !== undefined && { "content-type": "application/json" })
      },
      body: body === undefined ? null : JSON.stringify(body)
    }).then(async (answer) => ({ status: answer.status, text: await answer.text() }))
  )
})

const refusedOf = (text: string): Refused => JSON.parse(text)

/** Ids that may be any text: one that is not known is a 404. */
const anyText = new Set([
  "alerts.get id",
  "alerts.change id",
  "alerts.remove id",
  "copying.follow id",
  ...["change", "revoke", "rotate", "disable", "enable"].map((verb) => `accountKeys.${verb} id`)
])

const REGEXP = /RegExp|\(\?|\\[dpw]|\^\[|\]\+|\{\d+,/u

/** The parts of a field by which a message may name it: `ladder.0`, or `ladder`. */
const namesOf = (field: string): ReadonlyArray<string> => [field, field.replace(/\.\d+$/u, "")]

const assertExplained = (attempt: Attempt, text: string) => {
  const { details = [], message } = refusedOf(text).error
  const place = `${attempt.id} ${attempt.field}: ${text.slice(0, 300)}`
  const field = details[0]?.field ?? attempt.field
  assert.notMatch(message, REGEXP, place)
  assert.isTrue(
    namesOf(field).some((name) => message.includes(name)),
    place
  )
  assert.match(message, / must | is required| may be | is unknown/u, place)
}

layer(bare)("a value that is not allowed", (it) => {
  const fields = Map.groupBy(attempts, ({ field, id }) => `${id} ${field}`)

  for (const [name, tries] of fields) {
    it.effect(`of ${name} is explained`, () =>
      Effect.gen(function* () {
        let refused = 0
        for (const attempt of tries) {
          // Each has the whole budget.
          yield* TestClock.adjust("1 minute")
          const { status, text } = yield* send(attempt)
          if (status === 400) {
            refused++
            assertExplained(attempt, text)
          }
        }
        assert.strictEqual(refused > 0, !anyText.has(name))
      })
    )
  }
})

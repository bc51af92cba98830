/** The examples of the document, each against the schema that it stands beside. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { readFileSync } from "node:fs"
import { rowsOf, withExamplesOf } from "../../scripts/openapi/examples.ts"

interface Media {
  readonly schema: object
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>
}

interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<Media & { readonly name: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
  }
}

const document: Document = JSON.parse(readFileSync("src/api/openapi.json", "utf8"))
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

/** The schema without room for fields that it does not name, so that an example of a field that is gone fails. */
const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) {
    return schema.map(closed)
  }
  if (typeof schema !== "object" || schema === null) {
    return schema
  }
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return "properties" in inner && !("additionalProperties" in inner) ? { ...inner, additionalProperties: false } : inner
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema({ $id: "document", components: { schemas: closed(document.components.schemas) } })

const place = (schema: object): object =>
  JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/components', '"document#/components'))

const compiled = new Map<string, ValidateFunction>()

/** Faults of a value; empty without any. */
const faultsOf = (schema: object, value: unknown): string => {
  if (value === undefined) {
    return "no example"
  }
  const placed = JSON.stringify(place(schema))
  const validate = compiled.get(placed) ?? ajv.compile(JSON.parse(placed))
  compiled.set(placed, validate)
  return validate(value) ? "" : `${ajv.errorsText(validate.errors)} ${JSON.stringify(value).slice(0, 300)}`
}

const answers = operations.flatMap(({ operationId, responses }) =>
  Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.entries(content).map(([type, media]): readonly [string, Media] => [
      `${operationId} ${status} ${type}`,
      media
    ])
  )
)

const parameters = operations.flatMap(({ operationId, parameters: declared = [] }) =>
  declared.map((parameter): readonly [string, Media] => [`${operationId} ${parameter.name}`, parameter])
)

const bodies = operations.flatMap(({ operationId, requestBody }) =>
  Object.values(requestBody?.content ?? {}).map((media): readonly [string, Media] => [operationId, media])
)

/** Reads of wallets, tokens, pools and perps whose examples have rows. */
const LISTS = [
  "wallets.transfers",
  "wallets.trades",
  "wallets.positions",
  "wallets.lots",
  "wallets.related",
  "wallets.balances",
  "wallets.pnlHistory",
  "wallets.summary",
  "topTraders.leaders",
  "topTraders.rank",
  "launches.ofWallet",
  "launches.list",
  "tokens.holders",
  "tokens.holderHistory",
  "trades.ofToken",
  "trades.liquidityEvents",
  "pools.list",
  "pools.trades",
  "pools.liquidityEvents",
  "screen.tokens",
  "market.movement",
  "perps.markets",
  "perps.funding"
]

/** An example with this answer. */
const exampleOf = (data: unknown) => ({
  parameters: {},
  answers: { "200": { type: "application/json", value: { data } } }
})

describe("the examples of the document", () => {
  it.each(parameters)("%s", (_, { example, schema }) => assert.strictEqual(faultsOf(schema, example), ""))

  it.each(bodies)("the body of %s", (_, { example, schema }) => assert.strictEqual(faultsOf(schema, example), ""))

  it.each(answers)("the answer %s", (_, { example, examples, schema }) => {
    if (examples === undefined) {
      assert.strictEqual(faultsOf(schema, example), "")
      return
    }
    assert.isAbove(Object.keys(examples).length, 0)
    for (const { $ref } of Object.values(examples)) {
      const { value } = document.components.examples[$ref.split("/").at(-1) ?? ""] ?? {}
      assert.strictEqual(faultsOf(schema, value), "")
    }
  })

  it.each(LISTS)("the answer of %s has rows", (id) => {
    const { example } = answers.find(([name]) => name === `${id} 200 application/json`)?.[1] ?? {}
    assert.isNotEmpty(rowsOf(example) ?? [], id)
  })

  it("show a transfer with both of its ends, as CSV too", () => {
    const [json, csv] = ["application/json", "text/csv"].map(
      (type) => answers.find(([name]) => name === `wallets.transfers 200 ${type}`)?.[1].example
    )
    const ends = (rowsOf(json) ?? []).map((row) => [Reflect.get(Object(row), "from"), Reflect.get(Object(row), "to")])
    assert.isTrue(ends.some(([from, to]) => typeof from === "string" && typeof to === "string"))
    const [head = "", first = ""] = String(csv).split("\n")
    assert.match(head, /,from,to/u)
    assert.match(first, /^\w{64,},/u)
  })

  it("stay where a new recording has no rows", () => {
    const [rows, others, none, text] = [exampleOf([1]), exampleOf([2]), exampleOf([]), exampleOf({ name: "a" })]
    assert.deepStrictEqual(
      withExamplesOf({ a: rows, b: rows, c: none, d: text }, { a: none, b: others, c: none, e: none }),
      {
        a: rows,
        b: others,
        c: none,
        d: text,
        e: none
      }
    )
  })

  it("hold no secret", () => {
    const text = readFileSync("src/api/openapi.json", "utf8")
    assert.notMatch(text, /svc_(?:live|test)_\w{20,}/u)
  })

  it("fail with a field that the schema does not name", () => {
    const { schema } = answers.find(([name]) => name.startsWith("system.live 200"))?.[1] ?? { schema: {} }
    assert.include(faultsOf(schema, { status: "ok", gone: 1 }), "additional properties")
  })
})

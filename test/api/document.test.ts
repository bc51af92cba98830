/** Types, names, descriptions, order and marks of the OpenAPI document, as generators take them. */
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { Api } from "../../src/api/Api.ts"
import { portable } from "../../src/api/document/portable.ts"
import { mediasOf, undescribed } from "./undescribed.ts"

interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly description?: string
    readonly schema: Readonly<Record<string, unknown>>
  }>
  readonly security?: ReadonlyArray<object>
  readonly deprecated?: boolean
}

interface Shared {
  readonly $ref?: string
  readonly description?: string
  readonly anyOf?: ReadonlyArray<{ readonly $ref?: string }>
}

const document = OpenApi.fromApi(Api)
const { schemas } = document.components

const paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> = JSON.parse(JSON.stringify(document.paths))
const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
const parameters = operations.flatMap(({ operationId, parameters: declared = [] }) =>
  declared.map((parameter) => ({ ...parameter, at: `${operationId} ${parameter.name}` }))
)

const text = JSON.stringify(document)

describe("the schemas of the document", () => {
  it("describe every property", () => {
    const plain = JSON.parse(JSON.stringify(document))
    assert.deepStrictEqual(undescribed({ schemas: plain.components.schemas, medias: mediasOf(plain.paths) }), [])
  })

  it("state the unit of every amount, which the shared schemas of amounts cannot", () => {
    const names = ["Atomic", "WideAtomic", "Decimal", "Decimals", "Usd"]
    const shared = new Set(names.map((name) => `#/components/schemas/${name}`))
    const isShared = ({ anyOf = [], $ref, description }: Shared): boolean =>
      description === undefined && [{ $ref }, ...anyOf].some((each) => each.$ref !== undefined && shared.has(each.$ref))
    const unnamed: Array<string> = []
    const collect = (value: object, place: string): void => {
      for (const [name, inner] of Object.entries(value)) {
        if (typeof inner === "object" && inner !== null) {
          unnamed.push(...(place.endsWith(".properties") && isShared(inner) ? [`${place}.${name}`] : []))
          collect(inner, `${place}.${name}`)
        }
      }
    }
    collect(JSON.parse(JSON.stringify(schemas)), "schemas")
    assert.deepStrictEqual(unnamed, [])
  })

  it("describe themselves", () => {
    const mute = Object.entries(schemas).filter(([, { description }]) => !description)
    assert.deepStrictEqual(
      mute.map(([name]) => name),
      []
    )
  })

  it("have names without numbers", () => {
    assert.deepStrictEqual(
      Object.keys(schemas).filter((name) => /_\d+$/u.test(name)),
      []
    )
    assert.notMatch(text, /schemas\/\w+_\d+"/u)
  })

  it("have the description of a property beside the reference or the schema", () => {
    const $ref = "#/components/schemas/Address"
    const prose = { description: "A third." }
    assert.deepStrictEqual<unknown>(
      portable({
        a: { $ref },
        b: { allOf: [{ $ref }, prose] },
        c: { type: "string", description: "Own.", allOf: [prose] }
      }),
      { a: { $ref }, b: { $ref, ...prose }, c: { type: "string", ...prose } }
    )
    const pattern = { pattern: "^[^,]+$" }
    assert.deepStrictEqual<unknown>(portable({ type: "string", allOf: [pattern, prose] }), {
      type: "string",
      ...prose,
      allOf: [pattern]
    })
  })
})

describe("the parameters of the document", () => {
  it.each(parameters)("$at is described", ({ description }) => {
    assert.isAbove(description?.length ?? 0, 0)
  })

  it("are integers where they are whole numbers, with both ends", () => {
    const integers = parameters.filter(({ schema }) => schema["type"] === "integer")
    assert.isAtLeast(integers.length, 33)
    for (const { at, schema } of integers) {
      assert.isNumber(schema["minimum"], at)
      assert.isNumber(schema["maximum"], at)
    }
    assert.notMatch(text, /"\^\(\?:0\|\[1-9\]\[0-9\]\{0,15\}\)\$"|x-integer/u)
  })

  it.each(parameters.filter(({ name }) => name === "limit"))("$at states its default", ({ schema }) => {
    const { default: byDefault, maximum, minimum } = schema
    assert.isTrue(Number(minimum) <= Number(byDefault) && Number(byDefault) <= Number(maximum))
  })

  it("are booleans where they are true or false", () => {
    assert.notInclude(text, '"enum":["true","false"]')
    assert.isTrue(parameters.some(({ name, schema }) => name === "changesOnly" && schema["type"] === "boolean"))
  })
})

describe("the document as a whole", () => {
  it("names its server, its contact and its license", () => {
    const { contact, license } = Object.assign({ contact: undefined }, document.info)
    assert.isDefined(contact)
    assert.strictEqual(license?.name, "MIT")
    assert.lengthOf(document.servers ?? [], 1)
  })

  it("has a title for every tag", () => {
    for (const tag of document.tags) {
      assert.isString(Reflect.get(tag, "x-displayName"), tag.name)
    }
  })

  it("marks exactly the operations that always reject", () => {
    for (const operation of operations) {
      const isClosed = operation.operationId.startsWith("closed.")
      assert.strictEqual(Reflect.get(operation, "x-internal") === true, isClosed, operation.operationId)
      assert.strictEqual(operation.deprecated === true, isClosed, operation.operationId)
    }
  })

  it("prices every operation with a key", () => {
    for (const operation of operations.filter(({ security = [] }) => security.length > 0)) {
      assert.isNumber(Reflect.get(operation, "x-cost"), operation.operationId)
      assert.isArray(Reflect.get(operation, "x-scopes"), operation.operationId)
    }
  })
})

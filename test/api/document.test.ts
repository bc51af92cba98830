/** Types, names, descriptions, order and marks of the OpenAPI document, as generators take them. */
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { Api } from "../../src/api/Api.ts"
import { mediasOf } from "../../src/api/document/admission.ts"
import { fields } from "../../src/api/document/fields.ts"
import { undescribed, withDescriptions } from "../../src/api/document/properties.ts"
import { withPlainNames } from "../../src/api/document/names.ts"

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
    assert.deepStrictEqual(undescribed({ schemas, medias: mediasOf(document) }), [])
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

  it("leave the words of a schema to those who refer to it", () => {
    const referred = { $ref: "#/components/schemas/Lookup" }
    const spec = {
      Lookup: { type: "string", description: "Own words." },
      Row: { properties: { state: { ...referred } } }
    }
    withDescriptions({ schemas: spec, medias: [], own: { state: "State of a transaction." } })
    assert.deepStrictEqual<unknown>(spec.Row.properties.state, referred)
    withDescriptions({ schemas: spec, medias: [], own: { "Row.state": "State of the row." } })
    assert.deepStrictEqual<unknown>(spec.Row.properties.state, { ...referred, description: "State of the row." })
  })

  it("describe themselves, but for JSON inside of text", () => {
    const mute = Object.entries(schemas).filter(([name, { description }]) => !description && !name.endsWith("Encoded"))
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

  it("keep the description of each place of a shared schema", () => {
    const spec = {
      paths: {},
      components: {
        schemas: {
          Address: { type: "string", description: "An input." },
          Address_1: { type: "string", description: "A Solana address: base58 of 32 bytes." },
          Pair: {
            properties: {
              a: { $ref: "#/components/schemas/Address" },
              b: { $ref: "#/components/schemas/Address_1" },
              c: { allOf: [{ $ref: "#/components/schemas/Address_1" }, { description: "A third." }] }
            }
          }
        }
      }
    }
    withPlainNames(spec)
    const $ref = "#/components/schemas/Address"
    assert.deepStrictEqual<unknown>(spec.components.schemas, {
      Address: { type: "string", description: "A Solana address: base58 of 32 bytes." },
      Pair: { properties: { a: { $ref, description: "An input." }, b: { $ref }, c: { $ref, description: "A third." } } }
    })
  })

  it("are refused where one name has two structures", () => {
    const spec = {
      paths: {},
      components: { schemas: { Address: { type: "string" }, Address_1: { type: "integer" } } }
    }
    assert.throws(() => withPlainNames(spec), "different schemas")
  })

  it("use every description that is given by name", () => {
    const unused = Object.entries(fields).filter(([, meaning]) => !text.includes(JSON.stringify(meaning)))
    assert.deepStrictEqual(
      unused.map(([name]) => name),
      []
    )
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

import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { readdirSync, readFileSync } from "node:fs"
import {
  type ApiDocument,
  errorsOf,
  isStream,
  proseOf,
  referenceOf,
  successOf
} from "../../../src/web/docs/document.ts"
import { proseText, sections } from "../../../src/web/docs/prose.ts"
import { firstRequest, type Living, sampleOf } from "../../../src/web/docs/sample.ts"
import { typeText } from "../../../src/web/docs/schema.ts"
import { find, indexOf } from "../../../src/web/docs/search.ts"
import { curlOf, pythonOf, typescriptOf } from "../../../src/web/docs/snippets.ts"

const document = JSON.parse(
  readFileSync(new URL("../../../src/api/openapi.json", import.meta.url), "utf8")
) as ApiDocument
const reference = referenceOf(document)
const { schemas } = document.components
const MINT = "EsUtxf9iambveeqnPHnEuzHvbxrXipLcMtwPgoBHwQuj"
const WALLET = "H377GRxbbQLJnoEFXZQF4FtP7MaQkPKF5JNkC9or9fTP"
const living: Living = { mints: [MINT, WALLET], wallets: [WALLET], named: {}, nowMs: 1_800_000_000_000 }

const operationOf = (id: string) => {
  const found = reference.operations.find(({ operationId }) => operationId === id)
  assert.isDefined(found, id)
  return found
}

const requestOf = (id: string) => {
  const operation = operationOf(id)
  return { operation, schemas, base: "http://127.0.0.1:3000", ...firstRequest(schemas, operation, living) }
}

const validator = new Ajv2020({ strict: false, validateFormats: false })
validator.addSchema({ $id: "document", components: document.components })

/** What is wrong with a value of a schema of the document. */
const faultsOf = (schema: object, value: unknown): ReadonlyArray<unknown> => {
  const placed: unknown = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components'))
  const validate = validator.compile(placed as object)
  return validate(value) ? [] : (validate.errors ?? [])
}

describe("the reference", () => {
  it("has every operation of the document, in the order of its groups", () => {
    const methods = Object.values(document.paths).flatMap((path) => Object.keys(path))
    assert.lengthOf(reference.operations, methods.length)
    assert.deepStrictEqual(
      [...new Set(reference.operations.map(({ tags: [tag] }) => tag))],
      document.tags.map(({ name }) => name)
    )
  })

  it("gives every error code its own meaning", () => {
    for (const operation of reference.operations) {
      for (const { code, meaning } of errorsOf(schemas, operation)) {
        assert.notStrictEqual(meaning, "", `${operation.operationId} ${code}`)
        assert.notInclude(meaning, " | ", `${operation.operationId} ${code}`)
      }
    }
  })

  it("leaves scope and cost out of the prose, because the page shows them as fields", () => {
    for (const operation of reference.operations) {
      assert.notMatch(proseOf(operation), /Scope:|Costs \d|Any key\./u, operation.operationId)
    }
    assert.include(proseOf(operationOf("alerts.create")), "201 for a new alert")
  })

  it("writes types in words", () => {
    const { media } = successOf(operationOf("market.movement")) ?? {}
    assert.strictEqual(typeText(schemas, media?.schema ?? {}), "MovementAnswer")
    assert.strictEqual(typeText(schemas, { anyOf: [{ type: "string" }, { type: "null" }] }), "string or null")
    assert.strictEqual(
      typeText(schemas, { type: "array", items: { $ref: "#/components/schemas/Hop" }, minItems: 1, maxItems: 4 }),
      "list of Hop (1 to 4)"
    )
    assert.strictEqual(typeText(schemas, { type: "integer", minimum: 1, maximum: 1000 }), "integer, 1 to 1000")
  })
})

describe("a sample", () => {
  const bodies = reference.operations.flatMap((operation) => {
    const media = operation.requestBody?.content?.["application/json"]
    return media === undefined ? [] : [[operation.operationId, media] as const]
  })
  it.each(bodies)("of the body of %s satisfies its schema", (_, media) => {
    assert.deepStrictEqual(faultsOf(media.schema, sampleOf(schemas, media, living, true)), [])
  })

  const answers = reference.operations.flatMap((operation) => {
    const success = isStream(operation) ? null : successOf(operation)
    return success === null ? [] : [[operation.operationId, success.media] as const]
  })
  it.each(answers)("of the answer of %s satisfies its schema", (_, media) => {
    assert.deepStrictEqual(faultsOf(media.schema, sampleOf(schemas, media, living, false)), [])
  })

  it("is the example of the document when there is one", () => {
    const schema = { type: "object" }
    assert.deepStrictEqual(sampleOf(schemas, { schema, example: { a: 1 } }, living, true), { a: 1 })
    assert.deepStrictEqual(sampleOf(schemas, { schema, examples: { one: { value: 2 } } }, living, true), 2)
    assert.deepStrictEqual(sampleOf(schemas, { schema: { type: "string", examples: ["x"] } }, living, true), "x")
  })
})

describe("the code of a request", () => {
  it("is a shell command that takes the secret from $KEY", () => {
    assert.strictEqual(
      curlOf(requestOf("spot.quote")),
      `curl "http://127.0.0.1:3000/api/v1/spot/quote?inputMint=So11111111111111111111111111111111111111112&outputMint=${MINT}&amount=1000000000" \\\n  -H "Authorization: Bearer $KEY"`
    )
    assert.include(curlOf(requestOf("spot.stream")), "curl -N ")
    assert.include(curlOf(requestOf("alerts.remove")), "curl -X DELETE ")
    assert.notInclude(curlOf(requestOf("system.live")), "Authorization")
  })

  it("quotes any body for the shell", () => {
    const request = requestOf("tracker.createGroup")
    assert.include(curlOf({ ...request, body: `{"name":"it's"}` }), String.raw`-d '{"name":"it'\''s"}'`)
    assert.include(curlOf({ ...request, body: "{broken" }), "-d '{broken'")
  })

  it("has units as bigint, numbers and flags in TypeScript", () => {
    const request = requestOf("spot.quote")
    const values = { ...request.values, slippageBps: "50", directOnly: "true", venues: "orca,raydium" }
    const text = typescriptOf({ ...request, values })
    for (const part of ["amount: 1_000_000_000n", "slippageBps: 50", "directOnly: true", `["orca","raydium"]`]) {
      assert.include(text, part)
    }
    assert.include(typescriptOf(requestOf("spot.exitCheck")), "amount: 1_000_000_000n")
    assert.include(typescriptOf(requestOf("spot.stream")), "for await (const frame of client.spot.stream({")
    assert.include(typescriptOf(requestOf("tokens.facts")), `params: {\n    chain: "solana",`)
  })

  it("has JSON as Python literals", () => {
    const request = requestOf("spot.exitCheck")
    const text = pythonOf({ ...request, body: `{"a":true,"b":null,"c":[1]}` })
    assert.include(text, `"a": True,`)
    assert.include(text, `"b": None,`)
    assert.include(text, `os.environ["KEY"]`)
  })
})

describe("the search", () => {
  const index = indexOf(reference)
  const top = (query: string) => find(index, query)[0]

  it("finds operations by path and words, fields and parameters by name, errors by code", () => {
    assert.strictEqual(top("spot/quote")?.kind, "operation")
    assert.deepInclude(top("outAmount"), { kind: "field", name: "outAmount" })
    assert.deepInclude(top("slippagebps"), { kind: "parameter", name: "slippageBps" })
    assert.deepInclude(top("no_route"), { kind: "error", name: "no_route" })
    assert.strictEqual(top("candles")?.operation, "marketStreams.candles")
    assert.strictEqual(top("chart")?.operation, "market.chart")
  })

  it("requires every word, and finds nothing for an empty query", () => {
    assert.deepStrictEqual(find(index, "outAmount nonsense"), [])
    assert.deepStrictEqual(find(index, "  "), [])
    assert.isAtMost(find(index, "a").length, 12)
  })
})

describe("the prose of the reference", () => {
  const index = indexOf(reference)

  it.each([
    ["retry", "client#"],
    ["webhook", "guide-alerts#"],
    ["limit", "limits#"],
    ["price", ""],
    ["alert", "guide-alerts#"],
    ["backup", "guide-upgrade#"],
    ["websocket", ""],
    ["decimals", ""],
    ["error", ""],
    ["python", ""],
    ["upgrade", "guide-upgrade#upgrade"],
    ["cluster", "guide-cluster#"],
    ["rug", ""],
    ["bot", "guide-"],
    ["tradingview", ""]
  ])("is found by the word %s", (word, place) => {
    const found = find(index, word)
    assert.isAtMost(found.length, 12)
    const places = found.flatMap(({ kind, operation }) => (kind === "section" ? [operation] : []))
    assert.isNotEmpty(places)
    assert.isTrue(
      places.some((each) => each.startsWith(place)),
      `${word} finds ${places.join()}`
    )
  })

  it("has sections of headings alone, not of comments in code", () => {
    const titles = sections().map(({ title }) => title)
    assert.include(titles, "Test a bot against the sandbox: What your bot has to survive")
    assert.isEmpty(titles.filter((title) => title.includes("Tokens that were rugged")))
  })

  it("has every guide, with links to pages of the app or no link", () => {
    const names = readdirSync("docs/guides").filter((name) => name.endsWith(".md") && name !== "README.md")
    for (const name of names) {
      assert.isDefined(proseText(`guide-${name.replace(".md", "")}`), name)
    }
    const linked = sections().flatMap(({ text }) =>
      Array.from(text.matchAll(/\]\(([^)\s]+)\)/gu), ([, link = ""]) => link)
    )
    const pages = linked.flatMap((link) => /^\/docs\/([\w-]+)/u.exec(link)?.[1] ?? [])
    assert.isAbove(pages.length, 20)
    assert.isEmpty(pages.filter((page) => proseText(page) === undefined))
    assert.isEmpty(linked.filter((link) => !/^(?:https?:\/\/|\/|#)/u.test(link)))
    assert.isUndefined(proseText("spot.quote"))
  })
})

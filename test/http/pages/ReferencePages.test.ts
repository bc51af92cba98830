import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { contractDocument } from "../../../src/http/pages/ApiDocument.ts"
import { type ReferenceDocument, referencePages } from "../../../src/http/pages/reference.ts"
import { call, running } from "../../support/http.ts"

const document = contractDocument() as ReferenceDocument
const pages = referencePages(document)

layer(running())("the reference for machines", (it) => {
  it.effect("begins at /llms.txt, and every document that it names is there without a key", () =>
    Effect.gen(function* () {
      const list = yield* call("/llms.txt", { key: null })
      assert.strictEqual(list.status, 200)
      assert.strictEqual(list.headers.get("content-type"), "text/plain; charset=utf-8")
      const named = Array.from(list.text.matchAll(/\]\((\/[^)]+)\)/gu), ([, path = ""]) => path)
      assert.isAbove(named.length, 10)
      for (const path of named.filter((each) => each !== "/mcp")) {
        assert.strictEqual((yield* call(path, { key: null })).status, 200, path)
      }
    })
  )

  it.effect("is Markdown with a tag, so that it is not loaded twice", () =>
    Effect.gen(function* () {
      const first = yield* call("/docs/spot.md", { key: null })
      assert.strictEqual(first.headers.get("content-type"), "text/markdown; charset=utf-8")
      const etag = first.headers.get("etag") ?? ""
      assert.isNotEmpty(etag)
      const again = yield* call("/docs/spot.md", { key: null, headers: { "if-none-match": etag } })
      assert.strictEqual(again.status, 304)
    })
  )
})

describe("the reference", () => {
  it("has every operation of a caller with a key, and its parameters", () => {
    const [all] = pages
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { operationId = "", parameters = [] }] of Object.entries(methods)) {
        if (!/^(?:accountKeys|closed|sessions)\./u.test(operationId)) {
          assert.include(all?.text, `\`${method.toUpperCase()} ${path}\` (\`${operationId}\`)`)
          parameters.forEach(
            ({ in: place, name }) => place === "header" || assert.include(all?.text, `| \`${name}\` |`)
          )
        }
      }
    }
  })

  it("has tables whose rows all have four cells", () => {
    const rows = pages.flatMap(({ text }) => text.split("\n").filter((line) => line.startsWith("|")))
    assert.deepStrictEqual(
      rows.filter((row) => row.replaceAll("\\|", "").split("|").length !== 6),
      []
    )
  })
})

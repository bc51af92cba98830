import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { eventsIn } from "../../../src/web/data/eventStream.ts"
import { blocksOf, inlineOf } from "../../../src/web/parts/markdown.ts"

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")

describe("Markdown", () => {
  it("becomes headings, paragraphs, lists, tables and code", () => {
    const text =
      "# A b\nwords\nmore\n\n- one\n  goes on\n- two\n\n1. first\n\n| a | b |\n| --- | --- |\n| 1 | `2` |\n\n```\nx\n\n# y\n```"
    const kinds = blocksOf(text).map(({ kind }) => kind)
    assert.deepStrictEqual(kinds, ["heading", "paragraph", "list", "list", "table", "code"])
    const [heading, paragraph, list, ordered, table, code] = blocksOf(text)
    assert.deepInclude(heading, { level: 1, id: "a-b" })
    assert.deepInclude(paragraph, { line: [{ kind: "text", text: "words more" }] })
    assert.deepInclude(list, { isOrdered: false, items: [inlineOf("one goes on"), inlineOf("two")] })
    assert.deepInclude(ordered, { isOrdered: true })
    assert.deepInclude(table, { rows: [[inlineOf("1"), [{ kind: "code", text: "2" }]]] })
    assert.deepInclude(code, { text: "x\n\n# y" })
  })

  it("links to the web, this service and this page only", () => {
    assert.deepStrictEqual(inlineOf("[a](https://x.example/)"), [
      { kind: "link", text: "a", href: "https://x.example/" }
    ])
    for (const href of ["javascript:alert", "data:text/html,x", "//evil.example", "JAVASCRIPT:x", "settings.md"]) {
      assert.deepStrictEqual(inlineOf(`[a](${href})`), [{ kind: "text", text: "a" }], href)
    }
  })

  it("keeps HTML as text", () => {
    assert.deepStrictEqual(blocksOf("<img src=x onerror=alert(1)>"), [
      { kind: "paragraph", line: [{ kind: "text", text: "<img src=x onerror=alert(1)>" }] }
    ])
  })

  it.each(["docs/numbers.md", "docs/limits.md", "CHANGELOG.md"])("in %s leaves no marks in the text", (path) => {
    const paragraphs = blocksOf(read(path)).filter(({ kind }) => kind === "paragraph")
    assert.isAbove(paragraphs.length, 0)
    for (const block of paragraphs) {
      const text = block.kind === "paragraph" ? block.line.filter(({ kind }) => kind === "text") : []
      assert.notMatch(text.map((part) => part.text).join(""), /^\||^#|\*\*/u)
    }
  })
})

describe("server-sent events", () => {
  it("are read once they are complete", () => {
    const { events, rest } = eventsIn(
      ': hello\n\nretry: 3000\n\nevent: quote\ndata: {"a":\ndata: 1}\n\ndata: x\r\n\r\nevent: clo'
    )
    assert.deepStrictEqual(events, [
      { event: "quote", data: '{"a":\n1}' },
      { event: "message", data: "x" }
    ])
    assert.strictEqual(rest, "event: clo")
  })
})

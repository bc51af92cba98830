import { assert, describe, it } from "@effect/vitest"
import { ListElements } from "../../../src/chain/rpc/listElements.ts"

const split = (text: string, width: number) => {
  const found: Array<unknown> = []
  const visit = (element: string) => found.push(JSON.parse(element))
  const elements = new ListElements({ property: "value", mostBytes: 65_536, visit })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += width) {
    elements.add(bytes.subarray(at, at + width))
  }
  return { found, rest: JSON.parse(elements.rest()) as unknown }
}

describe("ListElements", () => {
  const value = [
    { pubkey: 'quotes " and \\ and [{,', account: { data: ["AAAA", "base64"], lamports: 5 } },
    {},
    { nested: [{ deep: [1, { x: "]" }] }], ä: "é" },
    null,
    "text, with a comma",
    [1, [2]]
  ]
  const answers = [
    { jsonrpc: "2.0", result: { context: { slot: 7 }, value }, id: 1 },
    { id: 1, result: { value, context: { slot: 7, list: [1, { a: 2 }] } } },
    { id: 1, result: { others: [{ value: [1] }, 2], value, "the value": [3] } }
  ]

  it.each([1, 2, 3, 7, 1000])("finds the elements in chunks of any size: %s", (width) => {
    for (const answer of answers) {
      for (const text of [JSON.stringify(answer), JSON.stringify(answer, null, 2)]) {
        const { found, rest } = split(text, width)
        assert.deepStrictEqual(found, value)
        assert.deepStrictEqual(rest, { ...answer, result: { ...answer.result, value: [] } })
      }
    }
  })

  it("leaves an error response as it is", () => {
    const error = { jsonrpc: "2.0", error: { code: -32010, message: "excluded from account secondary indexes" }, id: 1 }
    assert.deepStrictEqual(split(JSON.stringify(error), 5), { found: [], rest: error })
  })

  it("refuses a list that comes twice, an element that is missing, and bytes that are not UTF-8", () => {
    assert.throws(() => split('{"result":{"value":[1],"value":[2]}}', 5), RangeError)
    assert.throws(() => split('{"result":{"value":[1,,2]}}', 5), SyntaxError)
    assert.throws(() => split('{"result":{"value":[1,]}}', 5), SyntaxError)
    const elements = new ListElements({ property: "value", mostBytes: 100, visit: () => undefined })
    assert.throws(() => elements.add(Buffer.from('{"result":{"value":["\xff"]}}', "latin1")), TypeError)
  })

  it("takes no other text for the name of its list", () => {
    const text = '{"result":{"a\\"value":[1],"b":"value","c":[2],"value":[3]}}'
    assert.deepStrictEqual(split(text, 4).found, [3])
  })

  it("does not keep more than it needs", () => {
    const long = JSON.stringify({ result: { value: [{ data: "x".repeat(70_000) }] } })
    assert.throws(() => split(long, 4096), RangeError)
    assert.throws(() => split(JSON.stringify({ text: "x".repeat(70_000) }), 4096), RangeError)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { SessionList } from "../../../src/http/mcp/SessionList.ts"

describe("a list of sessions", () => {
  it("makes room for a holder among its own, whatever others use", () => {
    const list = new SessionList({ all: 10, perHolder: 2 })
    assert.deepStrictEqual([list.add("a1", "a"), list.add("b1", "b"), list.add("a2", "a")], [null, null, null])
    list.use("a1")
    assert.strictEqual(list.add("a3", "a"), "a2")
    assert.strictEqual(list.size, 3)
  })

  it("makes room for all among the least recently used", () => {
    const list = new SessionList({ all: 2, perHolder: 2 })
    list.add("a1", "a")
    list.add("b1", "b")
    list.use("a1")
    list.use("gone")
    assert.strictEqual(list.add("c1", "c"), "b1")
    list.remove("a1")
    assert.strictEqual(list.add("d1", "d"), null)
    assert.strictEqual(list.size, 2)
  })
})

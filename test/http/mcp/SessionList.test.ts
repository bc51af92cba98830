import { assert, describe, it } from "@effect/vitest"
import { SessionList } from "../../../src/http/mcp/SessionList.ts"

const sessionOf = (holder: string) => ({ holder, version: "2025-06-18" })

describe("a list of sessions", () => {
  it("makes room for a holder among its own, whatever others use", () => {
    const list = new SessionList({ all: 10, perHolder: 2 })
    assert.deepStrictEqual(
      [list.add("a1", sessionOf("a")), list.add("b1", sessionOf("b")), list.add("a2", sessionOf("a"))],
      [null, null, null]
    )
    list.use("a1", "a")
    assert.strictEqual(list.add("a3", sessionOf("a")), "a2")
    assert.strictEqual(list.size, 3)
  })

  it("makes room for all among the least recently used", () => {
    const list = new SessionList({ all: 2, perHolder: 2 })
    list.add("a1", sessionOf("a"))
    list.add("b1", sessionOf("b"))
    list.use("a1", "a")
    list.use("gone", "a")
    assert.strictEqual(list.add("c1", sessionOf("c")), "b1")
    list.remove("a1", "a")
    assert.strictEqual(list.add("d1", sessionOf("d")), null)
    assert.strictEqual(list.size, 2)
  })

  it("shows and removes a session only for its holder", () => {
    const list = new SessionList({ all: 5, perHolder: 5 })
    list.add("a1", sessionOf("a"))
    assert.strictEqual(list.use("a1", "b"), null)
    assert.isFalse(list.remove("a1", "b"))
    assert.deepStrictEqual(list.use("a1", "a"), sessionOf("a"))
    list.add("a2", sessionOf("a"))
    list.add("b1", sessionOf("b"))
    assert.sameMembers(Array.from(list.removeAll("a")), ["a1", "a2"])
    assert.strictEqual(list.size, 1)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { DocumentCache } from "../../../src/tokens/documents/DocumentCache.ts"

const times = { keptMs: 1000, failedMs: 100 }
const content = {
  name: "Fern",
  symbol: null,
  description: null,
  imageUrl: null,
  links: { website: null, twitter: null, telegram: null, discord: null }
}
const READ = { _tag: "Read", document: content } as const
const FAILED = { _tag: "Failed", reason: "unreachable" } as const

describe("documents in memory", () => {
  it("are read once, and again when they are requested after they expired", () => {
    const cache = new DocumentCache(10, times)
    assert.deepInclude(cache.use("a", null, 0), { state: "waiting", reason: "waiting", document: null })
    cache.use("a", null, 0)
    assert.strictEqual(cache.begin(), "a")
    assert.isNull(cache.begin())
    cache.use("a", null, 1)
    assert.isNull(cache.begin())
    cache.finish("a", READ, 5)
    assert.deepInclude(cache.use("a", null, 1004), { state: "read", reason: null, fetchedAtMs: 5, expiresAtMs: 1005 })
    assert.isNull(cache.begin())
    assert.deepInclude(cache.use("a", null, 1005), { state: "read", document: content })
    assert.strictEqual(cache.begin(), "a")
  })

  it("remember failures, each for twice as long, up to the life of a document", () => {
    const cache = new DocumentCache(10, times)
    const waits = [100, 200, 400, 800, 1000, 1000]
    let nowMs = 0
    for (const waitMs of waits) {
      cache.use("a", null, nowMs)
      assert.strictEqual(cache.begin(), "a")
      cache.finish("a", FAILED, nowMs)
      assert.deepInclude(cache.use("a", null, nowMs + waitMs - 1), {
        state: "failed",
        reason: "unreachable",
        document: null
      })
      assert.isNull(cache.begin())
      nowMs += waitMs
    }
    cache.use("a", null, nowMs)
    cache.begin()
    cache.finish("a", READ, nowMs)
    cache.use("a", null, nowMs + 1000)
    cache.begin()
    cache.finish("a", FAILED, nowMs + 1000)
    assert.deepInclude(cache.use("a", null, nowMs + 1099), { state: "read", reason: "unreachable", document: content })
    assert.strictEqual(cache.use("a", null, nowMs + 1099).expiresAtMs, nowMs + 1100)
  })

  it("are bounded: the least recently used is dropped first, with its place in the queue", () => {
    const cache = new DocumentCache(2, times)
    cache.use("a", null, 0)
    cache.use("b", null, 0)
    cache.use("a", null, 0)
    cache.use("c", null, 0)
    assert.strictEqual(cache.size, 2)
    assert.strictEqual(cache.begin(), "a")
    assert.strictEqual(cache.begin(), "c")
    assert.isNull(cache.begin())
    cache.use("d", null, 0)
    cache.use("e", null, 0)
    cache.finish("a", READ, 0)
    assert.isNull(cache.peek("a"))
  })

  it("are read by requesters in turn, and no requester has more than 64 waiting", () => {
    const cache = new DocumentCache(1000, times)
    const asked = Array.from({ length: 100 }, (_, place) => `uri${place}`)
    asked.forEach((uri) => assert.strictEqual(cache.use(uri, "key_a", 0).state, "waiting"))
    assert.strictEqual(cache.size, 64)
    cache.use("b", "key_b", 0)
    assert.deepStrictEqual([cache.begin(), cache.begin(), cache.begin()], ["uri0", "b", "uri1"])
    cache.use("uri64", "key_a", 0)
    cache.use("uri65", "key_a", 0)
    cache.use("uri66", "key_a", 0)
    assert.strictEqual(cache.size, 67)
    const left: Array<string> = []
    for (let uri = cache.begin(); uri !== null; uri = cache.begin()) {
      left.push(uri)
    }
    assert.deepStrictEqual(left, asked.slice(2, 66))
  })
})

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
  it("are read once, and again when they have expired and are asked for", () => {
    const cache = new DocumentCache(10, times)
    assert.deepInclude(cache.use("a", 0), { state: "waiting", reason: "waiting", document: null })
    cache.use("a", 0)
    assert.strictEqual(cache.begin(), "a")
    assert.isNull(cache.begin())
    cache.use("a", 1)
    assert.isNull(cache.begin())
    cache.finish("a", READ, 5)
    assert.deepInclude(cache.use("a", 1004), { state: "read", reason: null, fetchedAtMs: 5, expiresAtMs: 1005 })
    assert.isNull(cache.begin())
    assert.deepInclude(cache.use("a", 1005), { state: "read", document: content })
    assert.strictEqual(cache.begin(), "a")
  })

  it("remember failures, each for twice as long up to the life of a document", () => {
    const cache = new DocumentCache(10, times)
    const waits = [100, 200, 400, 800, 1000, 1000]
    let nowMs = 0
    for (const waitMs of waits) {
      cache.use("a", nowMs)
      assert.strictEqual(cache.begin(), "a")
      cache.finish("a", FAILED, nowMs)
      assert.deepInclude(cache.use("a", nowMs + waitMs - 1), { state: "failed", reason: "unreachable", document: null })
      assert.isNull(cache.begin())
      nowMs += waitMs
    }
    cache.use("a", nowMs)
    cache.begin()
    cache.finish("a", READ, nowMs)
    cache.use("a", nowMs + 1000)
    cache.begin()
    cache.finish("a", FAILED, nowMs + 1000)
    assert.deepInclude(cache.use("a", nowMs + 1099), { state: "read", reason: "unreachable", document: content })
    assert.strictEqual(cache.use("a", nowMs + 1099).expiresAtMs, nowMs + 1100)
  })

  it("are bounded, the least recently used dropped first, and with them their place in the queue", () => {
    const cache = new DocumentCache(2, times)
    cache.use("a", 0)
    cache.use("b", 0)
    cache.use("a", 0)
    cache.use("c", 0)
    assert.strictEqual(cache.size, 2)
    assert.strictEqual(cache.begin(), "a")
    assert.strictEqual(cache.begin(), "c")
    assert.isNull(cache.begin())
    cache.use("d", 0)
    cache.use("e", 0)
    cache.finish("a", READ, 0)
    assert.isNull(cache.peek("a"))
  })
})

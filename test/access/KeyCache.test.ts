import { assert, describe, it } from "@effect/vitest"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { KeyCache } from "../../src/access/KeyCache.ts"
import { LastUsedLog } from "../../src/access/LastUsedLog.ts"
import { ApiKey } from "../../src/api/schemas/ApiKey.ts"

const key = (id: string, lastUsedAtMs: number | null = null) =>
  ApiKey.make({
    id,
    accountId: "local",
    name: "key",
    prefix: "svc_live_",
    lastFour: "0000",
    scopes: ["md.read"],
    ipPolicy: null,
    plan: DEFAULT_PLAN,
    expiresAtMs: null,
    replacedBy: null,
    createdAtMs: 0,
    lastUsedAtMs,
    disabledAtMs: null,
    revokedAtMs: null
  })

const CAPACITY = 10_000

describe("KeyCache", () => {
  it("holds keys and unknown hashes, and nothing else", () => {
    const cache = new KeyCache()
    cache.remember("known", key("k"), cache.version, 0)
    assert.deepStrictEqual(cache.sizes, { known: 1, unknown: 0 })
    cache.remember("unknown", null, cache.version, 0)
    assert.strictEqual(cache.get("known", 0)?.id, "k")
    assert.isNull(cache.get("unknown", 59_999))
    assert.isUndefined(cache.get("unknown", 60_000))
    assert.isUndefined(cache.get("never asked", 0))
  })

  it("keeps the hash of a secret as long as its key", () => {
    const cache = new KeyCache()
    const admit = (n: number) => {
      cache.remember(`hash ${n}`, key(`k${n}`), cache.version, 0)
      cache.rememberHash(`secret ${n}`, `hash ${n}`)
    }
    cache.rememberHash("secret 1", "hash 1")
    assert.isUndefined(cache.hashOf("secret 1"), "its key is not cached")
    admit(1)
    admit(2)
    assert.strictEqual(cache.hashOf("secret 1"), "hash 1")
    cache.drop("k1")
    assert.isUndefined(cache.hashOf("secret 1"), "its key was revoked")
    assert.strictEqual(cache.hashOf("secret 2"), "hash 2")
    for (let n = 3; n < CAPACITY + 3; n++) {
      admit(n)
    }
    assert.isUndefined(cache.hashOf("secret 2"), "its key was the oldest of a full cache")
    cache.clear()
    assert.isUndefined(cache.hashOf("secret 3"))
  })

  it("drops a key by its id", () => {
    const cache = new KeyCache()
    cache.remember("h", key("k"), cache.version, 0)
    cache.remember("other", key("o"), cache.version, 0)
    cache.drop("k")
    assert.isUndefined(cache.get("h", 0))
    assert.strictEqual(cache.get("other", 0)?.id, "o")
  })

  it("does not keep an answer that a change may have overtaken", () => {
    const cache = new KeyCache()
    const asked = cache.version
    cache.drop("k")
    cache.remember("h", key("k"), asked, 0)
    assert.isUndefined(cache.get("h", 0))
    cache.refresh("h", key("k"))
    assert.isUndefined(cache.get("h", 0))
  })

  it("forgets everything at once", () => {
    const cache = new KeyCache()
    cache.remember("h", key("k"), cache.version, 0)
    cache.remember("s", null, cache.version, 0)
    cache.clear()
    assert.isUndefined(cache.get("h", 0))
    assert.isUndefined(cache.get("s", 0))
  })

  it("holds a bounded number and drops the oldest, so unknown hashes can neither fill it nor push keys out", () => {
    const cache = new KeyCache()
    for (let i = 0; i < CAPACITY + 2; i++) {
      cache.remember(`h${i}`, key(`k${i}`), cache.version, 0)
      cache.remember(`s${i}`, null, cache.version, 0)
      cache.remember(`t${i}`, null, cache.version, 0)
    }
    assert.isUndefined(cache.get("h1", 0))
    assert.strictEqual(cache.get("h2", 0)?.id, "k2")
    assert.isUndefined(cache.get("s5001", 0))
    assert.isNull(cache.get("s5002", 0))
    // An evicted key's id no longer leads anywhere, and its return is a new entry.
    cache.drop("k1")
    cache.remember("h1", key("k1"), cache.version, 0)
    cache.drop("k1")
    assert.isUndefined(cache.get("h1", 0))
  })
})

describe("LastUsedLog", () => {
  it("holds a use until it is written, and keeps a later one", () => {
    const log = new LastUsedLog()
    log.mark(key("a"), 1000)
    log.mark(key("b"), 1000)
    const batch = log.batch()
    assert.deepStrictEqual(batch, [
      ["a", 1000],
      ["b", 1000]
    ])
    log.mark(key("b"), 2000)
    log.written(batch)
    assert.deepStrictEqual(log.batch(), [["b", 2000]])
  })

  it("shows the later of the written and the waiting time", () => {
    const log = new LastUsedLog()
    log.mark(key("a"), 5000)
    assert.strictEqual(log.merge(key("a", 1000)).lastUsedAtMs, 5000)
    assert.strictEqual(log.merge(key("a", 9000)).lastUsedAtMs, 9000)
    assert.isNull(log.merge(key("b")).lastUsedAtMs)
  })

  it("marks a key once a second", () => {
    const log = new LastUsedLog()
    const first = log.mark(key("a"), 1000)
    assert.strictEqual(log.mark(first, 1999), first)
    assert.strictEqual(log.mark(first, 2000).lastUsedAtMs, 2000)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { ClickGate, isVisit } from "../../../src/http/pages/clickGate.ts"
import { visitorOf } from "../../../src/http/middleware/clientAddress.ts"

describe("a visitor", () => {
  it("is an IPv4 address however it is written, or an IPv6 network of 64 bits", () => {
    assert.strictEqual(visitorOf("192.0.2.7"), visitorOf("::ffff:192.0.2.7"))
    assert.notStrictEqual(visitorOf("192.0.2.7"), visitorOf("192.0.2.8"))
    assert.strictEqual(visitorOf("2001:db8:1:2::1"), visitorOf("2001:db8:1:2:ffff:ffff:ffff:ffff"))
    assert.notStrictEqual(visitorOf("2001:db8:1:2::1"), visitorOf("2001:db8:1:3::1"))
    assert.strictEqual(visitorOf("fe80::1%eth0"), visitorOf("fe80::2"))
  })

  it("is the same for every malformed address", () => {
    for (const address of [null, "", "nonsense", "192.0.2.7:80", "192.0.2.7, 192.0.2.8", "x".repeat(10_000)]) {
      assert.strictEqual(visitorOf(address), "unknown")
    }
  })
})

describe("a visit", () => {
  const visit = { method: "GET", userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0", purpose: undefined }

  it("is a request of a browser, not a prefetch or a request of a robot", () => {
    assert.isTrue(isVisit(visit))
    assert.isFalse(isVisit({ ...visit, method: "HEAD" }))
    assert.isFalse(isVisit({ ...visit, purpose: "prefetch;prerender" }))
    for (const userAgent of [
      undefined,
      "Twitterbot/1.0",
      "Slackbot-LinkExpanding 1.0",
      "Googlebot/2.1 (+http://x)",
      "Wget/1"
    ]) {
      assert.isFalse(isVisit({ ...visit, userAgent }), userAgent)
    }
  })
})

describe("the gate", () => {
  it("lets a visitor through once in half an hour, for each callout", () => {
    const gate = new ClickGate()
    assert.isTrue(gate.admit("a", "co_1", 0))
    assert.isFalse(gate.admit("a", "co_1", 1_799_999))
    assert.isTrue(gate.admit("a", "co_2", 1))
    assert.isTrue(gate.admit("b", "co_1", 1))
    assert.isTrue(gate.admit("a", "co_1", 1_800_000))
    assert.isFalse(gate.admit("a", "co_1", 1_800_001))
  })

  it("remembers no more visits than it may, and forgets the oldest first", () => {
    const gate = new ClickGate(3)
    for (const visitor of ["a", "b", "c", "d"]) {
      assert.isTrue(gate.admit(visitor, "co_1", 0))
    }
    assert.isFalse(gate.admit("b", "co_1", 1))
    assert.isFalse(gate.admit("d", "co_1", 1))
    assert.isTrue(gate.admit("a", "co_1", 1))
    assert.isTrue(gate.admit("b", "co_1", 1))
  })

  it("keeps a visitor that it has just let through again", () => {
    const gate = new ClickGate(2)
    gate.admit("a", "co_1", 0)
    gate.admit("b", "co_1", 0)
    assert.isTrue(gate.admit("a", "co_1", 1_800_000))
    assert.isTrue(gate.admit("c", "co_1", 1_800_000))
    assert.isFalse(gate.admit("a", "co_1", 1_800_001))
  })
})

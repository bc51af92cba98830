import { assert, describe, it } from "@effect/vitest"
import { ipPolicyOf, type ManagedKey, stateOf } from "../../../src/web/developer/keys.ts"
import { byDay, byOperation, bytesText, type UsageRow } from "../../../src/web/developer/usage.ts"

const key: ManagedKey = {
  id: "key_1",
  name: "one",
  prefix: "svc_live_",
  lastFour: "abcd",
  scopes: ["md.read"],
  ipPolicy: null,
  plan: "default",
  createdAtMs: 0,
  lastUsedAtMs: null,
  expiresAtMs: null,
  disabledAtMs: null,
  revokedAtMs: null
}

const row = (more: Partial<UsageRow>): UsageRow => ({
  day: "2026-11-22",
  keyId: "key_1",
  operation: "spot.quote",
  requests: 1,
  units: 1,
  errors: 0,
  bytes: 100,
  streamMinutes: 0,
  ...more
})

describe("a key on the page", () => {
  it("is revoked rather than expired, and expired from the moment of its expiry", () => {
    assert.strictEqual(stateOf(key, 5), "active")
    assert.strictEqual(stateOf({ ...key, disabledAtMs: 1 }, 5), "disabled")
    assert.strictEqual(stateOf({ ...key, expiresAtMs: 5 }, 5), "expired")
    assert.strictEqual(stateOf({ ...key, expiresAtMs: 6 }, 5), "active")
    assert.strictEqual(stateOf({ ...key, expiresAtMs: 1, revokedAtMs: 1 }, 5), "revoked")
  })

  it("allows all addresses without a block, and lists each block once", () => {
    assert.isNull(ipPolicyOf(" \n, "))
    assert.deepStrictEqual(ipPolicyOf("10.0.0.1\n10.0.0.0/8, 10.0.0.1"), ["10.0.0.1", "10.0.0.0/8"])
  })
})

describe("usage on the page", () => {
  it("is summed by operation, most used first", () => {
    const rows = [row({}), row({ operation: "market.chart", requests: 5 }), row({ keyId: "key_2", errors: 1 })]
    assert.deepStrictEqual(
      byOperation(rows).map(({ errors, operation, requests }) => [operation, requests, errors]),
      [
        ["market.chart", 5, 0],
        ["spot.quote", 2, 1]
      ]
    )
  })

  it("has a row for every UTC day, used or not", () => {
    const days = byDay([row({ day: "2026-11-21", requests: 3 })], 3, Date.parse("2026-11-22T23:59:59Z"))
    assert.deepStrictEqual(
      days.map(({ day, requests }) => [day, requests]),
      [
        ["2026-11-20", 0],
        ["2026-11-21", 3],
        ["2026-11-22", 0]
      ]
    )
  })

  it("shows bytes with their unit", () => {
    assert.deepStrictEqual([0, 999, 1500, 12_345_678].map(bytesText), ["0 B", "999 B", "1.5 kB", "12 MB"])
  })
})

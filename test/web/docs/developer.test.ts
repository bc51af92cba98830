import { assert, describe, it } from "@effect/vitest"
import { ipPolicyOf, type ManagedKey, stateOf } from "../../../src/web/developer/keys.ts"

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

describe("a key on the page", () => {
  it("is revoked before expired, and expired from the time of its expiry on", () => {
    assert.strictEqual(stateOf(key, 5), "active")
    assert.strictEqual(stateOf({ ...key, disabledAtMs: 1 }, 5), "disabled")
    assert.strictEqual(stateOf({ ...key, expiresAtMs: 5 }, 5), "expired")
    assert.strictEqual(stateOf({ ...key, expiresAtMs: 6 }, 5), "active")
    assert.strictEqual(stateOf({ ...key, expiresAtMs: 1, revokedAtMs: 1 }, 5), "revoked")
  })

  it("allows every address without a block, and each block once", () => {
    assert.isNull(ipPolicyOf(" \n, "))
    assert.deepStrictEqual(ipPolicyOf("10.0.0.1\n10.0.0.0/8, 10.0.0.1"), ["10.0.0.1", "10.0.0.0/8"])
  })
})

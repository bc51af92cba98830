import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { canonicalBlock, ipAllowed } from "../../src/access/ipPolicy.ts"

describe("ipAllowed", () => {
  it.each<[ReadonlyArray<string> | null, string | null, boolean]>([
    [null, "203.0.113.9", true],
    [null, null, true],
    [[], "203.0.113.9", false],
    [["203.0.113.0/24"], "203.0.113.9", true],
    [["203.0.113.0/24"], "203.0.114.9", false],
    [["203.0.113.0/24"], null, false],
    [["203.0.113.0/24"], "somewhere", false],
    [["203.0.113.0/25"], "203.0.113.128", false],
    [["203.0.113.77/24"], "203.0.113.1", true],
    [["198.51.100.7"], "198.51.100.7", true],
    [["198.51.100.7"], "198.51.100.8", false],
    [["0.0.0.0/0"], "198.51.100.8", true],
    [["10.0.0.0/8", "2001:db8::/32"], "2001:db8:1::5", true],
    [["10.0.0.0/8", "2001:db8::/32"], "10.200.0.1", true],
    [["2001:db8::/32"], "2001:db9::1", false],
    [["fe80::/10"], "fe80::1%eth0", true],
    // One IPv4 host, three spellings.
    [["203.0.113.0/24"], "::ffff:203.0.113.9", true],
    [["203.0.113.0/24"], "::ffff:cb00:7109", true],
    [["::ffff:203.0.113.0/120"], "203.0.113.9", true],
    [["::ffff:203.0.113.0/120"], "::ffff:203.0.114.9", false],
    [["::ffff:0.0.0.0/96"], "203.0.113.9", true],
    // Every IPv6 address is not every IPv4 address.
    [["::/0"], "203.0.113.9", false],
    [["0.0.0.0/0"], "2001:db8::1", false],
    [["10.0.0.0/33"], "10.0.0.1", false],
    [["10.0.0.0/8/8"], "10.0.0.1", false],
    [["10.0.0.0/ 8"], "10.0.0.1", false],
    [["010.0.0.0/8"], "10.0.0.1", false],
    [["nonsense", "10.0.0.0/8"], "10.0.0.1", true]
  ])("policy %j and caller %j: %j", (policy, address, allowed) => {
    assert.strictEqual(ipAllowed(policy, address), allowed)
  })
})

describe("canonicalBlock", () => {
  it.each([
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["10.1.2.3", "10.1.2.3/32"],
    ["2001:DB8::1", "2001:db8::1/128"],
    ["2001:db8:ffff::/33", "2001:db8:8000::/33"],
    ["::ffff:10.1.2.3/104", "10.0.0.0/8"]
  ])("reads %s as %s", (text, block) => {
    assert.deepStrictEqual(canonicalBlock(text), Option.some(block))
  })

  it.each(["", "/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0", "example.com", "::1/129", "1.2.3.4/1e1"])(
    "refuses %j",
    (text) => assert.deepStrictEqual(canonicalBlock(text), Option.none())
  )
})

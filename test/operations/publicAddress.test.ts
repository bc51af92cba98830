import { assert, describe, it } from "@effect/vitest"
import { NetAddress } from "effect/net"
import { isPublicIp, literalOf } from "../../src/operations/publicAddress.ts"

const isPublic = (text: string) => isPublicIp(NetAddress.ipFromStringUnsafe(text))

describe("the addresses of the public internet", () => {
  it.each([
    ["this network", "0.0.0.0"],
    ["this network, another host", "0.1.2.3"],
    ["private, 10/8", "10.255.255.255"],
    ["carrier-grade NAT", "100.64.0.1"],
    ["carrier-grade NAT, its end", "100.127.255.255"],
    ["loopback", "127.0.0.1"],
    ["loopback, its end", "127.255.255.254"],
    ["link-local, metadata of clouds", "169.254.169.254"],
    ["private, 172.16/12", "172.31.255.255"],
    ["protocol assignments", "192.0.0.170"],
    ["documentation", "192.0.2.1"],
    ["6to4 relays", "192.88.99.1"],
    ["private, 192.168/16", "192.168.0.1"],
    ["benchmarks", "198.19.255.255"],
    ["documentation, second", "198.51.100.7"],
    ["documentation, third", "203.0.113.7"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["host of Azure machines", "168.63.129.16"],
    ["unspecified, IPv6", "::"],
    ["loopback, IPv6", "::1"],
    ["IPv4-mapped loopback", "::ffff:127.0.0.1"],
    ["IPv4-mapped private", "::ffff:10.0.0.1"],
    ["IPv4-compatible", "::127.0.0.1"],
    ["NAT64", "64:ff9b::7f00:1"],
    ["NAT64 of a public address", "64:ff9b::808:808"],
    ["NAT64, local", "64:ff9b:1::a00:1"],
    ["discard", "100::1"],
    ["Teredo", "2001:0:4136:e378::1"],
    ["ORCHID", "2001:20::1"],
    ["documentation, IPv6", "2001:db8::1"],
    ["6to4 of loopback", "2002:7f00:1::1"],
    ["documentation, IPv6, second", "3fff::1"],
    ["segment routing", "5f00::1"],
    ["unique local", "fd00::1"],
    ["link-local, IPv6", "fe80::1"],
    ["site-local", "fec0::1"],
    ["multicast, IPv6", "ff02::1"]
  ])("do not hold %s (%s)", (_name, address) => {
    assert.isFalse(isPublic(address))
  })

  it.each(["1.1.1.1", "100.63.255.255", "100.128.0.0", "172.32.0.1", "192.0.1.1", "223.255.255.255", "::ffff:1.1.1.1"])(
    "hold %s",
    (address) => {
      assert.isTrue(isPublic(address))
    }
  )

  it.each(["2606:4700:4700::1111", "2a00:1450:4001::200e", "2001:4860:4860::8888"])("hold %s", (address) => {
    assert.isTrue(isPublic(address))
  })

  it.each([
    ["https://127.1/", "127.0.0.1"],
    ["https://0x7f000001/", "127.0.0.1"],
    ["https://2130706433/", "127.0.0.1"],
    ["https://[::1]/", "::1"],
    ["https://[::ffff:7f00:1]/", "::ffff:7f00:1"]
  ])("are read from the host of %s", (url, address) => {
    const literal = literalOf(new URL(url).hostname)
    assert.isNotNull(literal)
    assert.strictEqual(
      literal === null ? "" : NetAddress.formatIp(literal),
      NetAddress.formatIp(NetAddress.ipFromStringUnsafe(address))
    )
    assert.isFalse(literal !== null && isPublicIp(literal))
  })

  it("are not names", () => {
    assert.isNull(literalOf("metadata.example"))
  })
})

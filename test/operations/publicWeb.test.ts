import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Dns, NetAddress } from "effect/net"
import { readFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import * as PublicWebLive from "../../src/operations/publicWeb.ts"
import { PublicWeb, type PublicWebOptions } from "../../src/operations/publicWeb.ts"

const ca = readFileSync("test/support/tls/certificate.pem", "utf8")
const key = readFileSync("test/support/tls/key.pem", "utf8")

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A server with the certificate of `metadata.example` and `other.example`, and the number of its connections. */
const serving = Effect.fnUntraced(function* (handler: Handler) {
  const seen = { connections: 0, urls: new Array<string>(), hosts: new Array<string>() }
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const https = createServer({ key, cert: ca }, (request, response) => {
        seen.urls.push(request.url ?? "")
        seen.hosts.push(request.headers.host ?? "")
        handler(request, response)
      })
      https.on("connection", () => seen.connections++)
      await new Promise<void>((resolve) => void https.listen(0, "127.0.0.1", resolve))
      return https
    }),
    (https) =>
      Effect.sync(() => {
        https.closeAllConnections()
        https.close()
      })
  )
  return { seen, port: (server.address() as AddressInfo).port }
})

/** Names and their addresses. */
type Names = Readonly<Record<string, ReadonlyArray<string>>>

const recordOf = (text: string): Dns.DnsRecord => {
  const address = NetAddress.ipFromStringUnsafe(text)
  return NetAddress.isIpv4Address(address)
    ? Dns.makeRecordUnsafe("A", { address })
    : Dns.makeRecordUnsafe("AAAA", { address })
}

const web = (names: Names, options: PublicWebOptions = {}) =>
  PublicWebLive.layer({ ca, ...options }).pipe(
    Layer.provide(
      Dns.layerStatic({
        records: Object.fromEntries(Object.entries(names).map(([name, ips]) => [name, ips.map(recordOf)]))
      })
    ),
    Layer.orDie
  )

const read = { maxBytes: 1000, deadline: Duration.seconds(10), accept: "application/json" }

const isLoopback = (address: NetAddress.IpAddress) => NetAddress.isLoopback(address)

const getting = (url: string, names: Names, options: PublicWebOptions = {}) =>
  PublicWeb.use(({ get }) => get(url, read)).pipe(Effect.provide(web(names, options)))

describe("a read of an untrusted URL", () => {
  it.effect("connects to the addresses that were checked, under the name of the URL", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* serving((request, response) => {
        response.setHeader("content-type", "application/json")
        response.end(JSON.stringify(request.headers["accept-encoding"]))
      })
      const names = { "metadata.example": ["127.0.0.1"] }
      const reply = yield* getting(`https://metadata.example:${port}/a.json?b=1`, names, {
        port,
        isAllowed: isLoopback
      })
      assert.strictEqual(reply.text, '"identity"')
      assert.deepStrictEqual(seen.urls, ["/a.json?b=1"])
      assert.deepStrictEqual(seen.hosts, [`metadata.example:${port}`])
    })
  )

  it.effect.each([
    ["a private address", ["127.0.0.1"]],
    ["a private address beside a public one", ["1.1.1.1", "127.0.0.1"]],
    ["an IPv4-mapped address", ["::ffff:127.0.0.1"]],
    ["a private IPv6 address beside a public IPv4 one", ["1.1.1.1", "::1"]]
  ] as const)("is refused without a connection where the name has %s", ([, addresses]) =>
    Effect.gen(function* () {
      const { port, seen } = yield* serving((_request, response) => response.end("{}"))
      const failure = yield* Effect.flip(
        getting(`https://metadata.example:${port}/`, { "metadata.example": addresses }, { port })
      )
      assert.strictEqual(failure._tag, "UrlRefused")
      assert.strictEqual(seen.connections, 0)
    })
  )

  it.effect.each([
    "http://metadata.example/",
    "ftp://metadata.example/",
    "file:///etc/passwd",
    "data:application/json,{}",
    "https://metadata.example:8443/",
    "https://user:password@metadata.example/",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://169.254.169.254/latest/meta-data/",
    "no url"
  ])("is refused for %s", (url) =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(getting(url, { "metadata.example": ["1.1.1.1"] }))
      assert.strictEqual(failure._tag, "UrlRefused")
    })
  )

  it.effect("resolves a name only at the name servers", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(getting("https://localhost/", {}))
      assert.deepInclude(failure, { _tag: "UpstreamFailure", reason: "unreachable" })
    })
  )

  it.effect.each([
    ["to another scheme", "http://other.example/"],
    ["to a private address", "https://127.0.0.1/"],
    ["to a name of a private address", "https://other.example/"]
  ] as const)("checks a redirect %s", ([, location]) =>
    Effect.gen(function* () {
      const { port, seen } = yield* serving((_request, response) => {
        const url = new URL(location)
        const to = url.protocol === "https:" ? Object.assign(url, { port: String(port) }) : url
        response.writeHead(302, { location: to.href }).end()
      })
      const names = { "metadata.example": ["127.0.0.1"], "other.example": ["127.0.0.2"] }
      const first = NetAddress.formatIp(NetAddress.ipv4Loopback)
      let isFirst = true
      const isAllowed = (address: NetAddress.IpAddress) => {
        const allowed = isFirst && NetAddress.formatIp(address) === first
        isFirst = false
        return allowed
      }
      const failure = yield* Effect.flip(getting(`https://metadata.example:${port}/`, names, { port, isAllowed }))
      assert.strictEqual(failure._tag, "UrlRefused")
      assert.strictEqual(seen.urls.length, 1)
    })
  )

  it.effect("follows three redirects and no more", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* serving((request, response) => {
        const left = Number((request.url ?? "").slice(1))
        if (left === 0) {
          response.end("{}")
        } else {
          response.writeHead(307, { location: `/${left - 1}` }).end()
        }
      })
      const names = { "metadata.example": ["127.0.0.1"] }
      const options = { port, isAllowed: isLoopback }
      assert.strictEqual((yield* getting(`https://metadata.example:${port}/3`, names, options)).text, "{}")
      const failure = yield* Effect.flip(getting(`https://metadata.example:${port}/4`, names, options))
      assert.deepInclude(failure, { _tag: "UpstreamFailure", reason: "malformed", detail: "HTTP 307" })
      assert.strictEqual(seen.urls.length, 8)
    })
  )

  it.effect("ends with a body that is too long", () =>
    Effect.gen(function* () {
      const { port } = yield* serving((_request, response) => response.end("x".repeat(1001)))
      const failure = yield* Effect.flip(
        getting(
          `https://metadata.example:${port}/`,
          { "metadata.example": ["127.0.0.1"] },
          { port, isAllowed: isLoopback }
        )
      )
      assert.deepInclude(failure, { _tag: "UpstreamFailure", reason: "malformed" })
    })
  )

  it.effect("ends at the deadline, even when a server keeps sending", () =>
    Effect.gen(function* () {
      const asked = Promise.withResolvers<void>()
      const { port } = yield* serving((_request, response) => {
        response.write("{")
        asked.resolve()
      })
      const fiber = yield* getting(
        `https://metadata.example:${port}/`,
        { "metadata.example": ["127.0.0.1"] },
        { port, isAllowed: isLoopback }
      ).pipe(Effect.flip, Effect.forkChild({ startImmediately: true }))
      yield* Effect.promise(() => asked.promise)
      yield* TestClock.adjust(read.deadline)
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "UpstreamFailure", reason: "timeout" })
    })
  )
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { call, running } from "../../support/http.ts"

layer(
  running({ settings: { securityContact: "mailto:security@fathom.example", publicUrl: "https://fathom.example" } })
)("files that programs ask any web server for", (it) => {
  it.effect("robots.txt keeps crawlers out of the API, and lets them read the pages", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* call("/robots.txt", { key: null })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), "text/plain; charset=utf-8")
      assert.deepStrictEqual(text.split("\n"), [
        "User-agent: *",
        "Disallow: /api/",
        "Disallow: /compat/",
        "Disallow: /mcp",
        ""
      ])
    })
  )

  it.effect("favicon.ico is an icon file with one PNG of 32 by 32 pixels", () =>
    Effect.gen(function* () {
      const { url } = yield* Listening
      const response = yield* Effect.promise(() => fetch(`${url}/favicon.ico`))
      const bytes = Buffer.from(yield* Effect.promise(() => response.arrayBuffer()))
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "image/x-icon")
      assert.deepStrictEqual(
        [bytes.readUInt16LE(0), bytes.readUInt16LE(2), bytes.readUInt16LE(4), bytes[6], bytes[7]],
        [0, 1, 1, 32, 32]
      )
      const picture = bytes.subarray(bytes.readUInt32LE(18))
      assert.strictEqual(picture.length, bytes.readUInt32LE(14))
      assert.strictEqual(picture.subarray(1, 4).toString("latin1"), "PNG")
      assert.deepStrictEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [32, 32])
    })
  )

  it.effect("security.txt names the contact of the operator, for 90 days from today", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* call("/.well-known/security.txt", { key: null })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), "text/plain; charset=utf-8")
      // The clock of a test stands at the beginning of 1970.
      assert.deepStrictEqual(text.split("\n"), [
        "Contact: mailto:security@fathom.example",
        "Expires: 1970-04-01T00:00:00.000Z",
        "Preferred-Languages: en",
        "Canonical: https://fathom.example/.well-known/security.txt",
        ""
      ])
    })
  )
})

layer(running())("without a contact", (it) => {
  it.effect("security.txt is a 404 that names the setting", () =>
    Effect.gen(function* () {
      const { status, text } = yield* call("/.well-known/security.txt", { key: null })
      assert.strictEqual(status, 404)
      assert.include(text, "SECURITY_CONTACT")
    })
  )
})

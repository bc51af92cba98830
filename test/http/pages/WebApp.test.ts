import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { call, running } from "../../support/http.ts"
import { buildPages } from "../../support/pages.ts"

buildPages()

const get = Effect.fnUntraced(function* (path: string) {
  const { url } = yield* Listening
  const response = yield* Effect.promise(() => fetch(`${url}${path}`))
  return { response, text: yield* Effect.promise(() => response.text()) }
})

layer(running())("the app", (it) => {
  it.effect.each([
    "/",
    "/status",
    "/sign-in",
    "/t/So11111111111111111111111111111111111111112",
    "/w/So11111111111111111111111111111111111111112",
    "/settings/developer",
    "/docs",
    "/docs/spot.quote",
    "/docs/limits"
  ])("is the same page at %s, under a policy that allows no inline code", (path) =>
    Effect.gen(function* () {
      const { response, text } = yield* get(path)
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/html; charset=utf-8")
      assert.include(response.headers.get("content-security-policy") ?? "", "script-src 'self';")
      assert.notInclude(response.headers.get("content-security-policy") ?? "", "unsafe")
      assert.strictEqual(response.headers.get("cache-control"), "no-cache")
      assert.isNull(/<script(?![^>]*\bsrc=)|<style|\bon\w+=/u.exec(text))
      assert.isNull(/(?:src|href)="(?!\/)/u.exec(text), "every address is of this service")
    })
  )

  it.effect.each(["/nowhere", "/nowhere/else", "/t/mint", "/w/wallet", "/settings/none", "/docs/none"])(
    "answers a browser at %s with the app and status 404",
    (path) =>
      Effect.gen(function* () {
        const { headers, status } = yield* call(path, { key: null, headers: { accept: "text/html" } })
        assert.strictEqual(status, 404)
        assert.strictEqual(headers.get("content-type"), "text/html; charset=utf-8")
      })
  )

  it.effect("answers programs at unknown addresses, and everybody below /api, with the envelope", () =>
    Effect.gen(function* () {
      for (const [path, accept] of [
        ["/nowhere", "*/*"],
        ["/api/v1/nowhere", "text/html"]
      ] as const) {
        const { headers, status } = yield* call(path, { key: null, headers: { accept } })
        assert.strictEqual(status, 404)
        assert.include(headers.get("content-type") ?? "", "application/json")
      }
      const { headers, status } = yield* call("/api/v1/spot/exit-check", { key: null, headers: { accept: "*/*" } })
      assert.strictEqual(status, 405)
      assert.include(headers.get("allow") ?? "", "POST")
    })
  )

  it.effect("loads files that may be cached for good, compressed", () =>
    Effect.gen(function* () {
      const { text } = yield* get("/")
      const files = Array.from(text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/gu), ([, path = ""]) => path)
      assert.isAbove(files.length, 2)
      for (const path of files) {
        const { response } = yield* get(path)
        assert.strictEqual(response.status, 200)
        assert.include(response.headers.get("cache-control") ?? "", "immutable")
        assert.strictEqual(response.headers.get("x-content-type-options"), "nosniff")
      }
      const script = files.find((path) => path.endsWith(".js")) ?? ""
      assert.strictEqual((yield* get(script)).response.headers.get("content-encoding"), "gzip")
    })
  )

  it.effect("has no other files", () =>
    Effect.gen(function* () {
      for (const path of ["/assets/none.js", "/assets/..%2findex.html", "/assets/%00"]) {
        assert.strictEqual((yield* get(path)).response.status, 404)
      }
    })
  )

  it.effect.each([
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8"],
    ["text/html;q=0.5, text/markdown", "text/markdown; charset=utf-8"],
    ["text/html;q=0", "text/markdown; charset=utf-8"],
    ["*/*", "text/markdown; charset=utf-8"],
    ["application/json", "text/markdown; charset=utf-8"]
  ] as const)("answers /changelog for Accept: %s as %s", ([accept, contentType]) =>
    Effect.gen(function* () {
      const { headers, status } = yield* call("/changelog", { key: null, headers: { accept } })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), contentType)
      assert.match(headers.get("vary") ?? "", /^accept(?:,|$)/u)
    })
  )
})

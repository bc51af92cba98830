import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Listening } from "../../../src/http/NodeServer.ts"
import { running } from "../../support/http.ts"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

// `npm ci` builds them; a checkout with old packages has none.
if (!existsSync(pathOf("../../../dist/web/index.html"))) {
  execFileSync(process.execPath, [pathOf("../../../scripts/web.mjs")])
}

const get = Effect.fnUntraced(function* (path: string) {
  const { url } = yield* Listening
  const response = yield* Effect.promise(() => fetch(`${url}${path}`))
  return { response, text: yield* Effect.promise(() => response.text()) }
})

layer(running())("the app", (it) => {
  it.effect.each(["/", "/status", "/sign-in", "/t/mint", "/w/wallet", "/settings/developer"])(
    "is the same page at %s, under a policy that allows no inline code",
    (path) =>
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
})

import { assert, describe, it } from "@effect/vitest"
import { HttpServerRequest } from "effect/http"
import { baseUrl } from "../../../src/http/middleware/baseUrl.ts"

const asked = (host: string) => HttpServerRequest.fromWeb(new Request("http://ignored.example/", { headers: { host } }))

describe("the address of the service", () => {
  it("is the public URL, whatever host the request names", () => {
    assert.strictEqual(baseUrl("https://api.example", asked("evil.example")), "https://api.example")
    assert.strictEqual(baseUrl("https://api.example/fathom//", asked("x")), "https://api.example/fathom")
  })

  it("is unknown when the public URL is none", () => {
    for (const url of ["", "api.example", "javascript:alert(1)", "ftp://x", "https://x/?q=1", "https://x/#a"]) {
      assert.isNull(baseUrl(url, asked("api.example")), url)
    }
  })

  it("is the host that the request names, if it is a valid host", () => {
    assert.strictEqual(baseUrl(null, asked("api.example:8080")), "http://api.example:8080")
    assert.strictEqual(baseUrl(null, asked("[::1]:3000")), "http://[::1]:3000")
    for (const host of ["", "a b", "x/y", "user@x", `x"><script>`, "x:99999", "a".repeat(300)]) {
      assert.isNull(baseUrl(null, asked(host)), host)
    }
  })
})

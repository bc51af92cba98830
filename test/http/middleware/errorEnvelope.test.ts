import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { probing } from "../../support/probe.ts"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u

/** Asserts everything that every refusal has in common. */
const assertRefusal = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.isString(answer.json("error.message"))
  assert.match(String(answer.json("requestId")), UUID)
  assert.strictEqual(answer.headers.get("x-request-id"), answer.json("requestId"))
  assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
  assert.strictEqual(answer.headers.get("content-type"), "application/json")
  assert.strictEqual(answer.headers.has("retry-after"), status === 429 || status === 503 || code === "status_not_found")
}

const retryAfter = (path: string) => Effect.map(call(path), ({ headers }) => headers.get("retry-after"))

const echo = (id: string) =>
  Effect.map(call("/probe/free", { headers: { "x-client-request-id": id } }), ({ headers }) =>
    headers.get("x-client-request-id")
  )

const refusals: ReadonlyArray<readonly [string, string, string, number, string]> = [
  ["an unknown path", "GET", "/nothing/here", 404, "not_found"],
  ["a path in another case", "GET", "/Probe/free", 404, "not_found"],
  ["a path with a slash too many", "GET", "/probe/free/", 404, "not_found"],
  ["a path that cannot be decoded", "GET", "/probe/%zz", 404, "not_found"],
  ["a parameter that cannot be decoded", "GET", "/probe/fails/%zz", 400, "invalid_request"],
  ["a parameter that is no UTF-8", "GET", "/probe/fails/%E0%A4%A?x=%", 400, "invalid_request"],
  ["a parameter that cannot be decoded, by another method", "DELETE", "/probe/fails/%zz", 405, "method_not_allowed"],
  ["another method", "DELETE", "/probe/free", 405, "method_not_allowed"],
  ["a defect", "GET", "/probe/defect", 500, "internal_error"],
  ["an answer that breaks its own schema", "GET", "/probe/unencodable", 500, "internal_error"],
  ["a defect outside the contract", "GET", "/outside", 500, "internal_error"],
  ["a problem", "GET", "/probe/fails/no_route", 404, "no_route"],
  ["a problem that asks to come back", "GET", "/probe/fails/status", 404, "status_not_found"],
  ["a failing source", "GET", "/probe/fails/unavailable", 503, "data_unavailable"],
  ["a path parameter that is not one of those", "GET", "/probe/fails/else", 400, "invalid_request"],
  ["a URL of more than 8 KiB", "GET", `/probe/free?x=${"x".repeat(8192)}`, 414, "uri_too_long"],
  ["a missing scope", "GET", "/probe/perps", 403, "missing_scope"]
]

layer(probing({ keys: [keyOf("a")] }))("every refusal has the envelope, an id and CORS:", (it) => {
  for (const [what, method, path, status, code] of refusals) {
    it.effect(`${what} is ${status} ${code}`, () =>
      Effect.gen(function* () {
        assertRefusal(yield* call(path, { method }), status, code)
      })
    )
  }

  it.effect("400 names the parameter of a path that cannot be decoded", () =>
    Effect.gen(function* () {
      const answer = yield* call("/probe/fails/%c3")
      assert.deepStrictEqual<unknown>(answer.json("error.details"), [{ in: "path", field: "as", issue: "format" }])
      const page = yield* call("/t/%ff")
      assert.deepStrictEqual<unknown>(page.json("error.details"), [{ in: "path", field: "mint", issue: "format" }])
    })
  )

  it.effect("405 lists the methods of the path", () =>
    Effect.gen(function* () {
      const onRead = yield* call("/probe/free", { method: "DELETE" })
      assert.strictEqual(onRead.headers.get("allow"), "GET, HEAD, OPTIONS")
      const onLadder = yield* call("/probe/ladder", { method: "GET" })
      assert.strictEqual(onLadder.headers.get("allow"), "POST, OPTIONS")
      const onPage = yield* call("/docs", { method: "POST" })
      assert.strictEqual(onPage.headers.get("allow"), "GET, HEAD, OPTIONS")
    })
  )

  it.effect("a defect answers without details", () =>
    Effect.gen(function* () {
      for (const path of ["/probe/defect", "/probe/unencodable", "/outside"]) {
        const answer = yield* call(path)
        assert.notInclude(answer.text, "hunter2")
        assert.notInclude(answer.text, "outside the contract")
      }
    })
  )

  it.effect("a problem carries Retry-After, by default or of its own", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* retryAfter("/probe/fails/unavailable"), "1")
      assert.strictEqual(yield* retryAfter("/probe/fails/status"), "2")
      assert.strictEqual(yield* retryAfter("/probe/fails/warming"), "7")
      assert.strictEqual(yield* retryAfter("/probe/fails/no_route"), null)
    })
  )

  it.effect("a client's own id is echoed when it is 1 to 64 printable ASCII characters", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* echo("order 66"), "order 66")
      assert.strictEqual(yield* echo("x".repeat(64)), "x".repeat(64))
      assert.isNull(yield* echo("x".repeat(65)))
      assert.isNull(yield* echo("\u00e9"))
      assert.isNull(yield* echo(""))
    })
  )

  it.effect("a preflight needs no key, names methods and headers, and lasts a day", () =>
    Effect.gen(function* () {
      const answer = yield* call("/probe/read", {
        key: null,
        method: "OPTIONS",
        headers: { origin: "https://example.org", "access-control-request-method": "GET" }
      })
      assert.strictEqual(answer.status, 204)
      assert.strictEqual(answer.text, "")
      assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
      assert.strictEqual(answer.headers.get("access-control-max-age"), "86400")
      assert.strictEqual(answer.headers.get("access-control-allow-methods"), "GET, POST, PATCH, DELETE, OPTIONS")
      const allowed = "Authorization, Content-Type, Idempotency-Key, X-API-Key, X-Client-Request-Id"
      assert.strictEqual(answer.headers.get("access-control-allow-headers"), allowed)
      assert.isFalse(answer.headers.has("access-control-allow-credentials"))
      assert.isFalse(answer.headers.has("x-ratelimit-limit"))
    })
  )

  it.effect("HEAD is GET without the body", () =>
    Effect.gen(function* () {
      const get = yield* call("/probe/free")
      const head = yield* call("/probe/free", { method: "HEAD" })
      assert.strictEqual(head.status, 200)
      assert.strictEqual(head.text, "")
      assert.strictEqual(head.headers.get("content-length"), get.headers.get("content-length"))
      const refused = yield* call("/probe/free", { method: "HEAD", key: null })
      assert.strictEqual(refused.status, 401)
      assert.strictEqual(refused.text, "")
    })
  )
})

const details: ReadonlyArray<readonly [string, string, string]> = [
  ["limit=", "limit", "format"],
  ["limit=%205", "limit", "format"],
  ["limit=+5", "limit", "format"],
  ["limit=0x10", "limit", "format"],
  ["limit=1e1", "limit", "format"],
  ["limit=05", "limit", "format"],
  ["limit=5.0", "limit", "format"],
  ["limit=-5", "limit", "format"],
  ["limit=0", "limit", "out_of_range"],
  ["limit=101", "limit", "out_of_range"],
  ["limit=99999999999999999999", "limit", "format"],
  ["limit=1&limit=1", "limit", "repeated"],
  ["limit", "limit", "format"],
  ["flag=TRUE", "flag", "format"],
  ["flag=1", "flag", "format"],
  ["flag=", "flag", "format"],
  ["list=", "list", "out_of_range"],
  ["list=a,,b", "list", "out_of_range"],
  ["list=a,a", "list", "duplicate"],
  ["list=a,b,c,d", "list", "too_long"],
  ["mint=abc", "mint", "format"],
  ["kind=c", "kind", "format"],
  ["name=toolong", "name", "too_long"],
  ["nonsense=1", "nonsense", "unknown"],
  ["__proto__=1", "__proto__", "unknown"],
  ["constructor=1", "constructor", "unknown"],
  ["limit=13&flag=true", "limit", "conflict"]
]

layer(probing())("a query is refused in the words of the contract:", (it) => {
  for (const [query, field, issue] of details) {
    it.effect(`${query} is ${issue}`, () =>
      Effect.gen(function* () {
        const answer = yield* call(`/probe/read?${query}`)
        assertRefusal(answer, 400, "invalid_request")
        assert.deepStrictEqual(answer.json("error.details"), [{ in: "query", field, issue }])
        assert.include(String(answer.json("error.message")), field === "limit" && issue === "conflict" ? "13" : field)
      })
    )
  }

  it.effect("every field that is wrong is named, once", () =>
    Effect.gen(function* () {
      const answer = yield* call("/probe/read?limit=x&flag=x&more=x")
      const named = [answer.json("error.details")].flat().map((detail) => JSON.stringify(detail))
      assert.sameMembers(named, [
        JSON.stringify({ in: "query", field: "limit", issue: "format" }),
        JSON.stringify({ in: "query", field: "flag", issue: "format" }),
        JSON.stringify({ in: "query", field: "more", issue: "unknown" })
      ])
    })
  )

  it.effect("a valid request is parsed as it is written", () =>
    Effect.gen(function* () {
      const answer = yield* call("/probe/read?limit=100&flag=false&list=x,y&kind=a&name=%C3%A9%2B")
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(JSON.parse(answer.text), {
        limit: 100,
        flag: false,
        list: ["x", "y"],
        kind: "a",
        name: "\u00e9+"
      })
    })
  )

  it.effect("a parameter is refused where there are none", () =>
    Effect.gen(function* () {
      const answer = yield* call("/probe/free?limit=1&limit=1")
      assertRefusal(answer, 400, "invalid_request")
      assert.deepStrictEqual(answer.json("error.details"), [{ in: "query", field: "limit", issue: "unknown" }])
    })
  )
})

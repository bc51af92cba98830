import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { exchange, secretOf } from "../../support/http.ts"
import { probing } from "../../support/probe.ts"

/** The last answer on a connection, taken apart. */
const parse = (response: string) => {
  const last = response.slice(response.lastIndexOf("HTTP/1.1 "))
  const [head = "", body = ""] = last.split("\r\n\r\n")
  const [first = "", ...lines] = head.split("\r\n")
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(": ")[0] ?? "", line.split(": ")[1] ?? ""])
  )
  return { status: Number(first.split(" ")[1]), headers, body }
}

const assertEnvelope = (response: string, status: number, code: string) => {
  const answer = parse(response)
  assert.strictEqual(answer.status, status, response)
  assert.deepInclude(JSON.parse(answer.body).error, { code })
  assert.strictEqual(JSON.parse(answer.body).requestId, answer.headers.get("x-request-id"))
  assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
  assert.strictEqual(answer.headers.get("connection"), "close")
  assert.strictEqual(answer.headers.get("content-length"), String(answer.body.length))
  return answer
}

const get = (path: string, ...lines: ReadonlyArray<string>) => [`GET ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n")

const authorized = ["Host: x", `Authorization: Bearer ${secretOf("a")}`] as const

const refusals: ReadonlyArray<readonly [string, string, number, string]> = [
  ["no HTTP at all", "hello\r\n\r\n", 400, "invalid_request"],
  ["HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "version_not_supported"],
  ["HTTP/2.0 in the first line", "GET /probe/free HTTP/2.0\r\nHost: x\r\n\r\n", 505, "version_not_supported"],
  ["HTTP/0.9 in the first line", "GET /probe/free HTTP/0.9\r\nHost: x\r\n\r\n", 505, "version_not_supported"],
  ["HTTP/3.1 in the first line", "GET /probe/free HTTP/3.1\r\nHost: x\r\n\r\n", 505, "version_not_supported"],
  ["two Host headers", get("/probe/free", "Host: x", "Host: y"), 400, "invalid_request"],
  ["two equal Host headers", get("/probe/free", "Host: x", "host: x"), 400, "invalid_request"],
  ["GET for the whole server", get("*", "Host: x"), 400, "invalid_request"],
  ["a target without a slash", get("probe/free", "Host: x"), 400, "invalid_request"],
  ["an unknown method", "FETCH / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request"],
  ["a header without a colon", get("/probe/free", "Host: x", "nonsense"), 400, "invalid_request"],
  ["a NUL in a header", get("/probe/free", "Host: x", "a: \0"), 400, "invalid_request"],
  ["a Content-Length that is no number", get("/probe/free", "Host: x", "Content-Length: x"), 400, "invalid_request"],
  [
    "two framings of one body",
    get("/probe/free", "Host: x", "Content-Length: 1", "Transfer-Encoding: chunked"),
    400,
    "invalid_request"
  ],
  ["no Host", get("/probe/free"), 400, "invalid_request"],
  [
    "two keys",
    get("/probe/free", ...authorized, `authorization: Bearer ${secretOf("b")}`, "Connection: close"),
    400,
    "invalid_request"
  ],
  ["an empty Host", get("/probe/free", "Host: "), 400, "invalid_request"],
  ["headers of 40 KB", get("/probe/free", "Host: x", `a: ${"x".repeat(40_000)}`), 431, "headers_too_large"],
  ["headers of 200 KB", get("/probe/free", "Host: x", `a: ${"x".repeat(200_000)}`), 431, "headers_too_large"],
  ["a URL of 9 KiB", get(`/probe/free?x=${"x".repeat(9000)}`, ...authorized, "Connection: close"), 414, "uri_too_long"],
  [
    "a URL of 100 KB",
    get(`/probe/free?x=${"x".repeat(100_000)}`, ...authorized, "Connection: close"),
    414,
    "uri_too_long"
  ],
  ["an expectation", get("/probe/free", ...authorized, "Expect: a miracle"), 417, "expectation_failed"],
  ["CONNECT", "CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method_not_allowed"],
  [
    "a WebSocket that is not offered",
    get("/probe/free", ...authorized, "Connection: Upgrade", "Upgrade: websocket"),
    426,
    "upgrade_required"
  ]
]

layer(probing())("invalid HTTP is answered in the envelope:", (it) => {
  for (const [what, bytes, status, code] of refusals) {
    it.effect(`${what} is ${status} ${code}`, () =>
      Effect.gen(function* () {
        const answer = assertEnvelope(yield* exchange(bytes), status, code)
        assert.strictEqual(answer.headers.has("allow"), status === 405)
        assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
      })
    )
  }

  it.effect("an offer of HTTP/2 is passed over", () =>
    Effect.gen(function* () {
      const response = yield* exchange(
        get(
          "/probe/free",
          ...authorized,
          "Connection: Upgrade, HTTP2-Settings, close",
          "Upgrade: h2c",
          "HTTP2-Settings: AAMAAABkAAQAAP__"
        )
      )
      assert.match(response, /^HTTP\/1\.1 200 /u)
    })
  )

  it.effect("HTTP/1.0 needs no Host", () =>
    Effect.gen(function* () {
      const response = yield* exchange(`GET /probe/free HTTP/1.0\r\nAuthorization: Bearer ${secretOf("a")}\r\n\r\n`)
      assert.match(response, /^HTTP\/1\.1 200 /u)
    })
  )

  it.effect("an absolute target is read like its path", () =>
    Effect.gen(function* () {
      for (const target of ["http://x/probe/free", "HTTP://x:80/probe/free?"]) {
        const response = yield* exchange(get(target, ...authorized, "Connection: close"))
        assert.match(response, /^HTTP\/1\.1 200 /u)
      }
    })
  )

  it.effect("a good request before a bad one on the same connection is answered", () =>
    Effect.gen(function* () {
      const response = yield* exchange(`${get("/probe/free", ...authorized)}nonsense\r\n\r\n`)
      assert.match(response, /^HTTP\/1\.1 200 /u)
    })
  )
})

const patience = { headersTimeout: Duration.millis(300), requestTimeout: Duration.millis(600) }

layer(probing({ settings: patience }), { excludeTestServices: true })("a connection that dawdles", (it) => {
  const slow = {
    "over its headers": "GET /probe/free HTTP/1.1\r\nHost: x\r\n",
    "over its body": `POST /probe/ladder HTTP/1.1\r\n${authorized.join("\r\n")}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`
  }
  for (const [what, bytes] of Object.entries(slow)) {
    it.effect(`${what} is answered 408 and closed`, () =>
      Effect.gen(function* () {
        assertEnvelope(yield* exchange(bytes), 408, "request_timeout")
      })
    )
  }

  it.effect("without a word is cut", () =>
    Effect.gen(function* () {
      yield* exchange("")
    })
  )
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, call, exchange, keyOf, running, secretOf } from "../../support/http.ts"

const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
}

const order = {
  chain: "solana",
  wallet: "83dxKodC6tqf4mMkZihCqeXVW1ffjGQm68fX2PHK8GT3",
  token: "FdKdXtJtbNVC7gfYWDRfsbwNLhPXJECnTqFvZmW7GuSn",
  quoteToken: "So11111111111111111111111111111111111111112",
  side: "buy",
  amount: "1000000",
  slippageBps: 50,
  clientOrderId: "order-1",
  orderType: "limit",
  limitPriceUsd: "0.5",
  expiresAt: "2026-12-01T00:00:00Z"
}

const keys = [
  ..."abcdefg".split("").map((letter) => keyOf(letter)),
  keyOf("n", { scopes: ["account.read"] }),
  keyOf("o", { disabledAtMs: 0 }),
  keyOf("p", { ipPolicy: ["203.0.113.0/24"] })
]

type Sent = RequestInit["body"]

const send = (
  body: Sent,
  options: { readonly type?: string; readonly key?: string | null; readonly query?: string } = {}
) => {
  const { key = "a", query = "", type = "application/json" } = options
  return call(`/api/v1/spot/orders${query}`, {
    method: "POST",
    key,
    ...(body === undefined ? {} : { body }),
    headers: { "content-type": type }
  })
}

const bodies: ReadonlyArray<readonly [string, Sent, string]> = [
  ["a valid order", JSON.stringify(order), "application/json"],
  ["an order of another wallet", JSON.stringify({ ...order, wallet: order.token }), "application/json"],
  ["an order with fields that do not exist", JSON.stringify({ ...order, x: 1 }), "application/json"],
  ["an empty object", "{}", "application/json"],
  ["no JSON", "{", "application/json"],
  ["a key twice", `{"side":"buy","side":"sell"}`, "application/json"],
  ["__proto__", `{"__proto__":1}`, "application/json"],
  ["bytes that are no UTF-8", Uint8Array.of(0xc3, 0x28), "application/json"],
  ["an empty body", "", "application/json"],
  ["no body at all", undefined, "application/json"],
  ["plain text", "hello", "text/plain"],
  ["a form", "a=b", "application/x-www-form-urlencoded"],
  ["a broken multipart form", "--x", "multipart/form-data; boundary=y"],
  ["a body of exactly 8 KiB", " ".repeat(8192), "application/json"]
]

const assertLast = (response: string, status: number, code: string) => {
  const answers = response.split(/(?=HTTP\/1\.1 )/u)
  assert.strictEqual(answers.length, 1, response)
  assert.match(response, new RegExp(`^HTTP/1\\.1 ${status} `, "u"))
  assert.include(response, `"code":"${code}"`)
}

const head = (...lines: ReadonlyArray<string>) =>
  [
    "POST /api/v1/spot/orders HTTP/1.1",
    "Host: x",
    "Connection: close",
    `Authorization: Bearer ${secretOf("e")}`,
    ...lines,
    "",
    ""
  ].join("\r\n")

const chunk = (size: number) => `${size.toString(16)}\r\n${"x".repeat(size)}\r\n`

const chunked = (...sizes: ReadonlyArray<number>) =>
  exchange(`${head("Transfer-Encoding: chunked")}${sizes.map(chunk).join("")}0\r\n\r\n`)

layer(running({ keys }))("POST /api/v1/spot/orders", (it) => {
  for (const [what, body, type] of bodies) {
    it.effect(`answers 403 request_signature_required to ${what}`, () =>
      Effect.gen(function* () {
        const answer = yield* send(body, { type })
        assertRefused(answer, 403, "request_signature_required")
        assert.isUndefined(answer.json("error.details"))
      })
    )
  }

  it.effect("answers the same for every query and every claimed signature", () =>
    Effect.gen(function* () {
      const plain = yield* send("{}", { key: "b" })
      const asked = yield* send("{}", { key: "b", query: "?wallet=1&wallet=2" })
      assertRefused(asked, 403, "request_signature_required")
      assert.strictEqual(asked.json("error.message"), plain.json("error.message"))
      const signed = yield* call("/api/v1/spot/orders", {
        method: "POST",
        key: "b",
        body: "{}",
        headers: { "x-signature": "deadbeef", signature: "sig1=:AA==:", "x-timestamp": "0", "x-nonce": "1" }
      })
      assertRefused(signed, 403, "request_signature_required")
      assert.strictEqual(signed.json("error.message"), plain.json("error.message"))
    })
  )

  it.effect("asks for no scope, because none is offered", () =>
    Effect.gen(function* () {
      assertRefused(yield* send("{}", { key: "n" }), 403, "request_signature_required")
    })
  )

  it.effect("checks the key and its policy first, for nothing", () =>
    Effect.gen(function* () {
      const huge = " ".repeat(9000)
      assertRefused(yield* send(huge, { key: null }), 401, "missing_api_key")
      assertRefused(yield* send(huge, { key: "z" }), 401, "invalid_api_key")
      assertRefused(yield* send(huge, { key: "o" }), 403, "key_disabled")
      const barred = yield* send(huge, { key: "p" })
      assertRefused(barred, 403, "ip_not_allowed")
      assert.isNull(barred.headers.get("x-ratelimit-limit"))
    })
  )

  it.effect("costs one unit of the REST budget, the refusal of a large body included", () =>
    Effect.gen(function* () {
      const first = yield* send("{}", { key: "c" })
      assert.strictEqual(first.headers.get("x-ratelimit-budget"), "rest")
      assert.strictEqual(first.headers.get("x-ratelimit-cost"), "1")
      assert.strictEqual(first.headers.get("x-ratelimit-remaining"), "119")
      const large = yield* send(" ".repeat(8193), { key: "c" })
      assertRefused(large, 413, "body_too_large")
      assert.strictEqual(large.headers.get("x-ratelimit-remaining"), "118")
    })
  )

  it.effect("answers 429 once the budget is spent", () =>
    Effect.gen(function* () {
      yield* Effect.repeat(send("{}", { key: "d" }), { times: 119 })
      assertRefused(yield* send("{}", { key: "d" }), 429, "rate_limited")
    })
  )

  it.effect("reads no more than 8 KiB of a body that does not say how large it is", () =>
    Effect.gen(function* () {
      assertLast(yield* chunked(8000, 193), 413, "body_too_large")
      assertLast(yield* chunked(8000, 192), 403, "request_signature_required")
    })
  )

  it.effect("rejects a body by its Content-Length before it has been sent", () =>
    Effect.gen(function* () {
      assertLast(yield* exchange(head("Content-Length: 1000000")), 413, "body_too_large")
    })
  )

  it.effect("accepts only POST", () =>
    Effect.gen(function* () {
      const answer = yield* call("/api/v1/spot/orders")
      assert.strictEqual(answer.status, 405)
      assert.strictEqual(answer.headers.get("allow"), "POST, OPTIONS")
    })
  )
})

const paths = ["/api/v1/perps/orders", "/api/v1/perps/rebalance"]

layer(running({ keys }))("what v1 does not offer", (it) => {
  for (const path of paths) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      it.effect(`answers ${method} ${path} with 403 feature_unavailable, to a key only`, () =>
        Effect.gen(function* () {
          const body = method === "GET" ? {} : { body: "{" }
          const answer = yield* call(`${path}?x=1`, { method, ...body })
          assertRefused(answer, 403, "feature_unavailable")
          assert.strictEqual(answer.headers.get("x-ratelimit-budget"), "rest")
          assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
          assertRefused(yield* call(path, { method, key: null, ...body }), 401, "missing_api_key")
        })
      )
    }

    it.effect(`answers HEAD ${path} with 403 and no body`, () =>
      Effect.gen(function* () {
        const answer = yield* call(path, { method: "HEAD" })
        assert.strictEqual(answer.status, 403)
        assert.strictEqual(answer.text, "")
      })
    )

    it.effect(`asks for no scope at ${path}`, () =>
      Effect.gen(function* () {
        assertRefused(yield* call(path, { key: "n" }), 403, "feature_unavailable")
      })
    )
  }
})

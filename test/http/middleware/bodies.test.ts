import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readJson } from "../../../src/http/middleware/strictJson.ts"
import { type Answer, call, exchange, secretOf } from "../../support/http.ts"
import { probing } from "../../support/probe.ts"

const post = (body: RequestInit["body"], contentType: string | null = "application/json") =>
  call("/probe/ladder", {
    method: "POST",
    ...(body === undefined ? {} : { body }),
    headers: contentType === null ? {} : { "content-type": contentType }
  })

const wrapped = (encoding: string, body: string) =>
  call("/probe/ladder", {
    method: "POST",
    body,
    headers: { "content-type": "application/json", "content-encoding": encoding }
  })

const assertInvalid = (answer: Answer, field: string, issue: string) => {
  assert.strictEqual(answer.status, 400, answer.text)
  assert.strictEqual(answer.json("error.code"), "invalid_request")
  assert.deepInclude([answer.json("error.details")].flat(), { in: "body", field, issue })
}

const flawed: ReadonlyArray<readonly [string, string, string, string]> = [
  ["no JSON", "{", "", "format"],
  ["a byte order mark", `\ufeff{"rungs":1}`, "", "format"],
  ["a trailing comma", `{"rungs":1,}`, "", "format"],
  ["two documents", `{"rungs":1}{}`, "", "format"],
  ["no object", "[1]", "", "type"],
  ["null", "null", "", "type"],
  ["a missing field", "{}", "rungs", "missing"],
  ["an unknown field", `{"rungs":1,"x":1}`, "x", "unknown"],
  ["an unknown field further in", `{"rungs":1,"deep":{"list":[],"y":1}}`, "deep.y", "unknown"],
  ["__proto__", `{"rungs":1,"__proto__":{"rungs":2}}`, "__proto__", "unknown"],
  ["__proto__ further in", `{"rungs":1,"deep":{"list":[],"__proto__":1}}`, "deep.__proto__", "unknown"],
  ["__proto__ in disguise", String.raw`{"rungs":1,"\u005f_proto__":1}`, "__proto__", "unknown"],
  ["a key twice", `{"rungs":1,"rungs":2}`, "rungs", "duplicate"],
  ["a key twice in disguise", String.raw`{"rungs":1,"r\u0075ngs":2}`, "rungs", "duplicate"],
  ["a key twice further in", `{"rungs":1,"deep":{"list":[1],"list":[2]}}`, "deep.list", "duplicate"],
  ["text for a number", `{"rungs":"1"}`, "rungs", "type"],
  ["a fraction for a whole number", `{"rungs":1.5}`, "rungs", "type"],
  ["a number out of range", `{"rungs":0}`, "rungs", "out_of_range"],
  ["a wrong element", `{"rungs":1,"deep":{"list":[1,"2"]}}`, "deep.list.1", "type"]
]

const head = (...lines: ReadonlyArray<string>) =>
  [
    "POST /probe/ladder HTTP/1.1",
    "Host: x",
    `Authorization: Bearer ${secretOf("a")}`,
    "Content-Type: application/json",
    ...lines,
    "",
    ""
  ].join("\r\n")

layer(probing())("a JSON body", (it) => {
  for (const [what, body, field, issue] of flawed) {
    it.effect(`with ${what} is refused at ${JSON.stringify(field)} as ${issue}`, () =>
      Effect.gen(function* () {
        assertInvalid(yield* post(body), field, issue)
      })
    )
  }

  it.effect("is read when it is valid, also with the same key in different objects", () =>
    Effect.gen(function* () {
      const body = { rungs: 2, note: `"{,]\\"`, deep: { list: [1, 2] } }
      const answer = yield* post(JSON.stringify(body), "Application/JSON; charset=UTF-8")
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(JSON.parse(answer.text), body)
    })
  )

  it.effect("must not be empty", () =>
    Effect.gen(function* () {
      assertInvalid(yield* post(""), "", "missing")
      assertInvalid(yield* post(undefined, null), "", "missing")
    })
  )

  it.effect("has to be UTF-8", () =>
    Effect.gen(function* () {
      const bytes = Uint8Array.from([...new TextEncoder().encode(`{"rungs":1,"note":"`), 0xc3, 0x28, 0x22, 0x7d])
      assertInvalid(yield* post(bytes), "", "format")
    })
  )

  it.effect("must be declared as JSON", () =>
    Effect.gen(function* () {
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin1",
        "application/jsonx"
      ]) {
        const answer = yield* post(`{"rungs":1}`, type)
        assert.strictEqual(answer.status, 415, type)
        assert.strictEqual(answer.json("error.code"), "unsupported_media_type")
      }
      const untyped = yield* post(new TextEncoder().encode(`{"rungs":1}`), null)
      assert.strictEqual(untyped.status, 415)
    })
  )

  it.effect("must not be compressed", () =>
    Effect.gen(function* () {
      for (const encoding of ["gzip", "br", "GZIP", "identity, gzip"]) {
        const answer = yield* wrapped(encoding, `{"rungs":1}`)
        assert.strictEqual(answer.status, 415, encoding)
        assert.strictEqual(answer.json("error.code"), "unsupported_media_type")
      }
      assert.strictEqual((yield* wrapped("Identity", `{"rungs":1}`)).status, 200)
    })
  )

  it.effect("may have at most 8192 bytes", () =>
    Effect.gen(function* () {
      const frame = `{"rungs":1,"note":""}`.length
      const fits = yield* post(JSON.stringify({ rungs: 1, note: " ".repeat(8000) }).padEnd(8192))
      assert.strictEqual(fits.status, 200, fits.text)
      const answer = yield* post(JSON.stringify({ rungs: 1, note: "x".repeat(8193 - frame) }))
      assert.strictEqual(answer.status, 413, answer.text)
      assert.strictEqual(answer.json("error.code"), "body_too_large")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )

  it.effect("that claims to be too large is not waited for", () =>
    Effect.gen(function* () {
      const answer = yield* exchange(head("Content-Length: 50000000", "Connection: close"))
      assert.match(answer, /^HTTP\/1\.1 413 /u)
      assert.include(answer, `"code":"body_too_large"`)
    })
  )

  it.effect("that turns out to be too large is not read to its end", () =>
    Effect.gen(function* () {
      const chunk = `2000\r\n${" ".repeat(8192)}\r\n`
      const answer = yield* exchange(head("Transfer-Encoding: chunked", "Connection: close") + chunk + chunk)
      assert.match(answer, /^HTTP\/1\.1 413 /u)
    })
  )
})

const encode = (text: string) => readJson(new TextEncoder().encode(text))

describe("readJson", () => {
  it.effect.prop("accepts whatever JSON.stringify writes, and reads the same", [Schema.Json], ([value]) =>
    Effect.sync(() => {
      const text = JSON.stringify(value)
      const expected = text.includes(`"__proto__":`) ? { issue: "unknown" } : { text, value: JSON.parse(text) }
      assert.deepInclude(encode(text), expected)
    })
  )

  it("finds a repeated key at any depth", () => {
    assert.deepStrictEqual(encode(`[{"a":1},{"b":[{},{"c":1,"c":2}]}]`), { field: "1.b.1.c", issue: "duplicate" })
    assert.deepInclude(encode(`{"a":{"a":1},"b":{"a":1}}`), {
      text: `{"a":{"a":1},"b":{"a":1}}`,
      value: { a: { a: 1 }, b: { a: 1 } }
    })
  })

  it("keeps the digits of numbers in the root object only", () => {
    const body = encode(`{"nested":{"a":1},"\\u0061" : 1.2300000000000000000004e-2 ,"b":"2"}`)
    const textOf = (key: string) => ("issue" in body ? assert.fail("a flaw") : body.numberText(key))
    assert.deepStrictEqual(["a", "b", "nested", "c"].map(textOf), [
      "1.2300000000000000000004e-2",
      undefined,
      undefined,
      undefined
    ])
  })
})

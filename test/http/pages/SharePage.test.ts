import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { CalloutStore } from "../../../src/callouts/CalloutStore.ts"
import { CalloutStoreUnavailable, type NewCallout } from "../../../src/api/schemas/Callout.ts"
import { calloutOf, START, tradeOf } from "../../callouts/callouts.ts"
import { type Answer, call, exchange, running } from "../../support/http.ts"
import { type Markup, readMarkup } from "./markup.ts"
import { meta, namesOf } from "./sharedCallout.ts"
import * as MemoryCallouts from "../../support/memoryCallouts.ts"

const assertPage = (answer: Answer, status: number): Markup => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.headers.get("content-type"), "text/html; charset=utf-8")
  assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
  assert.strictEqual(answer.headers.get("referrer-policy"), "no-referrer")
  const policy = answer.headers.get("content-security-policy") ?? ""
  assert.match(policy, /^default-src 'none'; style-src 'self'; img-src 'self'[^;]*; base-uri 'none'; /u)
  assert.notMatch(policy, /unsafe|script-src|\*/u)
  const markup = readMarkup(answer.text)
  assert.notIncludeMembers(namesOf(markup), ["script"])
  assert.notIncludeMembers(namesOf(markup), ["style"])
  return markup
}

const browser = { "user-agent": "Mozilla/5.0 (Macintosh) Safari/605.1.15" }
const visit = (id: string, options: Parameters<typeof call>[1] = {}) =>
  call(`/c/${id}`, { key: null, ...options, headers: { ...browser, ...options.headers } })

const clicks = (id: string) =>
  Effect.map(
    Effect.flatMap(CalloutStore, (store) => store.find(id)),
    (callout) => callout?.clickCount
  )

const from = (address: string) => ({ headers: { "x-forwarded-for": address } })

const now = TestClock.setTime(START + 1000)
const post = (id: string, other: Partial<NewCallout> = {}) =>
  Effect.flatMap(CalloutStore, (store) => store.post(calloutOf(id, other)))

layer(running({ callouts: MemoryCallouts.layer, settings: { trustedHops: 1 } }))("GET /c/{id}", (it) => {
  it.effect("shows an active callout without a key, under a strict policy", () =>
    Effect.gen(function* () {
      yield* now
      yield* post("co_open")
      yield* Effect.flatMap(CalloutStore, (store) => store.attribute(tradeOf("t_1", "co_open", 250)))
      const answer = yield* visit("co_open")
      const markup = assertPage(answer, 200)
      assert.include(answer.headers.get("content-security-policy"), "img-src 'self' https://images.example;")
      assert.strictEqual(answer.headers.get("cache-control"), "no-cache")
      assert.include(markup.text, "$250.00")
      const { host } = new URL(meta(markup, "og:url") ?? "")
      assert.match(host, /^127\.0\.0\.1:\d+$/u)
    })
  )

  it.effect("loads nothing but what it serves itself, which may be kept for ever", () =>
    Effect.gen(function* () {
      yield* now
      yield* post("co_assets", { tokenImageUrl: null, creator: { ...calloutOf("co_x").creator, avatarUrl: null } })
      const { elements } = assertPage(yield* visit("co_assets"), 200)
      const loaded = elements.flatMap(({ attributes, name }) =>
        name === "link" && attributes["rel"] !== "canonical"
          ? [attributes["href"] ?? ""]
          : name === "img"
            ? [attributes["src"] ?? ""]
            : []
      )
      assert.strictEqual(loaded.length, 3)
      for (const path of loaded) {
        const asset = yield* call(path, { key: null })
        assert.strictEqual(asset.status, 200, path)
        assert.match(
          asset.headers.get("content-type") ?? "",
          path.endsWith(".css") ? /^text\/css/u : /^image\/svg\+xml/u
        )
        assert.strictEqual(asset.headers.get("cache-control"), "public, max-age=31536000, immutable")
        assert.strictEqual(asset.headers.get("x-content-type-options"), "nosniff")
        assert.notMatch(asset.text, /url\(|@import|<script/u)
      }
    })
  )

  it.effect("answers the same page for unknown, expired and removed callouts", () =>
    Effect.gen(function* () {
      yield* now
      yield* post("co_expired", { expiresAtMs: START + 1000 })
      yield* post("co_removed")
      yield* Effect.flatMap(CalloutStore, (store) => store.remove("co_removed"))
      const unknown = yield* visit("co_nobody")
      assertPage(unknown, 404)
      assert.include(unknown.text, `<meta name="robots" content="noindex" />`)
      for (const id of ["co_expired", "co_removed", "x", "%00", "%3Cscript%3E", `co_${"a".repeat(500)}`]) {
        const answer = yield* visit(id)
        assertPage(answer, 404)
        assert.strictEqual(answer.text, unknown.text)
      }
    })
  )

  it.effect("refuses other methods and other paths like everything else", () =>
    Effect.gen(function* () {
      const posted = yield* visit("co_open", { method: "POST" })
      assert.strictEqual(posted.status, 405)
      assert.strictEqual(posted.headers.get("allow"), "GET, HEAD, OPTIONS")
      assertPage(yield* visit(""), 404)
      assert.strictEqual((yield* call("/c/co_open/x", { key: null })).json("error.code"), "not_found")
    })
  )

  it.effect("counts a visitor once in half an hour, callout by callout", () =>
    Effect.gen(function* () {
      yield* now
      yield* post("co_a")
      yield* post("co_b")
      for (const address of ["10.0.0.1", "10.0.0.1", "10.0.0.2", "::ffff:10.0.0.2", "2001:db8::1", "2001:db8::2"]) {
        yield* visit("co_a", from(address))
      }
      yield* visit("co_b", from("10.0.0.1"))
      assert.strictEqual(yield* clicks("co_a"), 3)
      assert.strictEqual(yield* clicks("co_b"), 1)
      yield* TestClock.adjust("1799999 millis")
      yield* visit("co_a", from("10.0.0.1"))
      assert.strictEqual(yield* clicks("co_a"), 3)
      yield* TestClock.adjust("1 millis")
      yield* visit("co_a", from("10.0.0.1"))
      assert.strictEqual(yield* clicks("co_a"), 4)
    })
  )

  it.effect("does not count HEAD requests, robots or prefetching", () =>
    Effect.gen(function* () {
      yield* now
      yield* post("co_quiet")
      const head = yield* visit("co_quiet", { method: "HEAD", ...from("10.1.0.1") })
      assert.strictEqual(head.status, 200)
      assert.strictEqual(head.text, "")
      for (const agent of [
        "Twitterbot/1.0",
        "facebookexternalhit/1.1",
        "Mozilla/5.0 (compatible; Googlebot/2.1)",
        "curl/8"
      ]) {
        const machine = { headers: { "user-agent": agent, "x-forwarded-for": "10.1.0.2" } }
        assert.strictEqual((yield* visit("co_quiet", machine)).status, 200)
      }
      yield* visit("co_quiet", { headers: { "sec-purpose": "prefetch", "x-forwarded-for": "10.1.0.3" } })
      assert.strictEqual(yield* clicks("co_quiet"), 0)
      yield* visit("co_quiet", from("10.1.0.4"))
      assert.strictEqual(yield* clicks("co_quiet"), 1)
    })
  )

  it.effect("never repeats an invalid host", () =>
    Effect.gen(function* () {
      yield* now
      yield* post("co_host")
      for (const host of [`evil.example/"><script>`, "a b", "evil.example:99999"]) {
        const response = yield* exchange(`GET /c/co_host HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
        assert.notInclude(response, "og:url", host)
        assert.notInclude(response, "<script")
      }
      const response = yield* exchange(`GET /c/co_host HTTP/1.1\r\nHost: calls.example\r\nConnection: close\r\n\r\n`)
      assert.include(response, `content="http://calls.example/c/co_host"`)
    })
  )
})

layer(running({ settings: { publicUrl: "https://calls.example/api/" } }))("with a public URL", (it) => {
  it.effect("GET /c/{id} links to it, whatever host was asked", () =>
    Effect.gen(function* () {
      yield* now
      yield* post("co_public")
      const markup = assertPage(yield* visit("co_public", { headers: { host: "evil.example" } }), 200)
      assert.strictEqual(meta(markup, "og:url"), "https://calls.example/api/c/co_public")
    })
  )
})

const down = () => new CalloutStoreUnavailable({ cause: new Error("secret") })

const deaf = Layer.effect(
  CalloutStore,
  Effect.map(CalloutStore, (store) => CalloutStore.of({ ...store, recordClick: down }))
).pipe(Layer.provide(MemoryCallouts.layer))

layer(running({ callouts: deaf }))("when clicks cannot be written", (it) => {
  it.effect("GET /c/{id} shows the page all the same", () =>
    Effect.gen(function* () {
      yield* now
      yield* post("co_deaf")
      assertPage(yield* visit("co_deaf"), 200)
    })
  )
})

const unavailable = Layer.succeed(CalloutStore, {
  post: down,
  remove: down,
  find: down,
  page: down,
  recordClick: down,
  attribute: down
})

layer(running({ callouts: unavailable }))("without its store", (it) => {
  it.effect("GET /c/{id} answers a 503 page", () =>
    Effect.gen(function* () {
      const answer = yield* visit("co_open")
      assertPage(answer, 503)
      assert.strictEqual(answer.headers.get("retry-after"), "1")
      assert.notInclude(answer.text, "secret")
    })
  )
})

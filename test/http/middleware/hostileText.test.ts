import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { csrfTokenOf } from "../../../src/access/accounts/secrets.ts"
import { addressOf } from "../../callouts/callouts.ts"
import { type Answer, call, running } from "../../support/http.ts"
import * as MemoryAccounts from "../../support/memoryAccounts.ts"
import { attacks } from "./attacks.ts"

const ORIGIN = "http://pages.example"
const SESSION = Redacted.make("h".repeat(43))
const headers = {
  cookie: `fathom_session=${Redacted.value(SESSION)}`,
  origin: ORIGIN,
  "x-csrf-token": csrfTokenOf(SESSION),
  "content-type": "application/json"
}
const accounts = MemoryAccounts.layerOf([{ id: "writer", session: SESSION, link: Redacted.make("l".repeat(43)) }])
const world = running({ accounts, settings: { publicUrl: ORIGIN } })

const send = (method: string, path: string, body: unknown) =>
  call(path, { key: null, method, headers, body: JSON.stringify(body) })

const hostile = [...attacks, "\u202egpj.exe", "\u2066a\u2069", "a\u200fb", "e\u0301".repeat(8), "🏴‍☠️"]

/** JSON of this type that no browser reads as anything else. */
const assertJson = (answer: Answer) => {
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/u)
  assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
  assert.doesNotThrow(() => JSON.parse(answer.text))
}

const mint = addressOf(3)
const wallet = addressOf(4)
const alert = {
  mint,
  condition: { metric: "price_usd", operator: "crosses_above", threshold: "1.5", source: "median" },
  fireNow: true
}

layer(world, { timeout: "60 seconds" })("text that users write", (it) => {
  it.effect("is returned as it was sent, in JSON only, or refused with the name of its field", () =>
    Effect.gen(function* () {
      yield* send("POST", "/api/v1/tracker/wallets", { wallet })
      const group = yield* send("POST", "/api/v1/tracker/groups", { name: "first" })
      const made = yield* send("POST", "/api/v1/alerts", alert)
      assert.deepStrictEqual([group.status, made.status], [201, 201])
      const fields = [
        ["label", `/api/v1/tracker/wallets/${wallet}`],
        ["notes", `/api/v1/tracker/wallets/${wallet}`],
        ["emoji", `/api/v1/tracker/wallets/${wallet}`],
        ["name", `/api/v1/tracker/groups/${String(group.json("groupId"))}`],
        ["note", `/api/v1/alerts/${/"id":"([^"]+)"/u.exec(made.text)?.[1] ?? ""}`]
      ] as const
      const kept = new Map<string, number>()
      for (const [at, text] of hostile.entries()) {
        // The budget of the last minute is forgotten.
        yield* at % 20 === 0 ? TestClock.adjust("61 seconds") : Effect.void
        for (const [field, path] of fields) {
          const answer = yield* send("PATCH", path, { [field]: text })
          assertJson(answer)
          if (answer.status === 400) {
            assert.strictEqual(answer.json("error.details.0.field"), field, answer.text)
          } else {
            assert.strictEqual(answer.status, 200, answer.text)
            assert.include(answer.text, JSON.stringify(text))
            kept.set(field, (kept.get(field) ?? 0) + 1)
          }
        }
      }
      for (const field of ["label", "notes", "name", "note"]) {
        assert.isAbove(kept.get(field) ?? 0, 10, field)
      }
    })
  )

  it.effect("is not reflected by a path or a query in anything but JSON", () =>
    Effect.gen(function* () {
      const asBrowser = { key: null, headers: { cookie: headers.cookie, accept: "text/html" } }
      const unknown = yield* call("/unknown", asBrowser)
      for (const text of hostile.slice(0, 20)) {
        const encoded = encodeURIComponent(text)
        for (const path of [`/api/v1/${encoded}`, `/api/v1/account/key?${encoded}=${encoded}`]) {
          assertJson(yield* call(path, asBrowser))
        }
        // An address of no page has one answer, whatever the address is.
        const page = yield* call(`/${encoded}`, asBrowser)
        if (page.headers.get("content-type")?.startsWith("application/json") === true) {
          assertJson(page)
        } else {
          assert.deepStrictEqual([page.status, page.text], [404, unknown.text])
        }
      }
    })
  )
})

layer(world)("answers to browsers", (it) => {
  it.effect("are never framed by another site, whatever page it is", () =>
    Effect.gen(function* () {
      for (const path of ["/", "/sign-in", "/settings/developer", "/docs", "/c/unknown", "/assets/none.js"]) {
        const answer = yield* call(path, { key: null })
        assert.match(answer.headers.get("content-type") ?? "", /^text\/html/u, path)
        assert.include(answer.headers.get("content-security-policy") ?? "", "frame-ancestors 'none'", path)
        assert.strictEqual(answer.headers.get("x-frame-options"), "DENY", path)
        assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff", path)
      }
    })
  )

  it.effect("never let another site read with the session, nor ask for its token", () =>
    Effect.gen(function* () {
      const foreign = { cookie: headers.cookie, origin: "https://evil.example" }
      for (const [method, path] of [
        ["OPTIONS", "/api/v1/tracker/wallets"],
        ["OPTIONS", "/app/session"],
        ["GET", "/app/session"],
        ["GET", "/api/v1/account/key"],
        ["HEAD", "/api/v1/account/key"]
      ] as const) {
        const preflight = { "access-control-request-method": "POST", "access-control-request-headers": "x-csrf-token" }
        const answer = yield* call(path, { key: null, method, headers: { ...foreign, ...preflight } })
        assert.isBelow(answer.status, 300)
        // With `*` a browser refuses every answer to a request that carries a cookie.
        assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
        assert.isNull(answer.headers.get("access-control-allow-credentials"))
        assert.notInclude((answer.headers.get("access-control-allow-headers") ?? "").toLowerCase(), "csrf")
        assert.notInclude((answer.headers.get("access-control-expose-headers") ?? "").toLowerCase(), "cookie")
      }
    })
  )
})

import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { csrfTokenOf } from "../../../src/access/accounts/secrets.ts"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import * as MemoryAccounts from "../../support/memoryAccounts.ts"
import { call, keyOf, running, secretOf } from "../../support/http.ts"

const ORIGIN = "http://pages.example"
const PATH = "/api/v1/account/keys"
const sessions = { ann: "a".repeat(43), ben: "b".repeat(43) }
type Owner = keyof typeof sessions

const world = running({
  keys: [keyOf("a")],
  settings: { publicUrl: ORIGIN },
  accounts: MemoryAccounts.layerOf(
    Object.entries(sessions).map(([id, session]) => ({
      id,
      session: Redacted.make(session),
      link: Redacted.make(session.toUpperCase())
    }))
  )
})

/** A request with the session of that account. */
const as = (owner: Owner, method: string, path: string, body?: unknown) =>
  call(path, {
    key: null,
    method,
    headers: {
      origin: ORIGIN,
      cookie: `fathom_session=${sessions[owner]}`,
      "x-csrf-token": csrfTokenOf(Redacted.make(sessions[owner])),
      ...(body !== undefined && { "content-type": "application/json" })
    },
    body: body === undefined ? null : JSON.stringify(body)
  })

/** A new key of that account: its id and its secret. */
const make = Effect.fnUntraced(function* (owner: Owner, body: object = {}) {
  const made = yield* as(owner, "POST", PATH, { name: "bot", ...body })
  assert.strictEqual(made.status, 201, made.text)
  return { id: String(made.json("key.id")), secret: String(made.json("secret")) }
})

const withSecret = (secret: string, headers: Record<string, string> = {}) =>
  call("/api/v1/account/key", { key: null, headers: { authorization: `Bearer ${secret}`, ...headers } })

/** The body of an answer without its request id. */
const bodyOf = (answer: { readonly text: string }) => answer.text.replace(/"requestId":"[^"]+"/u, "")

layer(world)("keys of an account", (it) => {
  it.effect("are made with a secret that works, is shown once and must not be cached", () =>
    Effect.gen(function* () {
      const made = yield* as("ann", "POST", PATH, {
        name: "Bot",
        scopes: ["alerts.read"],
        ipPolicy: ["127.0.0.1", "::1"]
      })
      assert.strictEqual(made.status, 201)
      assert.strictEqual(made.headers.get("cache-control"), "no-store")
      assert.deepInclude(made.json("key"), {
        name: "Bot",
        scopes: ["md.read", "alerts.read"],
        ipPolicy: ["127.0.0.1/32", "::1/128"],
        plan: "default",
        expiresAtMs: null
      })
      const secret = String(made.json("secret"))
      assert.strictEqual((yield* withSecret(secret)).json("data.id"), made.json("key.id"))
      const listed = yield* as("ann", "GET", PATH)
      assert.strictEqual(listed.json("meta.limit"), 10)
      assert.notInclude(listed.text, secret.slice(0, -4))
      assert.notInclude(listed.text, "accountId")
    })
  )

  it.effect("are audited at their first use from an address, once, by quotes too", () =>
    Effect.gen(function* () {
      const { id, secret } = yield* make("ben")
      const quoted = { key: null, headers: { "x-api-key": secret } }
      yield* call("/api/v1/spot/quote?inputMint=x", quoted)
      yield* withSecret(secret)
      yield* withSecret(secret)
      const { text } = yield* as("ben", "GET", "/api/v1/account/audit")
      const uses = Array.from(text.matchAll(/\{[^{}]*"action":"use"[^{}]*\}/gu), ([entry]) => JSON.parse(entry))
      assert.deepStrictEqual(
        uses.map(({ actor, address, keyId }) => [actor, address, keyId]),
        [["key", "127.0.0.1", id]]
      )
    })
  )

  it.effect("are changed, switched off and on, and revoked", () =>
    Effect.gen(function* () {
      const { id, secret } = yield* make("ann")
      const changed = yield* as("ann", "PATCH", `${PATH}/${id}`, { name: "new", scopes: ["perps.read"] })
      assert.strictEqual(changed.json("name"), "new")
      assert.deepStrictEqual((yield* withSecret(secret)).json("data.scopes"), ["md.read", "perps.read"])
      assert.strictEqual((yield* as("ann", "POST", `${PATH}/${id}/disable`)).status, 200)
      assert.strictEqual((yield* withSecret(secret)).json("error.code"), "key_disabled")
      assert.strictEqual((yield* as("ann", "POST", `${PATH}/${id}/enable`)).status, 200)
      assert.strictEqual((yield* withSecret(secret)).status, 200)
      assert.isNumber((yield* as("ann", "DELETE", `${PATH}/${id}`)).json("revokedAtMs"))
      assert.strictEqual((yield* withSecret(secret)).json("error.code"), "invalid_api_key")
    })
  )

  it.effect("are rotated with an overlap, after which the old secret is unknown", () =>
    Effect.gen(function* () {
      const { id, secret } = yield* make("ann")
      const rotated = yield* as("ann", "POST", `${PATH}/${id}/rotate`, { overlapSeconds: 60 })
      assert.strictEqual(rotated.status, 201)
      const next = String(rotated.json("secret"))
      assert.strictEqual((yield* withSecret(secret)).status, 200)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* withSecret(secret)).json("error.code"), "invalid_api_key")
      assert.strictEqual((yield* withSecret(next)).json("data.id"), rotated.json("key.id"))
    })
  )

  it.effect("of another account look like keys that do not exist", () =>
    Effect.gen(function* () {
      const { id, secret } = yield* make("ann")
      for (const [method, tail, body] of [
        ["PATCH", "", { name: "x" }],
        ["DELETE", "", undefined],
        ["POST", "/rotate", {}],
        ["POST", "/disable", undefined],
        ["POST", "/enable", undefined]
      ] as const) {
        const foreign = yield* as("ben", method, `${PATH}/${id}${tail}`, body)
        const missing = yield* as("ben", method, `${PATH}/key_none${tail}`, body)
        assert.strictEqual(foreign.status, 404)
        assert.strictEqual(foreign.json("error.code"), "key_not_found")
        assert.strictEqual(bodyOf(foreign), bodyOf(missing))
      }
      assert.strictEqual((yield* withSecret(secret)).json("data.name"), "bot")
      assert.notInclude((yield* as("ben", "GET", PATH)).text, id)
      assert.notInclude((yield* as("ben", "GET", "/api/v1/account/audit")).text, id)
    })
  )

  it.effect("can only be managed by sessions, with their token", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call(PATH)).json("error.code"), "session_required")
      const forged = yield* call(PATH, {
        key: null,
        method: "POST",
        headers: { cookie: `fathom_session=${sessions.ann}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "x" })
      })
      assert.strictEqual(forged.json("error.code"), "origin_not_allowed")
    })
  )

  it.effect("name the field that is refused", () =>
    Effect.gen(function* () {
      for (const [body, field] of [
        [{ name: "" }, "name"],
        [{ name: "x", ipPolicy: ["::1", "somewhere"] }, "ipPolicy[1]"],
        [{ name: "x", ipPolicy: [] }, "ipPolicy"],
        [{ name: "x", expiresAtMs: 0 }, "expiresAtMs"],
        [{ name: "x", scopes: ["root"] }, "scopes.0"]
      ] as const) {
        const refused = yield* as("ben", "POST", PATH, body)
        assert.strictEqual(refused.status, 400, refused.text)
        assert.strictEqual(refused.json("error.details.0.field"), field)
      }
      assert.strictEqual((yield* as("ben", "POST", PATH, { name: "x", plan: "team" })).status, 403)
    })
  )

  it.effect("are audited with the address of the caller, page by page", () =>
    Effect.gen(function* () {
      const { id } = yield* make("ben")
      yield* as("ben", "PATCH", `${PATH}/${id}`, { name: "renamed" })
      const first = yield* as("ben", "GET", "/api/v1/account/audit?limit=1")
      assert.deepInclude(first.json("data.0"), { action: "change", actor: "session", keyId: id, detail: "name" })
      assert.match(String(first.json("data.0.address")), /127\.0\.0\.1|::1/u)
      const rest = yield* as("ben", "GET", `/api/v1/account/audit?limit=1&cursor=${String(first.json("nextCursor"))}`)
      assert.deepInclude(rest.json("data.0"), { action: "create", keyId: id })
      const foreign = yield* as("ann", "GET", `/api/v1/account/audit?cursor=${String(first.json("nextCursor"))}`)
      assert.strictEqual(foreign.json("error.code"), "invalid_cursor")
    })
  )

  it.effect("show the current limits of their plan in headers and reports", () =>
    Effect.gen(function* () {
      const keys = yield* KeyStore
      const plan = { ...DEFAULT_PLAN, name: "team", rest: 2, windowSeconds: 30, trackedWallets: 1 }
      yield* keys.setPlan(plan, COMMAND_LINE)
      const { id, secret } = yield* make("ann")
      yield* keys.change(id, { plan: "team" }, { kind: "command", accountId: null, address: null })
      const read = () => call("/api/v1/tokens/solana/x", { key: null, headers: { authorization: `Bearer ${secret}` } })
      const answer = yield* read()
      assert.strictEqual(answer.headers.get("x-ratelimit-limit"), "2")
      assert.strictEqual(answer.headers.get("ratelimit-policy"), '"rest";q=2;w=30')
      yield* read()
      const refused = yield* read()
      assert.strictEqual(refused.status, 429)
      assert.include(refused.text, "2 units in 30 seconds")
      assert.strictEqual(refused.headers.get("retry-after"), "30")
      assert.deepStrictEqual((yield* withSecret(secret)).json("data.plan"), plan)
      yield* keys.setPlan({ ...plan, rest: 3 }, COMMAND_LINE)
      assert.strictEqual((yield* read()).headers.get("x-ratelimit-remaining"), "0")
      assert.strictEqual((yield* withSecret(secret)).json("data.budgets.rest.limit"), 3)
    })
  )
})

layer(world)("a key in X-API-Key", (it) => {
  it.effect("admits like a bearer token", () =>
    Effect.gen(function* () {
      const answer = yield* call("/api/v1/account/key", { key: null, headers: { "x-api-key": secretOf("a") } })
      assert.strictEqual(answer.json("data.id"), "key_a")
      const wrong = yield* call("/api/v1/account/key", { key: null, headers: { "x-api-key": "wrong" } })
      assert.strictEqual(wrong.json("error.code"), "invalid_api_key")
    })
  )

  it.effect("is refused beside another bearer token, also on the path of plain quotes", () =>
    Effect.gen(function* () {
      const quote = "/api/v1/spot/quote?inputMint=So11111111111111111111111111111111111111112"
      for (const path of ["/api/v1/account/key", quote]) {
        const both = yield* call(path, { key: "b", headers: { "x-api-key": secretOf("a") } })
        assert.strictEqual(both.status, 400)
        assert.deepStrictEqual(both.json("error.details.0"), { in: "header", field: "X-API-Key", issue: "conflict" })
      }
    })
  )

  it.effect("may be sent in both headers, as clients that are generated from the document do", () =>
    Effect.gen(function* () {
      const twice = { headers: { "x-api-key": secretOf("a") } }
      assert.strictEqual((yield* call("/api/v1/account/key", twice)).json("data.id"), "key_a")
      const basic = { key: null, headers: { authorization: "Basic YTpi", "x-api-key": secretOf("a") } }
      assert.strictEqual((yield* call("/api/v1/account/key", basic)).status, 400)
    })
  )
})

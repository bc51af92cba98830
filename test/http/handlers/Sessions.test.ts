import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { CallerLimits, TooOften } from "../../../src/access/CallerLimits.ts"
import { AccountStore } from "../../../src/access/accounts/AccountStore.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { type Answer, call, running } from "../../support/http.ts"

const JSON_BODY = { "content-type": "application/json" }

const accountOf = Effect.fnUntraced(function* (id: string) {
  const accounts = yield* AccountStore
  yield* accounts.create({ id, name: id, role: "member" })
  return Redacted.value(yield* accounts.link(id))
})

/** Headers of a page of this service. */
const own = Effect.map(Listening, ({ url }): Record<string, string> => ({
  origin: url,
  "sec-fetch-site": "same-origin"
}))

const cookieOf = (answer: Answer): string => answer.headers.get("set-cookie")?.split(";", 1)[0] ?? ""

const signIn = Effect.fnUntraced(function* (token: string, headers: Record<string, string> = {}) {
  const page = yield* own
  return yield* call("/app/session", {
    key: null,
    method: "POST",
    headers: { ...page, ...JSON_BODY, ...headers },
    body: JSON.stringify({ token })
  })
})

/** A session of a new account: what a browser keeps of it. */
const signedIn = Effect.fnUntraced(function* (id: string) {
  const answer = yield* signIn(yield* accountOf(id))
  return { cookie: cookieOf(answer), csrf: String(answer.json("csrfToken")) }
})

layer(running())("a session", (it) => {
  it.effect("is opened by a link, once, with a cookie that scripts cannot read", () =>
    Effect.gen(function* () {
      const token = yield* accountOf("once")
      const opened = yield* signIn(token)
      assert.strictEqual(opened.status, 200)
      assert.strictEqual(opened.json("account.id"), "once")
      assert.match(
        opened.headers.get("set-cookie") ?? "",
        /^fathom_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/u
      )
      assert.strictEqual(opened.headers.get("cache-control"), "no-store")
      const again = yield* signIn(token)
      assert.strictEqual(again.status, 401)
      assert.isNull(again.headers.get("set-cookie"))
    })
  )

  it.effect("is a credential for reads and, with its token and from its own pages, for changes", () =>
    Effect.gen(function* () {
      const { cookie, csrf } = yield* signedIn("credential")
      const page = yield* own
      const read = yield* call("/api/v1/account/key", { key: null, headers: { cookie } })
      assert.strictEqual(read.status, 200)
      assert.strictEqual(read.json("data.id"), "session:credential")
      const change = (headers: Record<string, string>) =>
        call("/api/v1/tracker/groups", {
          key: null,
          method: "POST",
          headers: { cookie, ...JSON_BODY, ...headers },
          body: JSON.stringify({ name: "mine" })
        })
      assert.strictEqual((yield* change({ ...page, "x-csrf-token": csrf })).status, 201)
      for (const headers of [
        {},
        page,
        { "x-csrf-token": csrf },
        { ...page, "x-csrf-token": csrf.replace(/^./u, "z") },
        { ...page, "x-csrf-token": csrf, origin: "https://evil.example" },
        { ...page, "x-csrf-token": csrf, origin: "null" },
        { ...page, "x-csrf-token": csrf, "sec-fetch-site": "cross-site" },
        { ...page, "x-csrf-token": csrf, "sec-fetch-site": "same-site" }
      ]) {
        const refused = yield* change(headers)
        assert.strictEqual(refused.status, 403)
        assert.strictEqual(refused.json("error.code"), "origin_not_allowed")
      }
    })
  )

  it.effect("counts less than a key: a wrong key is refused next to a valid session", () =>
    Effect.gen(function* () {
      const { cookie } = yield* signedIn("both")
      const answer = yield* call("/api/v1/account/key", { key: "z", headers: { cookie } })
      assert.strictEqual(answer.status, 401)
      assert.strictEqual((yield* call("/api/v1/account/key", { headers: { cookie } })).json("data.id"), "key_a")
    })
  )

  it.effect("is not fixed by a cookie that was planted before the sign-in", () =>
    Effect.gen(function* () {
      const attacker = yield* signedIn("attacker")
      const victim = yield* signIn(yield* accountOf("victim"), { cookie: attacker.cookie })
      assert.notStrictEqual(cookieOf(victim), attacker.cookie)
      const planted = yield* call("/api/v1/account/key", { key: null, headers: { cookie: attacker.cookie } })
      assert.strictEqual(planted.status, 401)
    })
  )

  it.effect("can only be opened by pages of this service", () =>
    Effect.gen(function* () {
      const token = yield* accountOf("foreign")
      for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
        assert.strictEqual((yield* signIn(token, headers)).status, 403)
      }
      assert.strictEqual((yield* signIn(token)).status, 200, "the link was not used up")
    })
  )

  it.effect("ends with sign-out, and all of them with sign-out everywhere", () =>
    Effect.gen(function* () {
      const page = yield* own
      const accounts = yield* AccountStore
      const one = yield* signedIn("ends")
      const end = (path: string, { cookie, csrf }: typeof one) =>
        call(path, { key: null, method: "DELETE", headers: { ...page, cookie, "x-csrf-token": csrf } })
      const state = ({ cookie }: typeof one) =>
        Effect.map(call("/app/session", { key: null, headers: { cookie } }), (answer) => answer.json("account"))
      const opened = yield* signIn(Redacted.value(yield* accounts.link("ends")))
      const two = { cookie: cookieOf(opened), csrf: String(opened.json("csrfToken")) }
      const forged = yield* end("/app/session", { ...one, csrf: "" })
      assert.strictEqual(forged.status, 403)
      const closed = yield* end("/app/session", one)
      assert.strictEqual(closed.status, 200)
      assert.include(closed.headers.get("set-cookie") ?? "", "Max-Age=0")
      assert.isNull(yield* state(one))
      assert.isNotNull(yield* state(two))
      assert.strictEqual((yield* end("/app/sessions", two)).status, 200)
      assert.isNull(yield* state(two))
      assert.strictEqual((yield* end("/app/sessions", two)).status, 401)
    })
  )
})

const statusWith = (cookie: string) =>
  Effect.map(call("/api/v1/account/key", { key: null, headers: { cookie } }), ({ status }) => status)

layer(running({ settings: { publicUrl: "https://api.example" } }))("behind TLS", (it) => {
  it.effect("the cookie is sent over TLS only", () =>
    Effect.gen(function* () {
      const opened = yield* signIn(yield* accountOf("tls"), { origin: "https://api.example" })
      assert.match(opened.headers.get("set-cookie") ?? "", /; Secure$/u)
    })
  )
})

/** Limits that answer every count so. */
const countedBy = (count: CallerLimits["Service"]["count"]) =>
  Layer.effect(
    CallerLimits,
    Effect.map(CallerLimits, (limits) => CallerLimits.of({ ...limits, count }))
  ).pipe(Layer.provide(CallerLimits.layerMemory))

layer(running({ limits: countedBy(() => Effect.fail(new TooOften({ retryAfterMs: 5000 }))) }))(
  "attempts to sign in",
  (it) => {
    it.effect("are counted over the processes that share limits", () =>
      Effect.gen(function* () {
        const answer = yield* signIn(yield* accountOf("often"))
        assert.deepStrictEqual([answer.status, answer.headers.get("retry-after")], [429, "5"])
      })
    )
  }
)

layer(running({ limits: countedBy(() => Effect.fail(new LimiterUnavailable({ cause: "down" }))) }))(
  "attempts to sign in that cannot be counted",
  (it) => {
    it.effect("are answered 503", () =>
      Effect.gen(function* () {
        const answer = yield* signIn(yield* accountOf("uncounted"))
        assert.strictEqual(answer.status, 503)
      })
    )
  }
)

layer(running({ settings: { publicUrl: "https://fathom.example" } }))("a session over TLS", (it) => {
  it.effect("has a cookie that no other host can plant, and knows no other", () =>
    Effect.gen(function* () {
      const page = { origin: "https://fathom.example", "sec-fetch-site": "same-origin" }
      const opened = yield* signIn(yield* accountOf("tls"), page)
      const set = opened.headers.get("set-cookie") ?? ""
      assert.match(
        set,
        /^__Host-fathom_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+; Secure$/u
      )
      const cookie = set.split(";")[0] ?? ""
      assert.strictEqual(yield* statusWith(cookie), 200)
      assert.strictEqual(yield* statusWith(cookie.replace("__Host-", "")), 401, "a planted cookie")
    })
  )
})

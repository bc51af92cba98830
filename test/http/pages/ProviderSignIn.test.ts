import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { AccountStore } from "../../../src/access/accounts/AccountStore.ts"
import * as OidcClientHttp from "../../../src/access/accounts/OidcClientHttp.ts"
import { signInProofs } from "../../../src/access/accounts/secrets.ts"
import { at } from "../../support/clock.ts"
import { type Answer, call, running } from "../../support/http.ts"
import { CLIENT_ID, CLIENT_SECRET, openIdProvider, type OpenIdProvider } from "../../support/openIdProvider.ts"

const BASE = "http://pages.example"
const CALLBACK = `${BASE}/sign-in/oidc/callback`
const HTML = { accept: "text/html,application/xhtml+xml" }

/** A service with a provider. */
const withProvider = <A, E, R>(test: (provider: OpenIdProvider) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(openIdProvider(CALLBACK), (provider) => {
    const clientSecret = Redacted.make(CLIENT_SECRET)
    const oidc = OidcClientHttp.layerOf({ issuer: provider.issuer, clientId: CLIENT_ID, clientSecret })
    const world = { oidc: Layer.provide(oidc, FetchHttpClient.layer), settings: { publicUrl: BASE } }
    return Effect.provide(test(provider), running(world))
  }).pipe(Effect.scoped)

const ask = (path: string, headers: Record<string, string> = {}) =>
  call(path, { key: null, redirect: "manual", headers })

const cookieOf = (answer: Answer): string => answer.headers.get("set-cookie")?.split(";", 1)[0] ?? ""

/** Signs in at the provider as a browser does; the address that it sends the browser back to. */
const throughProvider = (start: string) =>
  Effect.promise(async () => {
    const jar = new Map<string, string>()
    let location = start
    for (let hop = 0; hop < 8 && !location.startsWith(BASE); hop++) {
      const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ")
      const answer = await fetch(location, { redirect: "manual", headers: { cookie } })
      for (const set of answer.headers.getSetCookie()) {
        const [pair = ""] = set.split(";", 1)
        jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1))
      }
      location = new URL(answer.headers.get("location") ?? "", location).href
    }
    return location
  })

/** Begins a sign-in and passes the provider: the cookie of the browser, and the path that it comes back to. */
const returned = Effect.gen(function* () {
  const begun = yield* ask("/sign-in/oidc")
  assert.strictEqual(begun.status, 303, begun.text)
  const back = new URL(yield* throughProvider(begun.headers.get("location") ?? ""))
  return { cookie: cookieOf(begun), path: back.pathname + back.search }
})

const session = (cookie: string) => ask("/app/session", { cookie })

/** The callback was refused: no session, and no detail of the provider. */
const assertRefused = (answer: Answer, status = 401) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.isNull(answer.headers.get("set-cookie"))
  assert.notInclude(answer.text, "details of the provider")
}

describe("sign-in with a provider", () => {
  it.live("opens a session of a member, the same account each time, on the start page", () =>
    withProvider((provider) =>
      Effect.gen(function* () {
        assert.isTrue((yield* session("")).json("oidc"))
        assert.lengthOf(provider.asked, 0, "nothing is asked of the provider before the first sign-in")
        const begun = yield* ask("/sign-in/oidc")
        assert.match(
          begun.headers.get("set-cookie") ?? "",
          /^fathom_sign_in=[0-9A-Za-z]{43}; Path=\/sign-in\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/u
        )
        const { searchParams } = new URL(begun.headers.get("location") ?? "")
        assert.strictEqual(searchParams.get("code_challenge_method"), "S256")
        assert.strictEqual(searchParams.get("redirect_uri"), CALLBACK)
        assert.strictEqual(new Set(["state", "nonce", "code_challenge"].map((name) => searchParams.get(name))).size, 3)
        const ids = []
        for (const planted of ["", "; fathom_session=" + "p".repeat(43)]) {
          const { cookie, path } = yield* returned
          const opened = yield* ask(path, { cookie: cookie + planted })
          assert.strictEqual(opened.status, 303, opened.text)
          assert.strictEqual(opened.headers.get("location"), "/")
          assert.strictEqual(opened.headers.get("cache-control"), "no-store")
          assert.strictEqual(opened.headers.get("referrer-policy"), "no-referrer")
          assert.match(opened.headers.get("set-cookie") ?? "", /^fathom_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly/u)
          const report = yield* session(cookieOf(opened))
          assert.strictEqual(report.json("account.name"), "Name of ada")
          assert.strictEqual(report.json("account.role"), "member")
          ids.push(report.json("account.id"))
        }
        assert.strictEqual(ids[0], ids[1])
      })
    )
  )

  it.live("is finished once, by the browser that began it, within ten minutes", () =>
    withProvider(() =>
      Effect.gen(function* () {
        const [one, other, late] = [yield* returned, yield* returned, yield* returned]
        assertRefused(yield* ask(one.path))
        assertRefused(yield* ask(one.path, { cookie: other.cookie }))
        assertRefused(yield* ask(one.path.replace(/state=[^&]*/u, "state=x"), { cookie: one.cookie }))
        const answers = yield* Effect.all(
          Array.from({ length: 4 }, () => ask(one.path, { cookie: one.cookie })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [303, 401, 401, 401])
        assertRefused(yield* ask(one.path, { cookie: one.cookie }))
        // The code of another browser under the own state, which a login CSRF needs.
        const code = new URLSearchParams(late.path.split("?")[1]).get("code") ?? ""
        assertRefused(yield* ask(other.path.replace(/code=[^&]*/u, `code=${code}`), { cookie: other.cookie }))
      })
    )
  )

  it.live("can begin although its return was tried too often, and is counted there too", () =>
    withProvider(() =>
      Effect.gen(function* () {
        const tried = yield* Effect.replicateEffect(ask("/sign-in/oidc/callback?code=x&state=x"), 21)
        assert.deepStrictEqual([tried[19]?.status, tried[20]?.status], [401, 429])
        assert.strictEqual((yield* ask("/sign-in/oidc")).status, 303)
      })
    )
  )

  it.live("is refused once ten minutes have passed", () =>
    withProvider(() =>
      Effect.gen(function* () {
        const secret = yield* AccountStore.use((accounts) => accounts.beginSignIn).pipe(at(0))
        const { state } = signInProofs(secret)
        const cookie = `fathom_sign_in=${Redacted.value(secret)}`
        assertRefused(yield* ask(`/sign-in/oidc/callback?code=x&state=${state}`, { cookie }))
      })
    )
  )

  it.live("is refused when the provider answers another nonce", () =>
    withProvider((provider) =>
      Effect.gen(function* () {
        const begun = yield* ask("/sign-in/oidc")
        const location = new URL(begun.headers.get("location") ?? "")
        location.searchParams.set("nonce", "of another sign-in")
        const back = new URL(yield* throughProvider(location.href))
        assertRefused(yield* ask(back.pathname + back.search, { cookie: cookieOf(begun) }))
        assert.include(provider.asked, "/token")
      })
    )
  )

  it.live("shows details of the provider neither on a page nor in JSON", () =>
    withProvider((provider) =>
      Effect.gen(function* () {
        provider.user = null
        const { cookie, path } = yield* returned
        assert.include(path, "error=access_denied")
        const page = yield* ask(path, { cookie, ...HTML })
        assertRefused(page)
        assert.include(page.headers.get("content-type") ?? "", "text/html")
        assert.include(page.headers.get("content-security-policy") ?? "", "frame-ancestors 'none'")
        assert.notInclude(page.text, "access_denied")
        const again = yield* ask(path, { cookie })
        assertRefused(again)
        assert.strictEqual(again.json("error.code"), "invalid_api_key")
      })
    )
  )

  it.live("is refused to a disabled account", () =>
    withProvider(() =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const first = yield* returned
        yield* ask(first.path, { cookie: first.cookie })
        const [account] = yield* accounts.list
        yield* accounts.setDisabled(account?.id ?? "", true)
        const second = yield* returned
        assertRefused(yield* ask(second.path, { cookie: second.cookie }))
      })
    )
  )

  it.live("waits for a provider that is down, and the service runs meanwhile", () =>
    withProvider((provider) =>
      Effect.gen(function* () {
        provider.down = 500
        assert.strictEqual((yield* ask("/livez")).status, 200)
        const refused = yield* ask("/sign-in/oidc")
        assertRefused(refused, 503)
        assert.strictEqual(refused.json("error.code"), "data_unavailable")
        const page = yield* ask("/sign-in/oidc", HTML)
        assertRefused(page, 503)
        assert.isNotNull(page.headers.get("retry-after"))
        provider.down = null
        const { cookie, path } = yield* returned
        provider.down = 500
        assertRefused(yield* ask(path, { cookie }), 503)
      })
    )
  )

  it.live("begins on pages of this service alone, leads nowhere else, and is bounded by address", () =>
    withProvider(() =>
      Effect.gen(function* () {
        const sent = yield* ask("/sign-in/oidc", { "sec-fetch-site": "cross-site" })
        assertRefused(sent, 403)
        const head = yield* call("/sign-in/oidc", { key: null, method: "HEAD" })
        assert.deepStrictEqual([head.status, head.headers.get("set-cookie")], [204, null])
        const aimed = yield* ask("/sign-in/oidc?redirect_uri=https://evil.example&next=//evil.example")
        assert.notInclude(aimed.headers.get("location") ?? "", "evil")
        const { cookie, path } = yield* returned
        const opened = yield* ask(`${path}&next=https://evil.example`, { cookie })
        assert.strictEqual(opened.headers.get("location"), "/")
        const statuses = []
        for (let attempt = 0; attempt < 20; attempt++) {
          statuses.push((yield* ask("/sign-in/oidc/callback")).status)
        }
        assert.include(statuses, 429)
      })
    )
  )
})

describe("without a provider", () => {
  it.live("there is nothing at the addresses of the sign-in", () =>
    Effect.gen(function* () {
      for (const path of ["/sign-in/oidc", "/sign-in/oidc/callback"]) {
        const answer = yield* ask(path)
        assert.strictEqual(answer.status, 404)
        assert.strictEqual(answer.json("error.code"), "not_found")
      }
      assert.isFalse((yield* session("")).json("oidc"))
    }).pipe(Effect.provide(running()))
  )
})

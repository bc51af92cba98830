/** Sign-in and sign-out in a browser, and what other sites can do to a session. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { once } from "node:events"
import { createServer } from "node:net"
import type { Page } from "playwright-core"
import * as OidcClientHttp from "../../src/access/accounts/OidcClientHttp.ts"
import { attackerSite } from "../support/attacker.ts"
import { Chromium } from "../support/browser.ts"
import { running } from "../support/http.ts"
import { CLIENT_ID, CLIENT_SECRET, openIdProvider } from "../support/openIdProvider.ts"
import { App, isAvailable, settled } from "./app.ts"

const SESSION = "fathom_session"

/** Time limit for a test on a busy machine. */
const LONG_MS = 120_000

const openLink = (page: Page) => page.getByRole("button", { name: "Open my session" }).click()
const isSignedIn = (page: Page) => page.getByRole("button", { name: "Sign out", exact: true }).waitFor()
const isSignedOut = (page: Page) => page.getByRole("banner").getByRole("link", { name: "Sign in" }).waitFor()

const sessionCookie = async (page: Page) => (await page.context().cookies()).find(({ name }) => name === SESSION)

/** Name of the account whose session a page has; null when signed out. */
const accountOf = (page: Page): Promise<string | null> =>
  page.evaluate<string | null>(
    `fetch("/app/session").then((answer) => answer.json()).then(({ account }) => account?.name ?? null)`
  )

const keyNames = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate<ReadonlyArray<string>>(
    `fetch("/api/v1/account/keys").then((answer) => answer.json()).then(({ data }) => data.map(({ name }) => name))`
  )

/** A port that was free a moment ago. The provider needs the address of the service before the service starts. */
const freePort = Effect.promise(async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" ? (address?.port ?? 0) : 0
})

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "3 minutes", excludeTestServices: true })("a session", (scope) => {
    scope.effect("begins with a link once, and the link stays in no address", () =>
      Effect.gen(function* () {
        const app = yield* App
        const link = yield* app.link
        const [one, other] = [yield* app.visit(link, { signedIn: false }), yield* app.visit(link, { signedIn: false })]
        yield* Effect.promise(async () => {
          await one.page.waitForURL(`${app.url}/sign-in`)
          await openLink(one.page)
          await isSignedIn(one.page)
          assert.strictEqual(await one.page.evaluate("document.cookie"), "")
          const cookie = await sessionCookie(one.page)
          assert.isTrue(cookie?.httpOnly)
          assert.strictEqual(cookie?.sameSite, "Lax")
          await openLink(other.page)
          await other.page.getByRole("alert").waitFor()
          assert.isNull(await accountOf(other.page))
          assert.isUndefined(await sessionCookie(other.page))
        })
      })
    )

    scope.effect("takes the place of one that was planted, which learns nothing of it", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page: attacker } = yield* app.visit("/docs")
        const { page: victim } = yield* app.visit(yield* app.link, { signedIn: false })
        yield* Effect.promise(async () => {
          const planted = await sessionCookie(attacker)
          assert.isDefined(planted)
          for (const value of ["p".repeat(43), planted.value]) {
            await victim.context().addCookies([{ name: SESSION, value, url: app.url }])
          }
          await openLink(victim)
          await isSignedIn(victim)
          const own = await sessionCookie(victim)
          assert.isDefined(own)
          assert.notInclude([planted.value, "p".repeat(43)], own.value)
          // The planted session has ended, so whoever planted it has nothing.
          assert.isNull(await accountOf(attacker))
          assert.isNotNull(await accountOf(victim))
        })
      })
    )

    scope.effect("never leads to another host, whatever the address asks for", () =>
      Effect.gen(function* () {
        const app = yield* App
        const link = yield* app.link
        const [, token = ""] = link.split("#")
        const query = ["next", "redirect", "returnTo", "url"].map((name) => `${name}=https://evil.example/`).join("&")
        const { complaints, page } = yield* app.visit(`/sign-in?${query}#${token}`, { signedIn: false })
        yield* Effect.promise(async () => {
          await openLink(page)
          await isSignedIn(page)
          await page.waitForURL(`${app.url}/`)
          for (const path of ["//evil.example/", "/%2f%2fevil.example", "/\\evil.example", "/sign-in//evil.example"]) {
            await page.goto(app.url + path)
            assert.strictEqual(new URL(page.url()).origin, app.url, path)
          }
        })
        assert.deepStrictEqual(
          complaints.filter((complaint) => complaint.startsWith("request")),
          []
        )
      })
    )

    scope.effect("is of no use to the forms, scripts, frames and windows of another site", () =>
      Effect.gen(function* () {
        const app = yield* App
        const site = yield* attackerSite(`<!doctype html><title>prize</title>
          <form method="post" enctype="text/plain" action="${app.url}/api/v1/account/keys">
            <input name='{"name":"stolen","x":"' value='"}'><button>Win</button>
          </form>`)
        // A separate sign-in link: the steps below would end the session of other tests if they succeeded.
        const { page } = yield* app.visit(yield* app.link, { signedIn: false })
        yield* Effect.promise(async () => {
          await openLink(page)
          await isSignedIn(page)
          const before = await keyNames(page)

          const other = await page.context().newPage()
          const statuses: Array<number> = []
          other.on("response", (response) => {
            if (response.url().startsWith(app.url) && response.request().method() !== "OPTIONS") {
              statuses.push(response.status())
            }
          })
          await other.goto(site)
          const tries = await other.evaluate<ReadonlyArray<string>>(`(async () => {
            const body = '{"name":"stolen"}'
            const ask = (path, options) => fetch(${JSON.stringify(app.url)} + path, { credentials: "include", body, ...options })
              .then(({ status, type }) => status + " " + type, () => "blocked")
            return [
              await ask("/api/v1/account/keys", { method: "POST", mode: "no-cors" }),
              await ask("/api/v1/account/keys", { method: "POST", mode: "cors", headers: { "content-type": "application/json" } }),
              await ask("/app/session", { method: "DELETE", mode: "cors", body: null }),
              await ask("/app/sessions", { method: "DELETE", mode: "cors", body: null }),
              await ask("/app/session", { method: "GET", mode: "cors", body: undefined })
            ]
          })()`)
          assert.deepStrictEqual(tries.slice(1), ["blocked", "blocked", "blocked", "blocked"])
          const navigated = other.waitForResponse((response) => response.url().endsWith("/account/keys"))
          await other.getByRole("button", { name: "Win" }).click()
          assert.isAtLeast((await navigated).status(), 400)
          const changes = statuses.filter((status) => status < 400)
          // The browser got an answer to its read but keeps it from the other site.
          assert.isAtMost(changes.length, 1)
          assert.deepStrictEqual(await keyNames(page), before)
          assert.isNotNull(await accountOf(page))
        })
      })
    )

    scope.effect("is shown in no frame, and its windows are closed to the site that opened them", () =>
      Effect.gen(function* () {
        const app = yield* App
        const site = yield* attackerSite(`<!doctype html><title>prize</title>
          <iframe src="${app.url}/settings/developer" width="800" height="600"></iframe>
          <button onclick="globalThis.opened = globalThis.open('${app.url}/settings/developer')">Open</button>`)
        const { page } = yield* app.visit("/docs")
        yield* Effect.promise(async () => {
          const other = await page.context().newPage()
          const refused = other.waitForEvent("console", (message) => message.text().includes("frame-ancestors"))
          await other.goto(site)
          await refused
          const [, frame] = other.frames()
          assert.strictEqual(await frame?.locator("main").count(), 0)
          const [popup] = await Promise.all([
            page.context().waitForEvent("page"),
            other.getByRole("button", { name: "Open" }).click()
          ])
          await settled(popup)
          assert.isNull(await popup.evaluate("opener"))
          assert.isTrue(await other.evaluate("opened.closed"))
        })
      })
    )

    scope.effect("ends in every browser at once", () =>
      Effect.gen(function* () {
        const app = yield* App
        const here = yield* app.visit(yield* app.link, { signedIn: false })
        const there = yield* app.visit(yield* app.link, { signedIn: false })
        yield* Effect.promise(async () => {
          for (const { page } of [here, there]) {
            await openLink(page)
            await isSignedIn(page)
          }
          const kept = await sessionCookie(there.page)
          await here.page.goto(`${app.url}/settings/developer`)
          await here.page.getByRole("button", { name: "Sign out everywhere" }).click()
          await isSignedOut(here.page)
          await there.page.reload()
          await isSignedOut(there.page)
          await there.page.context().addCookies([{ name: SESSION, value: kept?.value ?? "", url: app.url }])
          assert.isNull(await accountOf(there.page))
        })
      })
    )
  })

  it.live(
    "signs in with a provider through the page, and shows no details of a refusal",
    () =>
      Effect.gen(function* () {
        const port = yield* freePort
        const url = `http://127.0.0.1:${port}`
        const provider = yield* openIdProvider(`${url}/sign-in/oidc/callback`)
        const clientSecret = Redacted.make(CLIENT_SECRET)
        const oidc = OidcClientHttp.layerOf({ issuer: provider.issuer, clientId: CLIENT_ID, clientSecret })
        const world = { oidc: Layer.provide(oidc, FetchHttpClient.layer), settings: { port, publicUrl: url } }
        const site = yield* attackerSite(`<!doctype html><a href="${url}/sign-in/oidc">Prize</a>`)
        yield* Effect.gen(function* () {
          const browser = yield* Chromium
          yield* Effect.promise(async () => {
            const page = await browser.newPage()
            await page.goto(`${url}/sign-in`)
            await page.getByRole("link", { name: "Sign in with your provider" }).click()
            await page.getByRole("link", { name: "Name of ada" }).waitFor()
            await page.waitForURL(`${url}/`)
            assert.isTrue(provider.asked.includes("/token"))
            await page.getByRole("button", { name: "Sign out" }).click()
            await isSignedOut(page)

            provider.user = null
            const second = await browser.newPage()
            await second.goto(`${url}/sign-in`)
            await second.getByRole("link", { name: "Sign in with your provider" }).click()
            await second.getByText("The sign-in was refused", { exact: false }).waitFor()
            assert.notInclude(await second.content(), "details of the provider")
            // Reloads the callback address of the provider, whose code has been used.
            await second.reload()
            await second.getByText("The sign-in was refused", { exact: false }).waitFor()

            provider.user = "mallory"
            await second.goto(site)
            const asked = provider.asked.length
            await second.getByRole("link", { name: "Prize" }).click()
            await second.getByText("A sign-in begins on a page of this service", { exact: false }).waitFor()
            assert.lengthOf(provider.asked, asked)
            await second.goto(`${url}/sign-in`)
            await isSignedOut(second)
          })
        }).pipe(Effect.provide([running(world), Chromium.layer]))
      }).pipe(Effect.scoped),
    LONG_MS
  )
})

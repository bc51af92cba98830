import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { App, axeFaults, isAvailable } from "./app.ts"

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the app", (it) => {
    it.effect("opens a session with a link, shows whose session it is, and ends it", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { complaints, page } = yield* app.visit(yield* app.link, { signedIn: false })
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Open my session" }).click()
          await page.getByRole("button", { name: "Sign out" }).waitFor()
          await page.waitForURL(`${app.url}/`)
          await page.getByRole("button", { name: "Sign out" }).click()
          await page.getByRole("heading", { level: 1, name: "Solana market data" }).waitFor()
        })
        assert.deepStrictEqual(complaints, [])
      })
    )

    it.effect("ends a session while reads are unanswered, and does not repeat those reads", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { complaints, page } = yield* app.visit("/")
        yield* Effect.promise(async () => {
          const ended = page.waitForResponse((response) => response.request().method() === "DELETE")
          const held = page.waitForRequest(/\/api\/v1\//u)
          await page.route(/\/api\/v1\//u, async (route) => {
            await ended
            await route.continue()
          })
          await held
          await page.getByRole("button", { name: "Sign out" }).click()
          await page.getByRole("heading", { level: 1, name: "Solana market data" }).waitFor()
        })
        assert.deepStrictEqual(complaints, [])
      })
    )

    it.effect("reads a page that was opened in the background once it is shown", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page: front } = yield* app.visit("/sign-in", { signedIn: false })
        yield* Effect.promise(async () => {
          const page = await front.context().newPage()
          await page.addInitScript(`Object.defineProperty(document, "hidden", { value: true, configurable: true })`)
          await page.goto(`${app.url}/docs`)
          await page.locator("main .loading").waitFor()
          await page.evaluate(`{
            Object.defineProperty(document, "hidden", { value: false })
            document.dispatchEvent(new Event("visibilitychange"))
          }`)
          await page.getByRole("heading", { level: 1, name: "Reference" }).waitFor()
        })
      })
    )

    it.effect("has no accessibility faults before sign-in", () =>
      Effect.gen(function* () {
        const app = yield* App
        for (const path of ["/", "/sign-in"]) {
          const { complaints, page } = yield* app.visit(path, { signedIn: false })
          assert.deepStrictEqual(yield* Effect.promise(() => axeFaults(page)), [])
          assert.deepStrictEqual(complaints, [])
        }
      })
    )
  })
})

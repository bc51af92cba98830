import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { App, axeFaults, isAvailable } from "./app.ts"

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the app", (it) => {
    it.effect("opens a session by a link, shows whose it is, and ends it", () =>
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

    it.effect("ends a session while reads of a page are unanswered, which are then not made again", () =>
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

    it.effect("has no fault of accessibility before the sign-in", () =>
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

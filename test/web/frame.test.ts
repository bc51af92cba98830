import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { App, axeFaults, isAvailable, schemes } from "./app.ts"

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the app", (it) => {
    it.effect("opens a session by a link, shows whose it is, and ends it", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { complaints, page } = yield* app.visit(yield* app.link, { signedIn: false })
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Open my session" }).click()
          await page.getByRole("button", { name: "Sign out" }).waitFor()
          assert.strictEqual(page.url(), `${app.url}/`)
          await page.getByRole("button", { name: "Sign out" }).click()
          await page.getByRole("heading", { level: 1, name: "Solana market data" }).waitFor()
        })
        assert.deepStrictEqual(complaints, [])
      })
    )

    it.effect.each(schemes)("has no fault of accessibility before the sign-in, %s", (scheme) =>
      Effect.gen(function* () {
        const app = yield* App
        for (const path of ["/", "/sign-in"]) {
          const { complaints, page } = yield* app.visit(path, { signedIn: false, scheme })
          assert.deepStrictEqual(yield* Effect.promise(() => axeFaults(page)), [])
          assert.deepStrictEqual(complaints, [])
        }
      })
    )
  })
})

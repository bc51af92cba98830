import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { App, axeFaults, isAvailable, schemes } from "./app.ts"

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "3 minutes", excludeTestServices: true })("the reference", (it) => {
    it.effect("finds a field by keyboard, and sends a request and a stream with the session", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { complaints, page } = yield* app.visit("/docs")
        yield* Effect.promise(async () => {
          await page.keyboard.press("/")
          await page.keyboard.type("outAmount")
          await page.getByRole("link", { name: "outAmount" }).first().waitFor()
          await page.keyboard.press("Enter")
          await page.getByRole("heading", { level: 1, name: "Price one trade" }).waitFor()
          assert.strictEqual(await page.getByLabel("inputMint").inputValue(), `So${"1".repeat(40)}2`)
          await page.getByRole("button", { name: "Python" }).click()
          await page.getByText("import requests").waitFor()
          await page.getByRole("button", { name: "Send" }).click()
          await page.getByText(/^200 in \d+ ms$/u).waitFor()
          assert.include(
            await page.getByRole("region", { name: "Answer", exact: true }).last().textContent(),
            "outAmount"
          )
          await page.goto(`${app.url}/docs/spot.stream`)
          await page.getByRole("button", { name: "Open the stream" }).click()
          await page.getByRole("list", { name: "Events" }).getByText("quote", { exact: true }).first().waitFor()
          await page.getByRole("button", { name: "Stop" }).click()
          await page.getByText(/^200 in \d+ ms$/u).waitFor()
        })
        assert.deepStrictEqual(complaints, [])
      })
    )

    it.effect("and its changes have their headings while they cannot be read", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/status", { signedIn: false })
        yield* Effect.promise(async () => {
          const error = { code: "data_unavailable", message: "Not now.", details: [] }
          await page.route("**/openapi.json", (route) => route.fulfill({ status: 503, json: { error } }))
          await page.goto(new URL("/docs", page.url()).href)
          await page.getByText("Not now.").waitFor()
          await page.getByRole("heading", { level: 1, name: "Reference" }).waitFor()
          await page.route("**/changelog", (route) =>
            route.request().isNavigationRequest() ? route.continue() : route.fulfill({ status: 503, json: { error } })
          )
          await page.goto(new URL("/changelog", page.url()).href)
          await page.getByText("Not now.", { exact: true }).waitFor()
          await page.getByRole("heading", { level: 1, name: "Changes of the API" }).waitFor()
        })
      })
    )

    it.effect.each(schemes)(
      "needs no session and has no accessibility faults, %s",
      (scheme) =>
        Effect.gen(function* () {
          const app = yield* App
          for (const path of ["", "/spot.exitCheck", "/errors", "/limits", "/numbers", "/live"].map(
            (page) => `/docs${page}`
          )) {
            const { complaints, page } = yield* app.visit(path, { signedIn: false, scheme })
            assert.deepStrictEqual(yield* Effect.promise(() => axeFaults(page)), [], path)
            assert.deepStrictEqual(complaints, [], path)
          }
          const { page } = yield* app.visit("/changelog", { signedIn: false, scheme })
          assert.deepStrictEqual(yield* Effect.promise(() => axeFaults(page)), [])
          yield* Effect.promise(() =>
            page
              .getByRole("heading", { name: /^\d{4}-\d\d-\d\d$/u })
              .first()
              .waitFor()
          )
        }),
      180_000
    )
  })
})

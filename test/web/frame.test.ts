import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { App, axeFaults, FERN, isAvailable, overflowOf } from "./app.ts"

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

    it.effect("shows a visitor what this service says of itself now, and reads nothing that needs a key", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { complaints, page } = yield* app.visit("/status", { signedIn: false, width: 390 })
        yield* Effect.promise(async () => {
          const refused: Array<string> = []
          page.on("response", (response) => {
            if (response.status() === 401) {
              refused.push(response.url())
            }
          })
          await page.route("**/freshness", async (route) => {
            const response = await route.fetch()
            const { data, ...rest } = (await response.json()) as { data: ReadonlyArray<{ readonly source: string }> }
            const named = data.map((each) => ({
              ...each,
              ...(each.source === "chain" && { slot: 123_456 }),
              ...(each.source === "decoding" && {
                decoding: [
                  { dex: "raydium-cpmm", swaps: 1200, confirmedShare: 0.9996 },
                  { dex: "pumpswap", swaps: 34, confirmedShare: null }
                ]
              })
            }))
            await route.fulfill({ response, json: { ...rest, data: named } })
          })
          await page.goto(`${app.url}/t/${FERN}`)
          const look = page.getByRole("region", { name: "This service, right now" })
          await look.getByText("123,456").waitFor()
          await look.getByText("1,234").waitFor()
          await look.getByRole("row", { name: "raydium-cpmm 1,200 99.9 %" }).waitFor()
          await look.getByRole("row", { name: "pumpswap 34 –" }).waitFor()
          await page.getByRole("link", { name: "Sign in to see this page" }).waitFor()
          assert.strictEqual(await overflowOf(page), 0)
          assert.deepStrictEqual(refused, [])
        })
        assert.deepStrictEqual(complaints, [])
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

import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { App, axeFaults, FERN, isAvailable, overflowOf, settled } from "./app.ts"

const LONG = { timeout: 60_000 }
const PATIENCE_MS = 240_000
const FIELD = { name: "Search the market" }

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the token search", (it) => {
    it.effect(
      "shows tokens while the user types, and opens the chosen one by keyboard",
      () =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { complaints, page } = yield* visit("/", { width: 320 })
          yield* Effect.promise(async () => {
            const field = page.getByRole("combobox", FIELD)
            const options = page.getByRole("listbox", { name: "Tokens" }).getByRole("option")
            await field.fill(FERN.slice(0, 6))
            await options.first().waitFor(LONG)
            assert.include(await options.first().getAttribute("title"), FERN)
            assert.strictEqual(await field.getAttribute("aria-expanded"), "true")
            assert.strictEqual(await overflowOf(page), 0)
            assert.deepStrictEqual(await axeFaults(page), [])

            await field.press("Escape")
            assert.strictEqual(await options.count(), 0)
            await field.press("ArrowDown")
            await page.getByRole("listbox", { name: "Tokens" }).getByRole("option", { selected: true }).waitFor()
            const active = await field.getAttribute("aria-activedescendant")
            assert.strictEqual(await options.first().getAttribute("id"), active)
            await field.press("Enter")
            await page.waitForURL(`${url}/t/${FERN}`)
            await settled(page)
            assert.strictEqual(await field.inputValue(), "")

            // Enter before the answer opens the first token found. A mint opens at once.
            await page.goto(`${url}/`)
            await field.fill(FERN.slice(0, 7))
            await field.press("Enter")
            await page.waitForURL(`${url}/t/${FERN}`)
          })
          assert.deepStrictEqual(complaints, [])
        }),
      PATIENCE_MS
    )

    it.effect(
      "stays on the page when Escape comes between Enter and a late answer",
      () =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { page } = yield* visit("/")
          yield* Effect.promise(async () => {
            const field = page.getByRole("combobox", FIELD)
            const held = Promise.withResolvers<() => Promise<void>>()
            await page.route("**/api/v1/search?*", (route) => held.resolve(() => route.continue()))
            await field.fill(FERN.slice(0, 8))
            await field.press("Enter")
            const release = await held.promise
            await field.press("Escape")
            const answered = page.waitForResponse("**/api/v1/search?*", LONG)
            await release()
            await (await answered).finished()
            // The arrow key opens the list, which is still on the market page.
            await field.press("ArrowDown")
            await page.getByRole("listbox", { name: "Tokens" }).getByRole("option").first().waitFor(LONG)
            assert.strictEqual(page.url(), `${url}/`)
            await page.unroute("**/api/v1/search?*")
          })
        }),
      PATIENCE_MS
    )

    it.effect(
      "says when it finds nothing, and when the search failed",
      () =>
        Effect.gen(function* () {
          const { visit } = yield* App
          const { page } = yield* visit("/")
          yield* Effect.promise(async () => {
            const field = page.getByRole("combobox", FIELD)
            await field.fill("zzzzqqqqxxxx")
            await page.getByText(/^No token found/u).waitFor(LONG)
            await page.route("**/api/v1/search?*", (route) => route.abort())
            await field.fill("zzzzqqqqxxx")
            await page.getByRole("alert").waitFor(LONG)
            assert.deepStrictEqual(await axeFaults(page), [])
            await page.unroute("**/api/v1/search?*")
            await field.fill(FERN.slice(0, 6))
            await page.getByRole("listbox", { name: "Tokens" }).getByRole("option").first().click(LONG)
            await page.waitForURL(/\/t\//u)
          })
        }),
      PATIENCE_MS
    )

    it.effect(
      "is on the page of a token, which shows the holders or says why it cannot",
      () =>
        Effect.gen(function* () {
          const { visit } = yield* App
          const { complaints, page } = yield* visit(`/t/${FERN}`)
          yield* Effect.promise(async () => {
            await page.getByRole("combobox", FIELD).waitFor(LONG)
            const openHolders = () => page.getByRole("tab", { name: "Holders" }).click()
            await openHolders()
            const holders = page.getByRole("region", { name: "Holders", exact: true })
            await holders.getByText("Ten largest hold").waitFor(LONG)
            const rows = holders.locator("tbody tr")
            await rows.first().waitFor(LONG)
            assert.match(await rows.first().innerText(), /%/u)
            assert.deepStrictEqual(await axeFaults(page), [])
            await page.setViewportSize({ width: 320, height: 800 })
            assert.strictEqual(await overflowOf(page), 0)

            await page.route("**/holders?*", async (route) => {
              const response = await route.fetch()
              const answer = await response.json()
              const data = { ...answer.data, state: "backfill_running", retryAfterMs: 4000, top: null }
              await route.fulfill({ response, json: { ...answer, data } })
            })
            await page.reload()
            await openHolders()
            await page.getByText("being read, for about 4 s more", { exact: false }).waitFor(LONG)
            await page.unroute("**/holders?*")
            // The page reads again soon, without a reload.
            await rows.first().waitFor(LONG)
          })
          assert.deepStrictEqual(complaints, [])
        }),
      PATIENCE_MS
    )
  })
})

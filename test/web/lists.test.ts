import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { App, axeFaults, isAvailable, schemes } from "./app.ts"

const NARROW = 320
/** Time limit for a test that opens many pages on a busy machine. */
const LONG_MS = 240_000

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layerWelcome, { timeout: "2 minutes", excludeTestServices: true })("the lists of an account", (it) => {
    it.effect("lead from a tracked wallet to its positions and profit", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/tracker")
        yield* Effect.promise(async () => {
          await page
            .getByRole("region", { name: "Tracked wallets" })
            .getByRole("link", { name: "Diamond hands" })
            .click()
          const made = page.getByRole("region", { name: "Profit in dollars" })
          await made.getByRole("columnheader", { name: "Units of known cost" }).waitFor()
          await made.getByRole("rowheader", { name: "Realized", exact: true }).waitFor()
          await page.getByRole("button", { name: "Edit tracking" }).waitFor()
          await page.getByText(/SOL and \d+ tokens/u).waitFor()
          await page.getByRole("heading", { name: "Closed positions" }).waitFor()
          await page.getByRole("button", { name: "Last trade" }).click()
          await page
            .getByRole("columnheader", { name: "Last trade", exact: true })
            .and(page.locator("[aria-sort=descending]"))
            .waitFor()
          await page.getByText("Origin", { exact: true }).first().click()
          await page.getByRole("tab", { name: "Trades" }).click()
          await page
            .getByRole("region", { name: /^Newest first/u })
            .getByRole("row")
            .nth(1)
            .waitFor()
          await page.getByRole("tab", { name: "Trades" }).press("ArrowRight")
          await page.getByRole("heading", { name: "Transfers" }).waitFor()
          assert.match(page.url(), /tab=transfers/u)
        })
      })
    )

    it.effect("do not value a wallet at zero when none of its tokens has a known price", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/tracker")
        yield* Effect.promise(async () => {
          await page.route(/\/balances/u, async (route) => {
            const response = await route.fetch()
            const { data, ...rest } = (await response.json()) as { readonly data: object }
            const sums = { tokens: 3, unvalued: 4, valueUsd: null, knownValueUsd: "0" }
            const sol = { lamports: "2000000000", wrappedLamports: "0", markUsd: null, markAtMs: null, valueUsd: null }
            await route.fulfill({ response, json: { ...rest, data: { ...data, sol, tokens: [], sums } } })
          })
          await page.getByRole("link", { name: "Diamond hands" }).first().click()
          await page.getByText("Value unknown of 2 SOL and 3 tokens. No price is known.").waitFor()
          assert.strictEqual(await page.getByText("$0 known").count(), 0)
        })
      })
    )

    it.effect("do not call a list empty while an empty page has another one behind it", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/tracker")
        yield* Effect.promise(async () => {
          await page.route(/\/wallets\/[^/]+\/trades/u, async (route) => {
            const url = new URL(route.request().url())
            const cursor = url.searchParams.get("cursor")
            url.searchParams.delete("cursor")
            const response = await route.fetch({ url: url.href })
            const answer = (await response.json()) as { readonly meta: object }
            const nextCursor = cursor === null ? "more" : null
            await route.fulfill({ response, json: { ...answer, data: [], nextCursor } })
          })
          await page.getByRole("link", { name: "Diamond hands" }).first().click()
          await page.getByRole("tab", { name: "Trades" }).click()
          await page.getByText("None among the newest. There may be older ones.").waitFor()
          await page.getByRole("button", { name: "Show more" }).click()
          await page.getByText("No trade of this wallet is stored.").waitFor()
        })
      })
    )

    it.effect("show what a wallet holds, its lots by a method, what came first, and files of them", () =>
      Effect.gen(function* () {
        const { complaints, page } = yield* (yield* App).visit("/tracker")
        yield* Effect.promise(async () => {
          await page.getByRole("link", { name: "Diamond hands" }).first().click()
          await page.getByText(/^(?:Opened by|First recorded transfer in|No transfer to this wallet)/u).waitFor()
          await page.getByRole("tab", { name: "Balances" }).click()
          const held = page.getByRole("region", { name: "Read from the chain" })
          await held.getByRole("row", { name: /^SOL [\d.,]+ \$/u }).waitFor()
          await page.getByRole("tab", { name: "Lots" }).click()
          const sold = page.getByRole("region", { name: "What each sale took" })
          await sold.getByRole("columnheader", { name: "Gain" }).waitFor()
          const [asked] = await Promise.all([
            page.waitForRequest(/\/lots\?.*method=fifo/u),
            page.getByRole("button", { name: "First in" }).click()
          ])
          assert.match(asked.url(), /state=sold/u)
          assert.match(page.url(), /tab=lots&method=fifo/u)
          await sold.getByRole("row").nth(1).waitFor()
          for (const [tab, wanted] of [
            ["Lots", /^mint,.*gainUsd/u],
            ["Trades", /^signature,/u],
            ["Transfers", /^signature,/u]
          ] as const) {
            await page.getByRole("tab", { name: tab }).click()
            const href = (await page.getByRole("link", { name: "As CSV" }).getAttribute("href")) ?? ""
            const csv = await page.request.get(new URL(href, page.url()).href)
            assert.match(csv.headers()["content-type"] ?? "", /^text\/csv/u)
            assert.match((await csv.text()).split("\n", 1)[0] ?? "", wanted)
          }
        })
        assert.deepStrictEqual(complaints, [])
      })
    )

    it.effect("show follows, profit by token and the fills of one leader", () =>
      Effect.gen(function* () {
        const { complaints, page } = yield* (yield* App).visit("/copy")
        yield* Effect.promise(async () => {
          await page.getByRole("region", { name: "Wallets that are copied" }).waitFor()
          await page.getByLabel("Grouped by").selectOption("mint")
          await page.getByRole("region", { name: "Profit by token" }).waitFor()
          await page.getByLabel("Leader", { exact: true }).selectOption({ label: "\u2068Mira Tides\u2069" })
          await page.getByText("Only copies of Mira Tides").waitFor()
          // Fills name a mint only. The page asks for the symbols.
          const fills = page.getByRole("region", { name: "Trades of leaders and their copies, newest first" })
          await fills.locator("a[href^='/t/'] bdi").first().waitFor()
          await fills
            .getByText(/^(?:same block|\d+ slots?, )/u)
            .first()
            .waitFor()
          await page.getByRole("region", { name: "Trades of leaders and their copies, newest first" }).waitFor()
        })
        assert.deepStrictEqual(complaints, [])
      })
    )

    it.effect("show callouts of all tokens, of one token, and their share pages", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page } = yield* app.visit("/callouts")
        yield* Effect.promise(async () => {
          await page.getByText("Return since").first().waitFor()
          await page.getByRole("link", { name: "More callouts of this token" }).first().click()
          await page.getByRole("link", { name: "All tokens" }).waitFor()
          await page.getByRole("searchbox", { name: "Token" }).fill("not-a-mint")
          await page.getByRole("button", { name: "Show" }).click()
          await page.getByText("Token must be a Solana address", { exact: false }).waitFor()
          await page.getByRole("link", { name: "All tokens" }).click()
          await page.getByRole("link", { name: "Share page" }).first().click()
          await page.waitForURL(/\/c\/co_/u)
        })
      })
    )

    it.effect("say that a market had no funding only where the whole week is known", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/perps")
        yield* Effect.promise(async () => {
          const answers = {
            hl: { nextCursor: "more", coverage: { complete: true, reason: null } },
            dydx: { nextCursor: null, coverage: { complete: false, reason: "source_gap" } },
            lighter: { nextCursor: null, coverage: { complete: true, reason: null } }
          }
          await page.route(/\/perps\/funding\?/u, (route) => {
            const venue = new URL(route.request().url()).searchParams.get("venue")
            const { coverage, nextCursor } = venue === "hl" || venue === "dydx" ? answers[venue] : answers.lighter
            const meta = { venue, kind: null, reason: null, observedAtMs: 1, coverage }
            return route.fulfill({ json: { data: [], nextCursor, meta } })
          })
          const past = page.getByRole("region", { name: "Past funding" })
          await past.getByLabel("Venue").selectOption("Lighter")
          await past.getByText("No funding in the last week.").waitFor()
          for (const name of ["Hyperliquid", "dYdX"]) {
            await past.getByLabel("Venue").selectOption(name)
            await past.getByText(`No funding of the last days is known from ${name}.`).waitFor()
          }
        })
      })
    )

    it.effect("offer the markets of every venue for the symbol, and say whose are missing", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/perps")
        yield* Effect.promise(async () => {
          await page
            .locator('datalist option[value="xyz:GOLD"][label="xyz:GOLD: Hyperliquid"]')
            .waitFor({ state: "attached" })
          await page.getByLabel("Symbol").fill("xyz:GOLD")
          await page.getByRole("button", { name: "Compare" }).click()
          await page.getByRole("heading", { name: "is cheapest for 1 xyz:GOLD held 8 h" }).waitFor()
          await page.route(/\/perps\/markets\?/u, (route) => {
            const isFirst = !new URL(route.request().url()).searchParams.has("cursor")
            const symbol = isFirst ? "AAA" : "ZZZ"
            const market = { symbol, builder: null, venues: [{ venue: "dydx", venueSymbol: symbol, coinsPerUnit: 1 }] }
            const meta = {
              venues: [
                { venue: "dydx", status: "known" },
                { venue: "paradex", status: "unavailable" }
              ]
            }
            return route.fulfill({ json: { data: [market], nextCursor: isFirst ? "more" : null, meta } })
          })
          await page.reload()
          await page.getByText("The markets of Paradex cannot be read right now and are not in the list.").waitFor()
          const values = await page
            .locator("datalist option")
            .evaluateAll((all) => all.map((each) => each.getAttribute("value")))
          assert.deepStrictEqual(values, ["AAA", "ZZZ"])
          await page.route(/\/perps\/markets\?/u, (route) =>
            route.fulfill({ status: 503, json: { error: { code: "perps_unavailable", message: "no" } } })
          )
          await page.reload()
          await page.getByText("The list of markets cannot be read right now; a symbol can be typed.").waitFor()
        })
      })
    )

    it.effect("compare the venues of an order, and name the cheapest with its costs", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/perps")
        yield* Effect.promise(async () => {
          await page.getByRole("heading", { name: "is cheapest for 1 BTC held 8 h" }).waitFor()
          const past = page.getByRole("region", { name: "Past funding" })
          await past.getByLabel("Venue").selectOption("Hyperliquid")
          await past.getByRole("row").nth(24).waitFor()
          await past.getByLabel("Venue").selectOption("Paradex")
          await past.getByText("not payments", { exact: false }).waitFor()
          await past.getByLabel("Venue").selectOption("Jupiter")
          await past.getByText("Jupiter publishes no past funding.").waitFor()
          await page.getByLabel("Size").fill("100000")
          await page.getByLabel("Side").selectOption("sell")
          await page.getByRole("button", { name: "Compare" }).click()
          const left = page.getByRole("region", { name: "Venues that cannot take the order" })
          await left.getByText("Its visible order book is too small for this size.").first().waitFor()
          await page.getByLabel("Size").fill("0")
          await page.getByRole("button", { name: "Compare" }).click()
          await page.getByText("Size must be above 0", { exact: false }).waitFor()
        })
      })
    )

    it.effect.each(schemes)(
      "have no accessibility faults and fit a narrow window, %s",
      (scheme) =>
        Effect.gen(function* () {
          const app = yield* App
          const wallet = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"
          const width = scheme === "dark" ? NARROW : 1280
          for (const path of ["/tracker", "/alerts", "/copy", "/callouts", "/perps", `/w/${wallet}`]) {
            const { page } = yield* app.visit(path, { scheme, width })
            assert.deepStrictEqual(yield* Effect.promise(() => axeFaults(page)), [], path)
            const wide = yield* Effect.promise(() => page.evaluate<number>("document.documentElement.scrollWidth"))
            assert.isAtMost(wide, width, path)
          }
        }),
      LONG_MS
    )
  })
})

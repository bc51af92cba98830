import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator, Page, Request } from "playwright-core"
import { App, axeFaults, FERN, isAvailable, overflowOf, settled } from "./app.ts"

const LONG = { timeout: 120_000 }
const PATIENCE_MS = 480_000

const scalar = (value: string, unit: string) => ({
  value,
  unit,
  status: "known",
  observedAtMs: null,
  expiresAtMs: null,
  coverage: { complete: true, reason: null }
})

const ranked = (rank: number, address: string, symbol: string, cap: string) => ({
  rank,
  token: { chain: "solana", address, symbol, name: `${symbol} token`, decimals: 6, imageUrl: null },
  priceUsd: scalar("0.00000123", "usd"),
  priceMethod: "last_trade",
  changePct: scalar("1.5", "percent"),
  changeSince: "window",
  volumeUsd: scalar("1000", "usd"),
  liquidityUsd: scalar("5000", "usd"),
  marketCapUsd: scalar(cap, "usd"),
  trades: scalar("5", "count"),
  traders: scalar("3", "count")
})

/** The statistics of a ranked token, as a screen answers them. */
const screened = ({
  changePct,
  liquidityUsd,
  marketCapUsd,
  priceUsd,
  token,
  traders,
  trades,
  volumeUsd
}: ReturnType<typeof ranked>) => {
  const windows = ["5m", "1h", "6h", "24h"].flatMap((window) => [
    [`changePct.${window}`, changePct],
    [`volumeUsd.${window}`, volumeUsd],
    [`trades.${window}`, trades],
    [`traders.${window}`, traders]
  ])
  const values = {
    ...Object.fromEntries(windows),
    priceUsd,
    marketCapUsd,
    liquidityUsd,
    holders: scalar("77", "count")
  }
  return { token, values }
}

/**
 * Lists two tokens as the market, without the socket. A service that has just started has read too little to rank
 * tokens.
 */
const scriptMarket = async (page: Page): Promise<void> => {
  await page.routeWebSocket(/\/market\/realtime/u, (socket) => socket.close())
  await page.route(/\/market\/movement/u, async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as { readonly meta: object }
    const data = [ranked(1, FERN, "FERN", "2000000"), ranked(2, OTHER, "OTHER", "900000")]
    await route.fulfill({ json: { ...answer, data, nextCursor: null } })
  })
  await page.route(/\/tokens\/screen$/u, async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as { readonly meta: object }
    const data = [ranked(1, FERN, "FERN", "2000000"), ranked(2, OTHER, "OTHER", "900000")].map(screened)
    await route.fulfill({ json: { ...answer, data, nextCursor: null } })
  })
}

/** Whether a request is one of a screen with this text in its body. */
const asksFor = (part: string) => (request: Request) =>
  request.url().endsWith("/tokens/screen") && (request.postData() ?? "").includes(part)

/** A mint of the simulated market. */
const OTHER = "So11111111111111111111111111111111111111112"

/** True while the head of a token is inside the window of a page that was scrolled. */
const IN_SIGHT = `(() => {
  const { top } = document.querySelector(".token-head").getBoundingClientRect()
  return scrollY > 200 && top >= 0 && top < 100
})()`

/** Waits until the title of a page matches. */
const expectTitle = async (page: Page, wanted: RegExp): Promise<void> => {
  while (!wanted.test(await page.title())) {
    await page.waitForTimeout(100)
  }
}

/** Asks until there is an answer: on a busy machine the market may be too old for a quote, which is refused then. */
const asked = async (page: Page, button: string, answer: Locator): Promise<void> => {
  await page.getByRole("button", { name: button, exact: true }).click()
  try {
    await answer.waitFor({ timeout: 10_000 })
  } catch {
    return asked(page, button, answer)
  }
}

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the market", (it) => {
    it.effect(
      "keeps window, order, limits and columns in the address, by pointer and by keyboard",
      () =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { complaints, page } = yield* visit("/perps")
          yield* Effect.promise(async () => {
            await scriptMarket(page)
            await page.goto(`${url}/`)
            const head = (name: string) => page.getByRole("columnheader", { name })
            await page.getByRole("button", { name: "24 h", exact: true }).first().click()
            await page.getByLabel("Liquidity from").selectOption("Any")
            await page.getByRole("button", { name: "Market cap" }).click()
            await page.getByRole("button", { name: "Market cap" }).click()
            await page.getByText("Columns", { exact: true }).click()
            await page.getByRole("checkbox", { name: "Traders" }).uncheck()
            await page.waitForURL(/columns=/u)
            assert.deepStrictEqual(Object.fromEntries(new URL(page.url()).searchParams), {
              window: "24h",
              liquidity: "0",
              sort: "cap",
              order: "up",
              columns: "price.5m.1h.6h.24h.volume.trades.liquidity.cap"
            })
            await page.reload()
            await page.getByRole("row", { name: /OTHER.*\$0\.0₅123.*\+1\.50 %.*\$900\.00K/u }).waitFor(LONG)
            assert.strictEqual(await head("Market cap").getAttribute("aria-sort"), "ascending")
            assert.strictEqual(await head("Traders").count(), 0)
            assert.strictEqual(
              await page.getByRole("button", { name: "24 h", exact: true }).first().getAttribute("aria-pressed"),
              "true"
            )

            const rows = page.locator("tbody th a")
            await rows.first().focus()
            await page.keyboard.press("ArrowDown")
            assert.isTrue(await page.evaluate(`document.activeElement === document.querySelectorAll("tbody th a")[1]`))
            await page.keyboard.press("/")
            const isAtSearch = () => page.evaluate<boolean>(`document.activeElement.role === "combobox"`)
            assert.isTrue(await isAtSearch())
            await page.keyboard.press("Escape")
            assert.isFalse(await isAtSearch())
            await rows.nth(1).focus()
            await page.keyboard.press("Enter")
            await page.waitForURL(`${url}/t/${FERN}`)
          })
          assert.deepStrictEqual(complaints, [])
        }),
      PATIENCE_MS
    )

    it.effect(
      "asks for ranges and the order of any statistic, and for further columns",
      () =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { complaints, page } = yield* visit("/perps")
          yield* Effect.promise(async () => {
            await scriptMarket(page)
            await page.goto(`${url}/`)
            await page.getByText("Columns", { exact: true }).click()
            const [figures] = await Promise.all([
              page.waitForRequest(asksFor('"holders"'), LONG),
              page.getByRole("checkbox", { name: "Holders" }).check()
            ])
            assert.sameMembers(figures.postDataJSON().mints, [FERN, OTHER])
            await page.getByRole("row", { name: /FERN.* 77/u }).waitFor(LONG)
            const [listed] = await Promise.all([
              page.waitForRequest(asksFor('"ranges"'), LONG),
              page.getByLabel("Age up to").selectOption("1 d")
            ])
            assert.deepStrictEqual(listed.postDataJSON().ranges, [
              { statistic: "trades.1h", min: "1" },
              { statistic: "liquidityUsd", min: "1000" },
              { statistic: "ageMs", max: "86400000" }
            ])
            const [sorted] = await Promise.all([
              page.waitForRequest(asksFor('"sort":{"statistic":"holders","direction":"desc"}'), LONG),
              page.getByRole("button", { name: "Holders", exact: true }).click()
            ])
            assert.isUndefined(sorted.postDataJSON().mints)
            assert.match(page.url(), /age=86400000.*sort=holders|sort=holders.*age=86400000/u)
            await page.getByRole("row", { name: /OTHER.* 77/u }).waitFor(LONG)
          })
          assert.deepStrictEqual(complaints, [])
        }),
      PATIENCE_MS
    )

    it.effect(
      "reads the figures of a visitor's own list, and follows only screens that visitors share",
      () =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { page } = yield* visit("/perps")
          yield* Effect.promise(async () => {
            const sent: Array<string> = []
            const until = async (isTrue: () => boolean): Promise<void> => {
              while (!isTrue()) {
                await page.waitForTimeout(100)
              }
            }
            page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => void sent.push(String(payload))))
            await page.goto(`${url}/t/${OTHER}`)
            await page.getByRole("button", { name: "Watch", exact: true }).click()
            await page.goto(`${url}/?window=24h&columns=trades&age=86400000`)
            const shared = () => sent.filter((text) => text.includes('"ageMs"')).length
            await until(() => shared() > 0)
            const [read] = await Promise.all([
              page.waitForRequest(asksFor('"mints"'), LONG),
              page.getByRole("tab", { name: "Watchlists" }).click()
            ])
            assert.deepStrictEqual(read.postDataJSON().mints, [OTHER])
            // A figure has come, known or not. Until then the cell has none.
            await page.locator('tr:has-text("Wrapped SOL") td .figure').waitFor(LONG)
            // The socket sends in order: what the list followed would be sent before this.
            const before = shared()
            await page.getByRole("tab", { name: "Tokens" }).click()
            await until(() => shared() > before)
            assert.deepStrictEqual(
              sent.filter((text) => text.includes('"mints"')),
              []
            )
          })
        }),
      PATIENCE_MS
    )

    it.effect(
      "wraps the sentence above a wide table at the width of the window",
      () =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { page } = yield* visit("/perps", { width: 390 })
          yield* Effect.promise(async () => {
            await scriptMarket(page)
            await page.goto(`${url}/`)
            await page.locator("caption > span").waitFor(LONG)
            const cut = await page.evaluate<number>(`(() => {
              const sentence = document.querySelector("caption > span")
              return sentence.getBoundingClientRect().right - sentence.closest(".scroll").getBoundingClientRect().right
            })()`)
            assert.isAtMost(cut, 0)
          })
        }),
      PATIENCE_MS
    )

    it.effect(
      "has watchlists, a heat map and venues, each at an address of its own",
      () =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { complaints, page } = yield* visit("/perps")
          yield* Effect.promise(async () => {
            await scriptMarket(page)
            await page.goto(`${url}/`)
            await page.getByRole("button", { name: "Watch FERN" }).click()
            await page.getByRole("tab", { name: "Watchlists" }).click()
            await page.getByRole("region", { name: "Watched" }).getByRole("link", { name: "FERN" }).waitFor(LONG)
            await page.getByLabel("Name of a new list").fill("Later")
            await page.getByRole("button", { name: "Add" }).click()
            await page.getByText("No token is on this list.", { exact: false }).waitFor()
            assert.match(page.url(), /tab=watchlists&list=Later/u)
            await page.getByRole("button", { name: "Remove this list" }).click()
            await page.getByRole("link", { name: "FERN" }).waitFor(LONG)
            assert.deepStrictEqual(await axeFaults(page), [])
            for (const [tab, title] of [
              ["Heat map", "Heat map"],
              ["Venues", "Venues and launchpads"]
            ] as const) {
              await page.getByRole("tab", { name: tab }).click()
              await page.getByRole("heading", { level: 2, name: title }).waitFor()
              await settled(page)
              assert.deepStrictEqual(await axeFaults(page), [])
            }
            await page.setViewportSize({ width: 320, height: 800 })
            assert.strictEqual(await overflowOf(page), 0)
            await page.getByRole("button", { name: "Menu" }).click()
            await page.getByRole("link", { name: "Tracker" }).waitFor()
            await page.keyboard.press("Escape")
            await page.getByRole("link", { name: "Tracker" }).waitFor({ state: "hidden" })
          })
          assert.deepStrictEqual(complaints, [])
        }),
      PATIENCE_MS
    )

    it.effect(
      "shows launches by stage with their first buyers, and opens one",
      () =>
        Effect.gen(function* () {
          const { visit } = yield* App
          const { complaints, page } = yield* visit("/?tab=launches&window=24h")
          yield* Effect.promise(async () => {
            const launches = page.getByRole("region", { name: "New", exact: true })
            const link = launches.getByRole("link").first()
            await link.waitFor(LONG)
            await launches.getByText("First buyers").first().click()
            await launches.locator("details[open]:not(:has(.loading)) :is(li, .empty)").first().waitFor(LONG)
            assert.deepStrictEqual(await axeFaults(page), [])
            await link.click()
            await page.waitForURL(/\/t\/[1-9A-HJ-NP-Za-km-z]{32,44}$/u)
            await settled(page)
          })
          assert.deepStrictEqual(
            complaints.filter((each) => !each.includes("503")),
            []
          )
        }),
      PATIENCE_MS
    )
  })

  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("a token", (it) => {
    it.effect(
      "draws live candles, with the last bars as a table",
      () =>
        Effect.gen(function* () {
          const { visit } = yield* App
          const { complaints, page } = yield* visit(`/t/${FERN}`)
          yield* Effect.promise(async () => {
            const chart = page.getByRole("img", { name: /candles of 1m: price in USD between/u })
            await chart.waitFor(LONG)
            assert.isAbove(await chart.locator("canvas").count(), 0)
            const [request] = await Promise.all([
              // While the socket brings the bars, the chart is read again after a minute.
              page.waitForRequest(/market\/chart\/.*from=/u, { timeout: 2 * LONG.timeout }),
              page.getByText("The last bars as a table").click()
            ])
            assert.include(request.url(), FERN)
            assert.isAbove(await page.getByRole("row", { name: /\$/u }).count(), 3)
            await page.getByRole("group", { name: "Unit", exact: true }).getByRole("button", { name: "SOL" }).click()
            await page.getByRole("button", { name: "Market cap" }).click()
            await page.getByRole("img", { name: /candles of 1m: market value in SOL between/u }).waitFor(LONG)
            await settled(page)
            await page.setViewportSize({ width: 320, height: 800 })
            assert.strictEqual(await overflowOf(page), 0)
          })
          assert.deepStrictEqual(complaints, [])
        }),
      PATIENCE_MS
    )
  })

  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the head of a token", (it) => {
    it.effect(
      "stays in sight with price, figures and risk, names the price in the title, and opens what it marks",
      () =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { complaints, page } = yield* visit(`/t/${FERN}`)
          yield* Effect.promise(async () => {
            const head = page.getByRole("region", { name: "Token at a glance" })
            for (const name of ["Market cap", "Liquidity", "Volume", "Holders", "Age", "Platform", "Risk"]) {
              await head.getByText(name, { exact: true }).waitFor(LONG)
            }
            await head.getByRole("button", { name: "24 h" }).click()
            await expectTitle(page, /FERN\S* · \$[\d.]+/u)
            await page.evaluate("scrollTo(0, document.body.scrollHeight)")
            assert.isTrue(await page.evaluate<boolean>(IN_SIGHT))
            for (const [name, title] of [
              ["Holders", "Holders"],
              ["Pools", "Pools"],
              ["Traders", "Top traders"],
              ["Risk", "Risk"]
            ] as const) {
              await page.getByRole("tab", { name }).click()
              await page.getByRole("heading", { level: 2, name: title, exact: true }).waitFor(LONG)
            }
            await page.getByRole("tab", { name: "Trades" }).click()
            await head.getByRole("button", { name: /warning|of \d+/u }).click()
            assert.strictEqual(await page.getByRole("tab", { name: "Risk" }).getAttribute("aria-selected"), "true")
            assert.deepStrictEqual(await axeFaults(page), [])
            await head.getByRole("button", { name: "Watch" }).click()
            await page.setViewportSize({ width: 390, height: 844 })
            await page.reload()
            await settled(page)
            assert.strictEqual(await overflowOf(page), 0)
            // Price and chart are on the first screen of a phone.
            const chart = await page.locator(".chart").first().boundingBox()
            assert.isBelow((chart?.y ?? 844) + 150, 844)
            assert.isBelow((await head.boundingBox())?.y ?? 844, 200)
            await page.goto(`${url}/?tab=watchlists`)
            await page.getByRole("region", { name: "Watched" }).getByRole("link", { name: "FERN" }).click(LONG)
            await page.waitForURL(`${url}/t/${FERN}`)
          })
          assert.deepStrictEqual(complaints, [])
        }),
      PATIENCE_MS
    )
  })

  // A separate account, because a page that is loaded again spends half of a minute's budget.
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the trades of a token", (it) => {
    it.effect(
      "lists trades of all pools and of one, in dollars and SOL, page by page, with statistics by window",
      () =>
        Effect.gen(function* () {
          const { visit } = yield* App
          const { complaints, page } = yield* visit(`/t/${FERN}`)
          yield* Effect.promise(async () => {
            const trades = page.getByRole("region", { name: "Trades", exact: true })
            const rows = trades.locator("tbody tr")
            await rows.nth(49).waitFor(LONG)
            assert.match(await rows.first().innerText(), /\$[\d.]/u)
            await trades.getByRole("button", { name: "SOL" }).click()
            assert.match(await rows.first().innerText(), /\d SOL/u)
            await trades.getByRole("button", { name: "Show more" }).click()
            await rows.nth(99).waitFor(LONG)
            // A new trade arrives while later pages are shown. The newest come first.
            const TIMES = `Array.from(document.querySelectorAll("tbody th.name > time"), (time) => time.dateTime)`
            const timesOf = () => page.evaluate<ReadonlyArray<string>>(TIMES)
            const [newest = ""] = await timesOf()
            let times = await timesOf()
            while ((times[0] ?? "") <= newest) {
              await page.waitForTimeout(250)
              times = await timesOf()
            }
            assert.isAtLeast(times.length, 100)
            assert.deepStrictEqual(times, times.toSorted().toReversed())

            await trades.getByRole("button", { name: "Sells" }).click()
            await trades.getByText("sell", { exact: true }).first().waitFor(LONG)
            assert.strictEqual(await trades.getByText("buy", { exact: true }).count(), 0)
            const [chart, listed] = await Promise.all([
              page.waitForRequest(/market\/chart\/[^?]*\?.*pool=/u),
              page.waitForRequest(/\/trades\?.*pool=/u),
              page.getByLabel("Pool", { exact: true }).selectOption({ index: 1 })
            ])
            const pool = new URL(chart.url()).searchParams.get("pool")
            assert.strictEqual(new URL(listed.url()).searchParams.get("pool"), pool)
            await trades.getByText("of the pool", { exact: false }).waitFor(LONG)

            const statistics = page.getByRole("region", { name: "Statistics", exact: true })
            for (const window of ["5 min", "1 h", "6 h", "24 h"]) {
              await statistics.getByRole("rowheader", { name: window, exact: true }).waitFor(LONG)
            }
            await statistics.getByText("Highest recorded price", { exact: false }).waitFor()
            assert.deepStrictEqual(await axeFaults(page), [])
            const wallet = trades.locator('a[href^="/w/"]').first()
            await wallet.click()
            await page.getByRole("heading", { name: "Day by day" }).waitFor(LONG)
            await page.getByRole("img", { name: /^Realized profit by day from \d{4}-/u }).waitFor(LONG)
            await page.getByRole("img", { name: /^Value by day from/u }).waitFor()
            await page.getByText("The days as a table").click()
            await page.getByRole("region", { name: "UTC days, newest first" }).getByRole("row").nth(1).waitFor()
            assert.deepStrictEqual(await axeFaults(page), [])
            await page.setViewportSize({ width: 320, height: 800 })
            assert.strictEqual(await overflowOf(page), 0)
          })
          assert.deepStrictEqual(complaints, [])
        }),
      PATIENCE_MS
    )
  })

  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("a trade on the page of a token", (it) => {
    it.effect(
      "is quoted in whole tokens, once and live, with the exit ladder of a position",
      () =>
        Effect.gen(function* () {
          const { visit } = yield* App
          const { complaints, page } = yield* visit(`/t/${FERN}`)
          yield* Effect.promise(async () => {
            const amount = page.getByLabel("Amount in SOL")
            await amount.fill("1,5", LONG)
            await page.getByRole("button", { name: "Quote", exact: true }).click()
            await page.getByText("Write decimals with a point").waitFor()
            await amount.fill("0.000000001500")
            await page.getByText("At most 9 digits after the point").waitFor()
            await amount.fill("1.100000001")
            const [request] = await Promise.all([
              page.waitForRequest(/spot\/quote\?/u),
              page.getByRole("button", { name: "Quote", exact: true }).click()
            ])
            assert.strictEqual(new URL(request.url()).searchParams.get("amount"), "1100000001")
            await asked(page, "Quote", page.getByText("You receive"))
            await page.getByLabel("Live").check()
            await page.getByText("Live", { exact: true }).nth(1).waitFor(LONG)
            await page.getByLabel("Live").uncheck()
            await page.getByLabel(/^Position in/u).fill("1000", LONG)
            await asked(page, "Check the exit", page.getByRole("row", { name: /^100 %/u }))
            assert.strictEqual(await page.locator("svg.rung").count(), 6)
            assert.deepStrictEqual(await axeFaults(page), [])
          })
          assert.deepStrictEqual(complaints, [])
        }),
      PATIENCE_MS
    )
  })

  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the status page", (it) => {
    it.effect(
      "shows every source with its state to a visitor, and keeps the last answer while the service is away",
      () =>
        Effect.gen(function* () {
          const { visit } = yield* App
          const { complaints, page } = yield* visit("/status", { signedIn: false })
          yield* Effect.promise(async () => {
            for (const source of ["Chain", "Blocks", "Database", "Trades"]) {
              await page.getByRole("row", { name: new RegExp(`^${source} `, "u") }).waitFor()
            }
            await page.getByText(/^Ready/u).waitFor()
            assert.deepStrictEqual(await axeFaults(page), [])
            await page.setViewportSize({ width: 320, height: 800 })
            assert.strictEqual(await overflowOf(page), 0)
          })
          assert.deepStrictEqual(complaints, [])
          yield* Effect.promise(async () => {
            await page.route(/\/freshness$/u, (route) => route.abort())
            await page.getByText("The service cannot be reached.").first().waitFor(LONG)
            await page
              .getByText(/^Stale: read/u)
              .first()
              .waitFor(LONG)
            assert.isTrue(await page.getByRole("row", { name: /^Chain /u }).isVisible())
          })
        }),
      PATIENCE_MS
    )
  })
})

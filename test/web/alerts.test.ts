import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { App, axeFaults, FERN, isAvailable } from "./app.ts"

const firing = {
  eventId: "evt_one",
  alertId: "al_one",
  mint: "So11111111111111111111111111111111111111112",
  condition: { metric: "price_usd", operator: "crosses_above", threshold: "2", windowSeconds: null, source: "swap" },
  value: "2.5",
  observedAtMs: 1_795_000_000_000,
  firedAtMs: 1_795_000_001_000,
  trade: null,
  delivery: ["app"]
}

const WALLET = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"

const ofTrade = {
  ...firing,
  eventId: "evt_two",
  condition: { ...firing.condition, metric: "wallet_trade_usd", operator: "at_least", threshold: "500" },
  trade: { signature: "s", slot: 1, index: 0, wallet: WALLET, side: "sell", amount: "5", leftOut: 3 }
}

const PATIENCE_MS = 240_000

/** Moves the pointer down the chart until it is over the line of an alert. */
const findLine = async (page: Page): Promise<{ readonly x: number; readonly y: number }> => {
  const box = await page.locator(".chart").boundingBox()
  const { height, width, x, y } = box ?? { x: 0, y: 0, width: 0, height: 0 }
  for (let down = 0; down < height; down += 4) {
    await page.mouse.move(x + width / 3, y + down)
    if ((await page.locator(".chart.grab").count()) > 0) {
      return { x: x + width / 3, y: y + down }
    }
  }
  return findLine(page)
}

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the page of alerts", (it) => {
    it.effect("sets, rejects, pauses, changes and removes alerts, and lists their firings", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page } = yield* app.visit(`/alerts?mint=${app.mints[1]}`)
        const { page: ofWallet } = yield* app.visit(`/w/${WALLET}`)
        yield* Effect.promise(async () => {
          const dialog = page.getByRole("dialog")
          const alerts = page.getByRole("region", { name: "Alerts, newest first" })
          const threshold = dialog.getByRole("textbox", { name: "Threshold" })
          await dialog.getByRole("textbox", { name: "Note" }).fill("<b>first</b>")
          await threshold.fill("-1")
          await dialog.getByRole("button", { name: "Set the alert" }).click()
          await dialog.getByText("Threshold must be a decimal above 0", { exact: false }).waitFor()
          assert.strictEqual(await threshold.getAttribute("aria-invalid"), "true")
          await threshold.fill("1000000")
          await dialog.getByLabel("Fires", { exact: true }).selectOption("repeat")
          await dialog.getByRole("button", { name: "Set the alert" }).click()
          await alerts.getByText("<b>first</b>").waitFor()

          await page.getByText("No alert has fired in the last 30 days.").waitFor()
          await page.route(/\/alerts\/events/u, (route) =>
            route.fulfill({ json: { data: [ofTrade, firing], nextCursor: null } })
          )
          const firings = page.getByRole("region", { name: "Firings of the last 30 days, newest first" })
          await firings.getByText("Price in dollars crosses above $2").waitFor()
          await firings.getByText("Wallet trade in dollars of at least $500").waitFor()
          await firings.getByText("3 earlier trades did not fire").waitFor()
          // The bell of every page tells it, once.
          await page.getByRole("status", { name: "Alert" }).getByText("Wallet trade in dollars").waitFor()
          await page.getByRole("button", { name: "Fired alerts, 2 new" }).click()
          const bell = page.getByRole("dialog", { name: "Fired alerts" })
          await bell.getByText("Price in dollars crosses above $2, now $2.5").waitFor()
          assert.deepStrictEqual(await axeFaults(page), [])
          await page.keyboard.press("Escape")
          await bell.waitFor({ state: "detached" })
          await page.getByRole("button", { name: "Fired alerts", exact: true }).waitFor()

          await page.getByRole("button", { name: "Pause: Price in dollars" }).click()
          await alerts.getByText("paused").waitFor()
          await page.getByRole("button", { name: "Resume: Price in dollars" }).click()
          await page.getByRole("button", { name: "Edit: Price in dollars" }).click()
          await dialog.getByRole("textbox", { name: "Note" }).fill("second")
          await dialog.getByRole("button", { name: "Save" }).click()
          await alerts.getByText("second").waitFor()

          await page.getByRole("button", { name: "New alert" }).click()
          await dialog.getByLabel("What").selectOption("change_pct")
          await dialog.getByLabel("Movement").selectOption("falls_by")
          await dialog.getByLabel("Within").selectOption("3600")
          await threshold.fill("99")
          await dialog.getByRole("button", { name: "Set the alert" }).click()
          await alerts.getByText("Change in percent falls by 99 % within 1 hour").waitFor()

          await page.getByRole("button", { name: "New alert" }).click()
          await dialog.getByLabel("What").selectOption("wallet_trade_usd")
          await dialog.getByRole("textbox", { name: "Token" }).fill("")
          await dialog.getByRole("textbox", { name: "Wallet" }).fill(WALLET)
          await dialog.getByLabel("Side").selectOption("sell")
          await threshold.fill("500")
          await dialog.getByRole("button", { name: "Set the alert" }).click()
          await dialog.getByText("must be one of the tracked wallets", { exact: false }).waitFor()
          await ofWallet.getByRole("button", { name: "Track this wallet" }).click()
          await ofWallet.getByRole("button", { name: "Track it" }).click()
          await ofWallet.getByRole("button", { name: "Edit tracking" }).waitFor()
          await dialog.getByRole("button", { name: "Set the alert" }).click()
          await alerts.getByText("Wallet trade in dollars of at least $500").waitFor()
          await alerts.getByText("watches trades").waitFor()

          await page.getByRole("button", { name: "Remove: Change in percent" }).click()
          await dialog.getByRole("button", { name: "Remove the alert" }).click()
          await alerts.getByText("Change in percent").waitFor({ state: "detached" })
        })
      })
    )
  })

  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("alerts on a market that is late", (it) => {
    it.effect(
      "compare old values, and the page says so: while the past is read, and while blocks are late or missing",
      () =>
        Effect.gen(function* () {
          const { page } = yield* (yield* App).visit("/callouts")
          yield* Effect.promise(async () => {
            const feed = { source: "block_feed", lagMs: 400, status: "known" }
            const blocks = { source: "blocks", lagMs: 400, status: "known" }
            // The store is away, which the alerts do not need.
            const trades = { source: "trades", lagMs: 900_000, status: "stale" }
            let sources: ReadonlyArray<object> = []
            await page.route(/\/freshness$/u, (route) => route.fulfill({ json: { data: sources, meta: {} } }))
            const isSaid = (text: RegExp) => page.locator("main section.card > .note").getByText(text).waitFor()

            const reading = { ...feed, status: "stale", reason: "backfill_running", share: 0.424, leftMs: 20_000 }
            sources = [reading, { ...blocks, status: "stale", lagMs: 300_000 }]
            await page.getByRole("link", { name: "Alerts", exact: true }).click()
            await isSaid(/42 %, about 20 s left\. Until then alerts on trades compare old values, or wait\.$/u)
            sources = [feed, trades, { ...blocks, status: "stale", lagMs: 300_000 }]
            await isSaid(/^The newest block is 5 min old\. Alerts on trades compare old values, or wait/u)
            sources = [feed, trades, { ...blocks, status: "unavailable", lagMs: null }]
            await isSaid(/^No block has been read yet\. Alerts on trades wait for the first one\.$/u)
            sources = [feed, trades, blocks]
            await page.locator("main .note").waitFor({ state: "detached" })
          })
        }),
      PATIENCE_MS
    )
  })

  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("an alert on the page of a token", (it) => {
    it.effect(
      "is set by picking a level, and moves when its line is dragged",
      () =>
        Effect.gen(function* () {
          const { page } = yield* (yield* App).visit(`/t/${FERN}`)
          yield* Effect.promise(async () => {
            const head = page.getByRole("region", { name: "Token at a glance" })
            const price = head.locator(".price data").first()
            await price.getByText(/\$/u).waitFor()
            const dialog = page.getByRole("dialog", { name: /Alert on/u })
            await head.getByRole("button", { name: "Alert" }).click()
            await dialog.getByRole("button", { name: "-10 %" }).click()
            await dialog.getByText(/^Fires when the price falls below \$[\d.]+\.$/u).waitFor()
            await dialog.getByRole("button", { name: "+5 %" }).click()
            await dialog.getByText(/^Fires when the price rises above/u).waitFor()
            // A level inside of the drawn prices, so that its line is in sight.
            const level = Number((await price.getAttribute("value")) ?? "1").toPrecision(4)
            await dialog.getByLabel("Level in dollars").fill(level)
            // The market may cross the level meanwhile. An alert that repeats stays.
            await dialog.getByRole("button", { name: "Each time" }).click()
            assert.deepStrictEqual(await axeFaults(page), [])
            await dialog.getByRole("button", { name: "Set the alert" }).click()
            await head.getByRole("button", { name: "Alert 1" }).waitFor()

            const { x, y } = await findLine(page)
            await page.mouse.down()
            await page.mouse.move(x, y + 30, { steps: 4 })
            const [request] = await Promise.all([
              page.waitForRequest((each) => each.method() === "PATCH"),
              page.mouse.up()
            ])
            const { condition } = request.postDataJSON() as { condition: { threshold: string } }
            assert.isBelow(Number(condition.threshold), Number(level))
            await request.response()
            await head.getByRole("button", { name: "Alert 1" }).click()
            await dialog.getByRole("button", { name: /^Remove: Price in dollars/u }).click()
            await head.getByRole("button", { name: "Alert", exact: true }).waitFor()
          })
        }),
      PATIENCE_MS
    )
  })
})

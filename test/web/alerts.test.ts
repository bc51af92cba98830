import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { App, isAvailable } from "./app.ts"

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
})

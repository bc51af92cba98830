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
  delivery: ["app"]
}

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the alerts", (it) => {
    it.effect("are set, refused at the field, paused, changed and removed, and their firings are listed", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page } = yield* app.visit(`/alerts?mint=${app.mints[1]}`)
        yield* Effect.promise(async () => {
          const dialog = page.getByRole("dialog")
          const alerts = page.getByRole("region", { name: "Alerts, the newest first" })
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
            route.fulfill({ json: { data: [firing], nextCursor: null } })
          )
          const firings = page.getByRole("region", { name: "Firings of the last 30 days, the newest first" })
          await firings.getByText("Price in dollars crosses above $2").waitFor()

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

          await page.getByRole("button", { name: "Remove: Change in percent" }).click()
          await dialog.getByRole("button", { name: "Remove the alert" }).click()
          await alerts.getByText("Change in percent").waitFor({ state: "detached" })
        })
      })
    )
  })
})

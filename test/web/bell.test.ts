/** The bell of every page: firings of alerts, told once over all pages of a browser. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { App, FERN, isAvailable } from "./app.ts"

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

const ofTrade = {
  ...firing,
  eventId: "evt_two",
  condition: { ...firing.condition, metric: "wallet_trade_usd", operator: "at_least", threshold: "500" },
  trade: {
    signature: "s",
    slot: 1,
    index: 0,
    wallet: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
    side: "sell",
    amount: "5",
    leftOut: 3
  }
}

const PATIENCE_MS = 240_000
/** After this long a page without the tracker's socket has looked for firings again. */
const READ_MS = 16_000

/**
 * Watches from inside of a page what it tells: its notifications, the tones that sound, and the firings that it shows.
 * `isAway` hides the page.
 */
const WATCH_TELLING = `{
  globalThis.told = { notifications: [], tones: [], shown: [] }
  globalThis.isAway = false
  Object.defineProperty(document, "hidden", { get: () => isAway })
  globalThis.Notification = class extends Notification {
    constructor(title, options) {
      super(title, options)
      told.notifications.push([title, options.tag])
    }
  }
  const start = OscillatorNode.prototype.start
  OscillatorNode.prototype.start = function (when) {
    told.tones.push([this.frequency.value, this.context.state])
    start.call(this, when)
  }
  new MutationObserver(() => {
    const text = document.querySelector('[role=status][aria-label="Alert"]')?.textContent ?? ""
    if (text !== "" && text !== told.shown.at(-1)) told.shown.push(text)
  }).observe(document, { subtree: true, childList: true, characterData: true })
}`

interface Told {
  readonly notifications: ReadonlyArray<readonly [words: string, tag: string]>
  readonly tones: ReadonlyArray<readonly [hertz: number, state: string]>
  readonly shown: ReadonlyArray<string>
}

const toldBy = (page: Page): Promise<Told> => page.evaluate<Told>("told")

/** Moves the clocks of all pages on until each of them has shown the words and has told what it will tell. */
const untilTold = async (pages: ReadonlyArray<Page>, words: string): Promise<ReadonlyArray<Told>> => {
  const [first] = pages
  await first?.context().clock.fastForward(READ_MS)
  // An answer takes real time. A page that was late sets its timer again.
  await first?.waitForTimeout(100)
  const told = await Promise.all(pages.map(toldBy))
  if (!told.every(({ shown }) => shown.some((text) => text.includes(words)))) {
    return untilTold(pages, words)
  }
  // Pages that wait to let others go first are through, and then the last one has let go of the lock.
  await first?.context().clock.fastForward(READ_MS)
  await Promise.all(
    pages.map((page) => page.evaluate("navigator.locks.request('fathom-alert-told', () => Promise.resolve())"))
  )
  return Promise.all(pages.map(toldBy))
}

/** Until the service has read the past of the simulated chain, its newest swaps and its alerts are of long ago. */
const IS_CAUGHT_UP = `fetch("/freshness")
  .then((answer) => answer.json())
  .then(({ data }) => data.some(({ source, status }) => source === "trades" && status === "known"))`

const untilCaughtUp = async (page: Page): Promise<void> => {
  if (!(await page.evaluate<boolean>(IS_CAUGHT_UP))) {
    await page.waitForTimeout(1_000)
    return untilCaughtUp(page)
  }
}

/** The price of the last swap, which alerts compare. */
const LAST_PRICE = `fetch("/api/v1/tokens/solana/${FERN}/trades?limit=1")
  .then((answer) => answer.json())
  .then(({ data: [trade] }) => Number(trade.priceUsd))`

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("an alert that fires", (it) => {
    it.effect(
      "notifies and sounds once over all open pages, of which some are hidden, and is shown in each of them",
      () =>
        Effect.gen(function* () {
          const app = yield* App
          const { page: first } = yield* app.visit("/status")
          yield* Effect.promise(async () => {
            const context = first.context()
            await context.grantPermissions(["notifications"], { origin: app.url })
            await context.clock.install()
            await context.addInitScript(WATCH_TELLING)
            await context.route(/\/realtime\/session/u, (route) => route.abort())
            const fired = { data: [] as Array<unknown>, nextCursor: null }
            const held = Promise.withResolvers<void>()
            await context.route(/\/alerts\/events/u, async (route) => {
              await held.promise
              await route.fulfill({ json: fired })
            })
            const pages = [first, await context.newPage(), await context.newPage()]
            const bells = pages.map((page) => page.getByRole("dialog", { name: "Fired alerts" }))
            for (const [place, page] of pages.entries()) {
              page.setDefaultTimeout(PATIENCE_MS)
              await page.goto(`${app.url}/status`)
              await page.getByRole("button", { name: "Fired alerts" }).click()
              await bells[place]?.getByText("This browser notifies you.").waitFor()
              // Without an answer nobody knows whether an alert has fired.
              await bells[place]?.getByText("Reading fired alerts …").waitFor()
            }
            held.resolve()
            for (const [place, page] of pages.entries()) {
              await bells[place]?.getByText("No alert has fired in the last 30 days.").waitFor()
              await page.keyboard.press("Escape")
              await page.evaluate(`isAway = ${place > 0}`)
            }

            fired.data = [firing]
            const told = await untilTold(pages, "Price in dollars crosses above")
            assert.deepStrictEqual(
              told.flatMap(({ notifications }) => notifications),
              [["So11…1112: Price in dollars crosses above $2, now $2.5", "evt_one"]]
            )
            assert.deepStrictEqual(
              told.flatMap(({ tones }) => tones),
              [
                [880, "running"],
                [1320, "running"]
              ]
            )

            // Without sound, which is chosen in one page for all of them, the next firing only notifies.
            await first.getByRole("button", { name: /^Fired alerts/u }).click()
            await first.getByLabel("Sound").uncheck()
            await pages[2]?.waitForFunction("localStorage.getItem('fathom-alerts-quiet') === 'yes'")
            fired.data = [ofTrade, firing]
            const later = await untilTold(pages, "Wallet trade in dollars")
            assert.deepStrictEqual(
              later.flatMap(({ notifications }) => notifications.map(([, tag]) => tag)).toSorted(),
              ["evt_one", "evt_two"]
            )
            assert.strictEqual(later.flatMap(({ tones }) => tones).length, 2)
          })
        }),
      PATIENCE_MS
    )
  })

  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("a visitor who signs in", (it) => {
    it.effect(
      "sets an alert on both sides of a price, and hears the bell when the market crosses one of them",
      () =>
        Effect.gen(function* () {
          const app = yield* App
          const { page } = yield* app.visit(yield* app.link, { signedIn: false })
          yield* Effect.promise(async () => {
            page.setDefaultTimeout(PATIENCE_MS)
            await page.getByRole("button", { name: "Open my session" }).click()
            await page.getByRole("button", { name: "Sign out", exact: true }).waitFor()
            await untilCaughtUp(page)
            await page.goto(`${app.url}/t/${FERN}`)
            const head = page.getByRole("region", { name: "Token at a glance" })
            await head.locator(".price data").first().getByText(/\$/u).waitFor()
            const now = await page.evaluate<number>(LAST_PRICE)
            const dialog = page.getByRole("dialog", { name: /Alert on/u })
            for (const factor of [0.9995, 1.0005]) {
              await head.getByRole("button", { name: /^Alert/u }).click()
              await dialog.getByLabel("Level in dollars").fill((now * factor).toFixed(12))
              await dialog.getByRole("button", { name: "Set the alert" }).click()
              await dialog.waitFor({ state: "detached" })
            }

            const words = /Price in dollars crosses (?:above|below) \$[\d.]+.*, now \$/u
            // What is shown for a few seconds may be over before this page is looked at again. The bell counts on.
            await page.getByRole("button", { name: /^Fired alerts, \d+ new$/u }).click()
            const bell = page.getByRole("dialog", { name: "Fired alerts" })
            await bell.getByText(words).first().waitFor()
            await bell.getByRole("link", { name: "All alerts" }).click()
            const firings = page.getByRole("region", { name: "Firings of the last 30 days, newest first" })
            await firings
              .getByText(/Price in dollars crosses (?:above|below)/u)
              .first()
              .waitFor()
          })
        }),
      2 * PATIENCE_MS
    )
  })
})

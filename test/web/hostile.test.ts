/** Hostile text from users and from the chain, on every page that shows such text. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { App, axeFaults, FERN, isAvailable, overflowOf, settled } from "./app.ts"

/** Markup, a script link and unclosed direction marks around a right-to-left word, short enough for a name. */
const NAME = `<img src=x onerror=hostile=1>\u202E javascript:hostile=1 \u200F\u05D0\u05D1 12`
/** The same for notes, without a place to break the line. */
const NOTES = `<script>hostile=1</script>\u202E${"W".repeat(400)}`
/** Longer than any field of the contract allows: what a metadata server or a later contract could send. */
const LONG = `\u05D0\u202E<script>hostile=1</script><img src=x onerror=hostile=1>\u2067${"W".repeat(10_000)}\u05D1 12`
const LINK = "javascript:hostile=1"
const WALLET = "7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5"
const LEADER = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"

const PAGES = [
  "/",
  `/t/${FERN}`,
  `/w/${LEADER}`,
  "/tracker",
  "/alerts",
  "/copy",
  "/callouts",
  "/settings/developer",
  "/status"
]

/** Time limit for a test that opens many pages on a busy machine. */
const LONG_MS = 240_000
const NARROW = 320

/** Fields of answers whose text comes from users or the chain. */
const written = /^(?:symbol|name|label|note|notes|body|displayName|handle|tokenSymbol|tokenName)$/u
const links = /^(?:image|imageUrl|imageProxyUrl|uri|url|website|avatarUrl|tokenImageUrl|profileUrl|xUrl)$/u

/** An answer with hostile text in each of those fields. */
const poisoned = (text: string): string =>
  JSON.stringify(
    JSON.parse(text, (key, value: unknown) =>
      written.test(key) && (typeof value === "string" || value === null) ? LONG : links.test(key) ? LINK : value
    )
  )

/** Poisons every answer and every frame that a page reads. */
const poison = async (page: Page): Promise<void> => {
  // Labels of venues and names of sources come from the service itself.
  await page.route(/\/(?:api\/v1\/(?!market\/lighthouse|freshness)|app\/session)/u, async (route) => {
    const response = await route.fetch()
    const isJson = response.headers()["content-type"]?.startsWith("application/json") === true
    await route.fulfill({ response, body: isJson ? poisoned(await response.text()) : await response.body() })
  })
  await page.routeWebSocket(/\/tracker\/realtime/u, (socket) => {
    socket.connectToServer().onMessage((message) => socket.send(poisoned(String(message))))
  })
}

/** Sends a change as the page would, and returns its status. */
const send = (page: Page, method: string, path: string, body: object): Promise<number> =>
  page.evaluate<number>(`(async () => {
    const { csrfToken } = await (await fetch("/app/session")).json()
    const headers = { "content-type": "application/json", "x-csrf-token": csrfToken }
    const body = ${JSON.stringify(JSON.stringify(body))}
    return (await fetch(${JSON.stringify(path)}, { method: ${JSON.stringify(method)}, headers, body })).status
  })()`)

// This code runs in the page, which has a document, so it is text here.
const LOOK = `(() => {
  const faults = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.data
    if (text.includes("hostile=1")) {
      const holder = node.parentElement
      const direction = getComputedStyle(holder).unicodeBidi
      const isIsolated = ["isolate", "plaintext", "isolate-override"].includes(direction) || /\\u2069/u.test(text)
      if (!isIsolated) {
        faults.push("not isolated: " + holder.outerHTML.slice(0, 160))
      }
      const { height, width } = holder.getBoundingClientRect()
      const isBody = holder.matches("p.words")
      if (width > innerWidth || (height > innerHeight && !isBody)) {
        faults.push("too large, " + width + " x " + height + ": " + holder.outerHTML.slice(0, 160))
      }
      continue
    }
    let before = null
    for (let at = 0; at < text.length && text.length < 400; at++) {
      if (/\\S/u.test(text[at])) {
        range.setStart(node, at)
        range.setEnd(node, at + 1)
        const box = range.getBoundingClientRect()
        if (before !== null && box.width > 0 && Math.abs(box.top - before.top) < 2 && box.left < before.left - 1) {
          faults.push("out of order: " + text.slice(0, 80))
          break
        }
        before = box
      }
    }
  }
  return faults
})()`

/** Asserts that hostile text ran nothing, became no element or link, and neither moved nor widened anything. */
const assertHarmless = async (page: Page, where: string) => {
  assert.strictEqual(await page.evaluate<string>("typeof hostile"), "undefined", where)
  assert.strictEqual(await page.locator(`img[src="x"], [href^="javascript:"], [src^="javascript:"]`).count(), 0, where)
  assert.deepStrictEqual([...new Set(await page.evaluate<ReadonlyArray<string>>(LOOK))], [], where)
  assert.strictEqual(await overflowOf(page), 0, where)
}

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "3 minutes", excludeTestServices: true })("hostile text of an account", (it) => {
    it.effect("in names of keys is shown as text and keeps its direction to itself", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page } = yield* app.visit("/settings/developer", { width: NARROW })
        yield* Effect.promise(async () => {
          assert.strictEqual(await send(page, "POST", "/api/v1/account/keys", { name: "x".repeat(10_000) }), 413)
          assert.strictEqual(await send(page, "POST", "/api/v1/account/keys", { name: "x".repeat(65) }), 400)
          assert.strictEqual(await send(page, "POST", "/api/v1/account/keys", { name: NAME }), 201)
          await page.reload()
          await page.getByRole("heading", { level: 3 }).filter({ hasText: "onerror" }).waitFor()
          await page.getByRole("button", { name: /^Revoke .*onerror/u }).click()
          await page.getByRole("dialog").getByText("onerror").waitFor()
          await assertHarmless(page, "dialog")
          await page.getByRole("button", { name: "Cancel" }).click()
          await page.getByRole("region", { name: "Kept for a year, newest first" }).waitFor()
          await assertHarmless(page, "keys")
          assert.deepStrictEqual(await axeFaults(page), [])
        })
      })
    )

    it.effect("in labels, notes, groups and alerts is shown as text and stays in its place", () =>
      Effect.gen(function* () {
        const app = yield* App
        const { page } = yield* app.visit("/tracker", { width: NARROW })
        yield* Effect.promise(async () => {
          assert.strictEqual(await send(page, "POST", "/api/v1/tracker/groups", { name: NAME.slice(0, 32) }), 201)
          const tracked = await send(page, "POST", "/api/v1/tracker/wallets", { wallet: WALLET, label: NAME })
          assert.include([200, 201], tracked)
          const path = `/api/v1/tracker/wallets/${WALLET}`
          assert.strictEqual(await send(page, "PATCH", path, { notes: "x".repeat(501) }), 400)
          assert.strictEqual(await send(page, "PATCH", path, { notes: NOTES }), 200)
          const condition = { metric: "price_usd", operator: "crosses_above", threshold: "1", source: "swap" }
          const alert = { mint: FERN, condition, recurrence: "once", note: NAME }
          assert.strictEqual(await send(page, "POST", "/api/v1/alerts", alert), 201)
          await page.reload()
          await page.getByText("<script>hostile=1</script>").first().waitFor()
          await page.getByText("onerror=hostile=1").first().waitFor()
          await assertHarmless(page, "tracker")
          await settled(page)
          assert.deepStrictEqual(await axeFaults(page), [])
          for (const other of [`/w/${WALLET}`, "/alerts"]) {
            await page.goto(app.url + other)
            await settled(page)
            await page.getByText("onerror=hostile=1").first().waitFor()
            await assertHarmless(page, other)
          }
        })
      })
    )
  })

  layer(App.layerWelcome, { timeout: "3 minutes", excludeTestServices: true })("hostile text of answers", (it) => {
    it.effect(
      "of any length does no harm on any page of a narrow window",
      () =>
        Effect.gen(function* () {
          const app = yield* App
          const { page } = yield* app.visit("/status", { width: NARROW })
          yield* Effect.promise(async () => {
            await poison(page)
            for (const path of PAGES) {
              await page.goto(app.url + path)
              await settled(page)
              await assertHarmless(page, path)
              const [part = ""] = (await page.title()).split(" · ", 1)
              assert.isTrue(
                !/\p{Bidi_Control}/u.test(part) || /^\u2068.*\u2069$/u.test(part),
                `${path}: title ${part.slice(0, 40)}`
              )
              assert.isAtMost(part.length, 120, `${path}: title`)
            }
          })
        }),
      LONG_MS
    )
  })
})

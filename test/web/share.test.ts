import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { BrowserContextOptions, Page } from "playwright-core"
import { CalloutStore } from "../../src/callouts/CalloutStore.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { Chromium, isAvailable } from "../support/browser.ts"
import { running } from "../support/http.ts"
import { attacks, badUrls, slyUrls } from "../http/middleware/attacks.ts"
import { shown, writtenBy } from "../http/pages/sharedCallout.ts"
import * as MemoryCallouts from "../support/memoryCallouts.ts"

const hostile = [...attacks, ...badUrls, ...slyUrls]

/** Callouts with hostile content by number. `co_plain` is an ordinary callout. */
const callouts = Layer.effect(
  CalloutStore,
  Effect.map(CalloutStore, (store) =>
    CalloutStore.of({
      ...store,
      find: (id) =>
        Effect.sync(() => {
          const text = hostile[Number(id.slice(3))]
          return text === undefined ? shown() : { ...writtenBy(text), id }
        })
    })
  )
).pipe(Layer.provide(MemoryCallouts.layer))

/** Errors that a page reports while every element of it is touched. */
const alarms = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, options: BrowserContextOptions) {
  const { url } = yield* Listening
  const browser = yield* Chromium
  return yield* Effect.promise(async () => {
    const raised: Array<string> = []
    const context = await browser.newContext(options)
    await context.exposeFunction("pwned", () => raised.push("pwned"))
    const page = await context.newPage()
    page.on("dialog", (dialog) => raised.push(`dialog ${dialog.message()}`))
    page.on("pageerror", (error) => raised.push(`error ${error.message}`))
    page.on("popup", () => raised.push("popup"))
    // Nothing leaves the machine: images are answered here, and every other request is recorded.
    await page.route(
      (asked) => asked.origin !== url,
      async (route) => {
        if (route.request().resourceType() !== "image" || !route.request().url().startsWith("https://")) {
          raised.push(`request ${route.request().url()}`)
        }
        await route.fulfill({
          status: 200,
          contentType: "image/svg+xml",
          body: "<svg xmlns='http://www.w3.org/2000/svg'/>"
        })
      }
    )
    for (const id of ids) {
      await page.goto(`${url}/c/${id}`)
      const seen = await touch(page)
      const expected = hostile[Number(id.slice(3))]?.replaceAll(/[\u202a-\u202e\u2066-\u2069\0\r\n\t]/gu, "") ?? ""
      if (!seen.text.replaceAll(/[\r\n\t]/gu, "").includes(expected.trim())) {
        raised.push(`${id} does not show its words: ${expected}`)
      }
      if (page.url() !== `${url}/c/${id}` || seen.unexpected.length > 0) {
        raised.push(`${id} made ${seen.unexpected.join(" ")} at ${page.url()}`)
      }
    }
    await context.close()
    return raised
  })
})

// This code runs in the page, which has a document, so it is text here.
const TOUCH = `(() => {
  const allowed = new Set(
    "html head meta link title body header a img main article div bdi time h1 p dl dt dd data code footer span".split(" ")
  )
  const all = Array.from(document.querySelectorAll("*"))
  for (const element of all) {
    for (const name of ["mouseover", "focus", "click", "toggle", "load", "error", "begin"]) {
      if (element.localName !== "a") {
        element.dispatchEvent(new Event(name, { bubbles: true }))
      }
    }
  }
  const handlers = all.flatMap((element) =>
    element.getAttributeNames().filter((name) => name.startsWith("on") || name === "style" || name === "srcdoc")
  )
  const names = all.map(({ localName }) => localName).filter((name) => !allowed.has(name))
  return { text: document.querySelector(".words").textContent, unexpected: [...names, ...handlers] }
})()`

const LOOK = `({
  wide: document.documentElement.scrollWidth,
  ground: getComputedStyle(document.body).backgroundColor,
  radius: getComputedStyle(document.querySelector(".card")).borderRadius
})`

/** Touches every element, and returns the text together with elements and attributes that are not allowed. */
const touch = (page: Page) =>
  page.evaluate<{ readonly text: string; readonly unexpected: ReadonlyArray<string> }>(TOUCH)

interface Look {
  readonly wide: number
  readonly ground: string
  readonly radius: string
}

const hostileIds = hostile.map((_, i) => `co_${i}`)
/** A fifth of the callouts, of every kind: a callout that does nothing without the policy does nothing with it. */
const sample = hostileIds.filter((_, i) => i % 5 === 0)

describe.runIf(isAvailable)("in a browser", () => {
  layer(Layer.merge(running({ callouts }), Layer.orDie(Chromium.layer)), {
    timeout: "2 minutes",
    excludeTestServices: true
  })("a share page", (it) => {
    it.effect(
      "runs nothing that a user wrote, and shows it under the content security policy",
      () => Effect.map(alarms(sample, {}), (raised) => assert.deepStrictEqual(raised, [])),
      60_000
    )

    it.effect(
      "runs nothing even when the policy is not enforced",
      () => Effect.map(alarms(hostileIds, { bypassCSP: true }), (raised) => assert.deepStrictEqual(raised, [])),
      60_000
    )

    it.effect(
      "has its style, keeps to its own policy, and fits a phone and a desktop in light and dark",
      () =>
        Effect.gen(function* () {
          const { url } = yield* Listening
          const browser = yield* Chromium
          for (const width of [320, 390, 1280]) {
            for (const colorScheme of ["light", "dark"] as const) {
              const found = yield* Effect.promise(async () => {
                const page = await browser.newPage({ viewport: { width, height: 844 }, colorScheme })
                const complaints: Array<string> = []
                page.on("console", (message) => complaints.push(message.text()))
                await page.route(/images\.example/u, (route) =>
                  route.fulfill({ contentType: "image/svg+xml", body: "<svg xmlns='http://www.w3.org/2000/svg'/>" })
                )
                await page.goto(`${url}/c/co_plain`)
                const look = await page.evaluate<Look>(LOOK)
                await page.close()
                return { complaints, ...look }
              })
              assert.deepStrictEqual(found.complaints, [])
              assert.isAtMost(found.wide, width)
              assert.strictEqual(found.radius, "20px")
              assert.strictEqual(found.ground, colorScheme === "dark" ? "rgb(11, 20, 19)" : "rgb(243, 245, 244)")
            }
          }
        }),
      60_000
    )
  })
})

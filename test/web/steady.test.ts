/**
 * What every page keeps: it stays in place while it loads, its targets are large enough for a finger, and it shows where
 * there is more beside.
 */
import { assert, describe, layer } from "@effect/vitest"
import axe from "axe-core"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { App, FERN, isAvailable, schemes, settled } from "./app.ts"

const PATIENCE_MS = 480_000
/** Most that a page may shift while it loads, by the measure of browsers. */
const MOST = 0.05

const PAGES = [
  "/",
  "/?tab=launches",
  "/?tab=map",
  `/t/${FERN}`,
  "/w/9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
  "/tracker",
  "/alerts",
  "/copy",
  "/callouts",
  "/perps",
  "/docs",
  "/status",
  "/settings/developer"
]

/** The sum of all shifts so far, and what moved. */
const SHIFTS = `new Promise((resolve) => {
  let sum = 0
  const moved = []
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!entry.hadRecentInput) {
        sum += entry.value
        moved.push(...entry.sources.map(({ node }) => node?.className ?? node?.nodeName))
      }
    }
  }).observe({ type: "layout-shift", buffered: true })
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve({ sum, moved }))))
})`

interface Shifts {
  readonly sum: number
  readonly moved: ReadonlyArray<string>
}

/** Targets that are smaller than 24 pixels and have no room around them. */
const smallTargets = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source)
  const options = JSON.stringify({ runOnly: ["target-size"], rules: { "target-size": { enabled: true } } })
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${options})`)
  return violations.flatMap(({ nodes }) => nodes.map(({ html }) => html))
}

interface Scroller {
  readonly name: string
  /** True when it is wider inside than outside. */
  readonly hasMore: boolean
  /** The edges that fade with the content at its start, in its middle and at its end. */
  readonly edges: ReadonlyArray<string>
}

/** Every element of the page that scrolls sideways where it is too narrow. */
const SCROLLERS = `(async () => {
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const edgesOf = (element) => {
    const { maskImage, maskPosition, maskSize } = getComputedStyle(element)
    if (maskImage === "none") {
      return "none"
    }
    const isWhole = maskSize.startsWith("100%")
    const fadesAtStart = !maskImage.includes("to right, rgb(0, 0, 0)")
    const left = fadesAtStart && (isWhole || maskPosition.startsWith("0"))
    const right = isWhole || maskPosition.startsWith("100%")
    return (left ? "left " : "") + (right ? "right" : "")
  }
  const found = []
  for (const element of document.querySelectorAll("main *")) {
    const { overflowX } = getComputedStyle(element)
    if (element.tagName !== "TEXTAREA" && (overflowX === "auto" || overflowX === "scroll")) {
      const more = element.scrollWidth - element.clientWidth
      const edges = []
      for (const part of [0, 0.5, 1]) {
        element.scrollLeft = part * more
        await drawn()
        edges.push(edgesOf(element).trim())
      }
      element.scrollLeft = 0
      found.push({ name: element.nodeName.toLowerCase() + "." + element.className, hasMore: more > 0, edges })
    }
  }
  return found
})()`

/** What scrolls without a hint of it, or has a hint and does not scroll. Tables keep their start. */
const withoutHint = (scrollers: ReadonlyArray<Scroller>): ReadonlyArray<Scroller> =>
  scrollers.filter(({ edges, hasMore, name }) => {
    const wanted = hasMore
      ? name === "div.scroll"
        ? ["right", "right", ""]
        : ["right", "left right", "left"]
      : ["none", "none", "none"]
    return edges.join() !== wanted.join()
  })

/** The scrollers of the page. Looks again while they are wrong, because rows may come while a table is scrolled. */
const scrollersOf = async (page: Page, tries = 5): Promise<ReadonlyArray<Scroller>> => {
  const scrollers = await page.evaluate<ReadonlyArray<Scroller>>(SCROLLERS)
  return tries > 1 && withoutHint(scrollers).length > 0 ? scrollersOf(page, tries - 1) : scrollers
}

/** Lets a page load at an address, and says what moved in it and how far. */
const shiftsOf = async (page: Page, url: string): Promise<Shifts> => {
  await page.goto(url)
  await settled(page)
  return page.evaluate<Shifts>(SHIFTS)
}

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layerWelcome, { timeout: "2 minutes", excludeTestServices: true })("every page", (it) => {
    it.effect.each([1440, 1024, 390])(
      "stays in place while it loads, and has targets of at least 24 pixels, in a window of %d pixels",
      (width) =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { page } = yield* visit("/sign-in", { width })
          // A market that is late says so in every panel. That it was read at last is another test's.
          yield* Effect.promise(async () => {
            await page.route(/\/freshness$/u, async (route) => {
              const response = await route.fetch()
              const { data, meta } = (await response.json()) as {
                data: ReadonlyArray<{ source: string }>
                meta: object
              }
              await route.fulfill({
                json: { data: data.filter(({ source }) => source !== "block_feed" && source !== "blocks"), meta }
              })
            })
            for (const path of PAGES) {
              const { moved, sum } = await shiftsOf(page, url + path)
              assert.isAtMost(sum, MOST, `${path}: ${moved.join(", ")}`)
              assert.deepStrictEqual(await smallTargets(page), [], path)
            }
          })
        }),
      PATIENCE_MS
    )

    it.effect.each(schemes)(
      "fades what scrolls sideways at the edge behind which it goes on, and nothing else, on a phone: %s",
      (scheme) =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { page } = yield* visit("/sign-in", { scheme, width: 390 })
          yield* Effect.promise(async () => {
            const names = new Set<string>()
            for (const path of PAGES) {
              await page.goto(url + path)
              await settled(page)
              const scrollers = await scrollersOf(page)
              assert.deepStrictEqual(withoutHint(scrollers), [], path)
              scrollers.filter(({ hasMore }) => hasMore).forEach(({ name }) => names.add(name))
            }
            // Strips of figures, the controls of a chart and tables are wider than a phone.
            for (const name of ["div.strip", "dl.facts", "div.row controls chart-controls", "div.scroll"]) {
              assert.include(Array.from(names), name)
            }
          })
        }),
      PATIENCE_MS
    )

    it.effect.each([1440, 1024, 390])(
      "stays in place while the service answers no read, in a window of %d pixels",
      (width) =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { page } = yield* visit("/sign-in", { width })
          yield* Effect.promise(async () => {
            const error = { code: "data_unavailable", message: "The market cannot be read now.", details: [] }
            await page.routeWebSocket(/\/realtime/u, () => undefined)
            await page.route(/\/(?:api\/v1\/|freshness)/u, (route) =>
              route.fulfill({ status: 503, json: { error }, headers: { "retry-after": "1" } })
            )
            for (const path of PAGES) {
              await shiftsOf(page, url + path)
              // Until reads were repeated, and have failed again.
              await page.waitForTimeout(1500)
              const { moved, sum } = await page.evaluate<Shifts>(SHIFTS)
              assert.isAtMost(sum, MOST, `${path}: ${moved.join(", ")}`)
            }
          })
        }),
      PATIENCE_MS
    )
  })
})

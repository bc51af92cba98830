/** One live connection for all pages of a browser, and what pages do when the service refuses. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { App, FERN, isAvailable, settled } from "./app.ts"

const LONG = { timeout: 90_000 }
const PATIENCE_MS = 600_000

const tradesOf = (page: Page) => page.getByRole("region", { name: "Trades", exact: true })

/** Waits until a page shows trades as they happen. */
const live = (page: Page) => tradesOf(page).getByText("Live", { exact: true }).waitFor(LONG)

const newestOf = (page: Page): Promise<string> =>
  page.evaluate(`document.querySelector("tbody th.name > time")?.dateTime ?? ""`)

/** Waits until the newest trade of a page is another one. */
const anotherTrade = async (page: Page): Promise<void> => {
  const before = await newestOf(page)
  while ((await newestOf(page)) <= before) {
    await page.waitForTimeout(250)
  }
}

/** Records the market sockets that a page opens, and the answers that refuse. */
const watch = (page: Page) => {
  const sockets: Array<string> = []
  const refusals: Array<string> = []
  page.on("websocket", (socket) => sockets.push(new URL(socket.url()).pathname))
  page.on("response", (response) => {
    if (response.status() === 429) {
      refusals.push(response.url())
    }
  })
  return { sockets, refusals }
}

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("four windows of a token", (it) => {
    it.effect(
      "share one market socket, show every trade, and go on when the window that holds the socket closes",
      () =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { page: first } = yield* visit("/status")
          yield* Effect.promise(async () => {
            const windows = await Promise.all([0, 1, 2, 3].map(() => first.context().newPage()))
            await first.close()
            const seen = windows.map(watch)
            for (const page of windows) {
              await page.goto(`${url}/t/${FERN}`)
              await settled(page)
            }
            await Promise.all(windows.map(live))
            await Promise.all(windows.map(anotherTrade))
            const sockets = () => seen.map((each) => each.sockets.filter((path) => path.includes("/market/")).length)
            assert.deepStrictEqual(sockets().toSorted(), [0, 0, 0, 1])
            const leader = sockets().indexOf(1)
            await windows[leader]?.close()
            const others = windows.filter((_, at) => at !== leader)
            await Promise.all(others.map(anotherTrade))
            await Promise.all(others.map(live))
            assert.strictEqual(
              sockets().reduce((sum, each) => sum + each, 0),
              2
            )
            assert.deepStrictEqual(
              seen.flatMap(({ refusals }) => refusals),
              []
            )
          })
        }),
      PATIENCE_MS
    )
  })

  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("a market that is still being read", (it) => {
    it.effect(
      "is said in every panel, with the part that is read and the time that is left, until it is whole",
      () =>
        Effect.gen(function* () {
          const { visit } = yield* App
          const { page } = yield* visit("/")
          yield* Effect.promise(async () => {
            let isRead = false
            await page.route(/\/freshness$/u, async (route) => {
              const response = await route.fetch()
              const { data, meta } = (await response.json()) as {
                data: ReadonlyArray<{ source: string }>
                meta: object
              }
              const reading = {
                source: "block_feed",
                status: "stale",
                reason: "backfill_running",
                share: 0.424,
                leftMs: 20_000
              }
              const others = data.filter(({ source }) => source !== "block_feed")
              await route.fulfill({ json: { data: isRead ? others : [...others, reading], meta } })
            })
            await page.reload()
            const notes = page.getByText("42 %, about 20 s left", { exact: false })
            await notes.first().waitFor(LONG)
            assert.strictEqual(await notes.count(), await page.locator("main section.card").count())
            isRead = true
            await notes.first().waitFor({ ...LONG, state: "detached" })
          })
        }),
      PATIENCE_MS
    )
  })

  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("a refusal", (it) => {
    it.effect(
      "is not repeated, while other reads go on",
      () =>
        Effect.gen(function* () {
          const { visit } = yield* App
          const { page } = yield* visit("/?tab=venues")
          yield* Effect.promise(async () => {
            let asked = 0
            const error = { code: "missing_scope", message: "The key lacks a scope.", details: null }
            await page.route(/\/market\/lighthouse/u, (route) => {
              asked += 1
              return route.fulfill({ status: 403, json: { error } })
            })
            await page.reload()
            await page.getByText("The key lacks a scope.").waitFor(LONG)
            for (const _ of [1, 2, 3]) {
              await page.waitForResponse(/\/market\/overview/u, LONG)
            }
            assert.strictEqual(asked, 1)
          })
        }),
      PATIENCE_MS
    )

    it.effect.each(["/t/mint", `/w/${FERN.slice(1, 12)}`, "/nowhere", "/docs/nowhere", "/settings/nowhere"])(
      "of an address that names nothing is the one page for it: %s",
      (path) =>
        Effect.gen(function* () {
          const { url, visit } = yield* App
          const { page } = yield* visit("/status")
          yield* Effect.promise(async () => {
            const answer = await page.goto(`${url}${path}`)
            await page.getByRole("heading", { level: 1, name: "There is no page here" }).waitFor(LONG)
            assert.strictEqual(answer?.status(), 404)
            assert.strictEqual(await page.getByRole("alert").count(), 0)
          })
        }),
      PATIENCE_MS
    )
  })
})

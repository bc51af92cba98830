import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page, WebSocketRoute } from "playwright-core"
import { App, isAvailable } from "./app.ts"

const WALLETS = ["9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin", "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"]
const HOSTILE = `<img src=x onerror="document.title='run'">`

const openList = async (page: Page) => {
  await page.getByRole("button", { name: "Track wallets" }).click()
  await page.getByRole("tab", { name: "A list" }).click()
}

const now = () => Date.now()
const snapshot = (other: object) =>
  JSON.stringify({
    type: "snapshot",
    seq: 0,
    sentAtMs: now(),
    streamId: "str_one",
    reason: "connect",
    resumed: false,
    gap: null,
    wallets: [],
    trades: [],
    pnl: [],
    summaries: [],
    status: {},
    ...other
  })

const trade = (seq: number, wallet: string, symbol: string) =>
  JSON.stringify({
    type: "trade",
    seq,
    sentAtMs: now(),
    eventId: `${symbol}:${seq}`,
    wallet,
    mint: "So11111111111111111111111111111111111111112",
    side: "buy",
    price_usd: 0.000_000_25,
    volume_usd: 12.5,
    volume_sol: null,
    market_cap_usd: null,
    amount: "50000000000000",
    decimals: 6,
    ts: now(),
    slot: 1,
    index: seq,
    commitment: "confirmed",
    signature: "signature",
    pool: null,
    dex: null,
    quotable: null,
    fees: { priorityLamports: "0", tipLamports: "0", frontEndUsd: "0", frontEndLamports: "0" },
    symbol,
    name: null,
    image: null,
    imageProxyUrl: null,
    imageStatus: "missing"
  })

/** Answers the sockets of a page with a script. `received` has the messages that the page sent. */
const scriptSockets = async (page: Page, wallet: string) => {
  const sockets: Array<WebSocketRoute> = []
  const received: Array<string> = []
  await page.routeWebSocket(/\/tracker\/realtime/u, (socket) => {
    socket.onMessage((message) => {
      received.push(String(message))
      const gap = { fromMs: null, toMs: now(), reason: "expired" }
      socket.send(snapshot({ reason: "resume", streamId: "str_two", gap }))
      socket.send(trade(1, wallet, "AFTER"))
    })
    if (sockets.length === 0) {
      socket.send(snapshot({}))
      socket.send(trade(1, wallet, "BEFORE"))
    }
    sockets.push(socket)
  })
  return { sockets, received }
}

describe.runIf(isAvailable)("in a browser", () => {
  layer(App.layer, { timeout: "2 minutes", excludeTestServices: true })("the tracker", (it) => {
    it.effect("tracks a pasted list, and edits, groups and removes wallets", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/tracker")
        yield* Effect.promise(async () => {
          const table = page.getByRole("region", { name: "Tracked wallets" })
          await openList(page)
          await page.getByLabel("Addresses").fill(`${WALLETS[0]} ${HOSTILE}\nnot-an-address`)
          await page.getByRole("button", { name: "Track them" }).click()
          await page.getByRole("alert").getByText("not-an-address: the address is malformed").waitFor()
          await page.getByLabel("Addresses").fill(`${WALLETS[0]} ${HOSTILE}\n${WALLETS[1]}`)
          await page.getByRole("button", { name: "Track them" }).click()
          await table.getByRole("link", { name: HOSTILE }).waitFor()
          assert.strictEqual(await page.title(), "Tracker · Fathom")

          await page.getByRole("button", { name: "New group" }).click()
          await page.getByLabel("Name").fill("Whales")
          await page.getByRole("button", { name: "Create" }).click()
          await page.getByText("No wallet is in this group.").waitFor()
          await page.getByRole("button", { name: "All 2" }).click()

          await page.getByRole("button", { name: `Edit ${HOSTILE}` }).click()
          await page.getByLabel("Label").fill("Slow and steady")
          await page.getByRole("textbox", { name: "Notes" }).fill("line one\nline two")
          await page.getByRole("checkbox", { name: "Whales" }).check()
          await page.getByRole("button", { name: "Save" }).click()
          await page.getByRole("button", { name: "Whales 1" }).click()
          await table.getByRole("link", { name: "Slow and steady" }).waitFor()

          await page.getByRole("button", { name: "Remove Slow and steady" }).click()
          await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
          await page.getByRole("button", { name: "Remove Slow and steady" }).click()
          await page.getByRole("dialog").getByRole("button", { name: "Stop tracking" }).click()
          await page.getByRole("button", { name: "All 1" }).waitFor()
        })
      })
    )

    it.effect("keeps its heading while the tracked wallets cannot be read", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/status")
        yield* Effect.promise(async () => {
          const error = { code: "data_unavailable", message: "The wallets cannot be read.", details: [] }
          await page.route("**/api/v1/tracker/snapshot", (route) => route.fulfill({ status: 503, json: { error } }))
          await page.getByRole("link", { name: "Tracker" }).click()
          await page.getByRole("alert").getByText("The wallets cannot be read.").waitFor()
          await page.getByRole("heading", { level: 1, name: "Tracker" }).waitFor()
        })
      })
    )

    it.effect("shows live trades, resumes after a lost connection, and names what it missed", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/tracker")
        yield* Effect.promise(async () => {
          const [, wallet = ""] = WALLETS
          await openList(page)
          await page.getByLabel("Addresses").fill(wallet)
          await page.getByRole("button", { name: "Track them" }).click()
          await page.getByRole("dialog").waitFor({ state: "detached" })
          const { received, sockets } = await scriptSockets(page, wallet)
          await page.reload()

          const trades = page.getByRole("region", { name: "Newest trades first" })
          await trades.getByRole("link", { name: "BEFORE" }).waitFor()
          await page.getByText("Live", { exact: true }).waitFor()
          assert.include(await trades.innerText(), "50,000,000")
          assert.include(await trades.innerText(), "$0.0₆25")

          await sockets[0]?.close({ code: 1012, reason: "the service restarts" })
          await trades.getByRole("link", { name: "AFTER" }).waitFor()
          await page.getByText("Trades may be missing up to").waitFor()
          assert.deepStrictEqual(received, [JSON.stringify({ op: "resume", streamId: "str_one", seq: 1 })])
        })
      })
    )

    it.effect("polls trades while the connection is refused", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit("/tracker")
        yield* Effect.promise(async () => {
          const [, wallet = ""] = WALLETS
          await page.routeWebSocket(/\/tracker\/realtime/u, (socket) => void socket.close({ code: 4403 }))
          await page.route(/\/tracker\/trades/u, (route) =>
            route.fulfill({ json: { count: 1, trades: [JSON.parse(trade(1, wallet, "POLLED"))], truncated: false } })
          )
          await page.reload()
          await page.getByRole("link", { name: "POLLED" }).waitFor()
          await page.getByText("Not live: reading every 5 s", { exact: true }).waitFor()
        })
      })
    )

    it.effect("tracks a wallet from the wallet's page", () =>
      Effect.gen(function* () {
        const { page } = yield* (yield* App).visit(`/w/${WALLETS[0]}`)
        yield* Effect.promise(async () => {
          await page.getByText("No trade of this wallet is in the record", { exact: false }).first().waitFor()
          await page.getByRole("button", { name: "Track this wallet" }).click()
          await page.getByRole("dialog").getByLabel("Label").fill("x".repeat(65))
          await page.getByRole("button", { name: "Track it" }).click()
          await page.getByText("Label must be at most 64 characters.").waitFor()
          await page.getByRole("dialog").getByLabel("Label").fill("From its page")
          await page.getByRole("button", { name: "Track it" }).click()
          await page.getByText("From its page").waitFor()
          await page.getByRole("button", { name: "Edit tracking" }).waitFor()
        })
      })
    )
  })
})

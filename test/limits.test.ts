/** The numbers of docs/limits.md are those of the code. */
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import { readFileSync } from "node:fs"
import { walletBatchPolicy } from "../src/access/WalletBatch.ts"
import { usageDefaults, UsageQuery } from "../src/api/Account.ts"
import { FirstBuyersQuery, MOST_BUYER_TOKENS } from "../src/api/Launches.ts"
import { exportPrice } from "../src/api/Exports.ts"
import { HoldersQuery } from "../src/api/Tokens.ts"
import { QuoteQuery, StreamQuery } from "../src/api/Spot.ts"
import { SearchQuery } from "../src/api/Search.ts"
import { SOL, USDC } from "../src/domain/Address.ts"
import { MAX_ACTIVE_KEYS } from "../src/api/schemas/ApiKey.ts"
import { DEFAULT_PLAN } from "../src/api/schemas/Plan.ts"
import { USAGE_DAYS } from "../src/api/schemas/Usage.ts"
import { MAX_EXPIRY_MS, MAX_LIVE_ALERTS, MOST_TRADE_FIRINGS } from "../src/api/schemas/Alert.ts"
import { MAX_GROUPS, MAX_TRACKED_WALLETS } from "../src/api/schemas/Tracker.ts"
import { mcpLimits } from "../src/http/mcp/guardSessions.ts"
import { MESSAGE_BYTES, MOST_LEVELS } from "../src/http/mcp/messages.ts"
import { answerBytes } from "../src/http/mcp/tools.ts"
import { ATTEMPTS } from "../src/http/pages/signInSteps.ts"
import { defaults } from "../src/http/Settings.ts"
import { MAX_URL } from "../src/http/middleware/RequestLifecycle.ts"
import { LIMITS } from "../src/market/memory/TraderViews.ts"
import { MAX_SUBSCRIPTIONS } from "../src/api/schemas/MarketFrame.ts"
import { callsOf, ticketPolicy } from "../src/live/tickets.ts"
import { MOST_MESSAGES } from "../src/live/market/MarketHub.ts"
import {
  BalancesQuery,
  LotsQuery,
  PositionsQuery,
  WalletTradesQuery,
  WalletTransfersQuery
} from "../src/api/Wallets.ts"
import { MOST_RANGES, MOST_SCREENED_ROWS, MOST_SHOWN } from "../src/api/schemas/TokenScreen.ts"
import { MOST_ROWS } from "../src/market/reads/movement.ts"
import { MOST_EXAMINED } from "../src/market/reads/screenView.ts"
import { MOST_MARKED } from "../src/wallets/walletBalances.ts"
import { shareOfBatch } from "../src/wallets/walletShare.ts"
import { MOST_EXACT_OUT_HOPS } from "../src/quotes/exactOutPath.ts"

const page = readFileSync("docs/limits.md", "utf8")
const document = JSON.parse(readFileSync("src/api/openapi.json", "utf8"))

/** Limits of the table rows by their first cell. */
const rows = new Map(
  Array.from(page.matchAll(/^\| (?!---)([^|]+) \| ([^|]+) \|$/gmu), ([, name = "", limit = ""]) => [name, limit])
)

/** Numbers of a text, in order. */
const numbersIn = (text: string | undefined): ReadonlyArray<number> =>
  Array.from(text?.matchAll(/\d+/gu) ?? [], ([digits]) => Number(digits))

/** True when the query accepts the value of the parameter. */
const accepts = (query: Schema.Codec<unknown, unknown>, name: string, value: number): boolean => {
  const pair = { inputMint: SOL, outputMint: USDC, amount: "1" }
  const base = name === "limit" ? {} : pair
  return Option.isSome(Schema.decodeUnknownOption(query)({ ...base, [name]: String(value) }))
}

/** The two ends of a parameter, asserted on both sides. */
const assertBounds = (query: Schema.Codec<unknown, unknown>, name: string, low: number, high: number) => {
  assert.deepStrictEqual(
    [low - 1, low, high, high + 1].map((value) => accepts(query, name, value)),
    [false, true, true, false],
    `${name} from ${low} to ${high}`
  )
}

const itemsOf = (schema: string, field: string): readonly [number, number] => {
  const { maxItems, minItems } = document.components.schemas[schema].properties[field]
  return [minItems, maxItems]
}

const isText = (length: number): boolean =>
  Option.isSome(Schema.decodeUnknownOption(SearchQuery)({ q: "x".repeat(length) }))

const DAY_MS = 86_400_000
const { alerts, quote, rest, sockets, streams, trackedWallets, windowSeconds } = DEFAULT_PLAN

describe("docs/limits.md", () => {
  it("has the budgets of the plan default", () => {
    const text = page.replaceAll(/\s+/gu, " ")
    assert.include(
      text,
      `two budgets of units in any ${windowSeconds} seconds: ${rest} of reads (\`rest\`) and ${quote} of quotes`
    )
  })

  it.each([
    ["active keys", [MAX_ACTIVE_KEYS, 409]],
    ["tracked wallets", [trackedWallets, MAX_GROUPS]],
    ["live alerts", [alerts, MAX_EXPIRY_MS / DAY_MS]],
    ["firings of an alert on the trades of a wallet", [MOST_TRADE_FIRINGS]],
    ["event streams open at a time, of quotes, trades and candles", [streams]],
    ["tracker sockets open at a time", [sockets, ticketPolicy.lifeMs / 1000]],
    [
      "session calls in any minute, of the tracker and of the market each",
      [ticketPolicy.callsPerSocket, ticketPolicy.leastCalls, callsOf(DEFAULT_PLAN), callsOf({ sockets: 300 }), 300, 1]
    ],
    ["market sockets open at a time", [sockets, MAX_SUBSCRIPTIONS, MOST_MESSAGES, ticketPolicy.lifeMs / 1000]],
    ["sessions of `/mcp`", [mcpLimits.perHolder]],
    [
      "wallet summaries, positions and histories, exit checks of wallets, liquidity reads and prices in the past",
      [walletBatchPolicy.concurrent, walletBatchPolicy.starts, 60, walletBatchPolicy.mostConcurrent]
    ],
    ["body", [8, 128, 16]],
    ["pages, documents and static files", [defaults.pageRequests, 429]],
    ["attempts to sign in", [ATTEMPTS]],
    ["URL", [MAX_URL / 1024]],
    ["message of `/mcp`", [MESSAGE_BYTES / 1024, MOST_LEVELS, answerBytes.usual, answerBytes.least, answerBytes.most]],
    ["prices, wallet summaries", itemsOf("PricesRequest", "mints")],
    ["prices, wallet summaries", itemsOf("WalletSummaryRequest", "wallets")],
    ["facts of several tokens", itemsOf("TokensRequest", "addresses")],
    ["prices in the past", itemsOf("PriceHistoryRequest", "points")],
    ["exit check", itemsOf("ExitCheckRequest", "ladder")],
    ["several quotes", itemsOf("SpotQuotesRequest", "quotes")],
    ["quote of an exact output", [MOST_EXACT_OUT_HOPS]],
    ["screen of tokens", [MOST_RANGES, MOST_SHOWN, 1, MOST_SCREENED_ROWS, MOST_EXAMINED, MOST_ROWS]],
    ["cursor of top traders", [LIMITS.lifeMs / 1000]]
  ] as const)("has the numbers of %s", (name, numbers) => {
    assert.deepStrictEqual(numbersIn(rows.get(name)), [...numbers])
  })

  it("has limits of the plan that are those of the specification", () => {
    assert.deepStrictEqual([trackedWallets, alerts], [MAX_TRACKED_WALLETS, MAX_LIVE_ALERTS])
  })

  it("has the ends of parameters", () => {
    const [leastRows = 0, mostRowsOfWallet = 0, held] = numbersIn(rows.get("trades and transfers of a wallet"))
    assertBounds(WalletTradesQuery, "limit", leastRows, mostRowsOfWallet)
    assertBounds(WalletTransfersQuery, "limit", leastRows, mostRowsOfWallet)
    assert.strictEqual(held, shareOfBatch(1).events)
    const [leastLots = 0, mostLots = 0] = numbersIn(rows.get("lots of a wallet"))
    assertBounds(LotsQuery, "limit", leastLots, mostLots)
    const [leastTokens = 0, mostTokens = 0, valued] = numbersIn(rows.get("balances of a wallet"))
    assertBounds(BalancesQuery, "limit", leastTokens, mostTokens)
    assert.strictEqual(valued, MOST_MARKED)
    const [leastPositions = 0, mostPositions = 0] = numbersIn(rows.get("positions of a wallet"))
    assertBounds(PositionsQuery, "limit", leastPositions, mostPositions)
    const [fewest = 0, most = 0] = numbersIn(rows.get("holders of a token"))
    assertBounds(HoldersQuery, "limit", fewest, most)
    const [fewestBuyers = 0, mostBuyers = 0] = numbersIn(rows.get("first buyers of a token"))
    assertBounds(FirstBuyersQuery, "limit", fewestBuyers, mostBuyers)
    assert.deepStrictEqual(numbersIn(rows.get("first buyers of several tokens")), [1, MOST_BUYER_TOKENS])
    const [leastBps = 0, mostBps = 0] = numbersIn(rows.get("slippage"))
    assertBounds(QuoteQuery, "slippageBps", leastBps, mostBps)
    const [leastMs = 0, mostMs = 0, leastSeconds = 0, mostSeconds = 0] = numbersIn(rows.get("quote stream"))
    assertBounds(StreamQuery, "intervalMs", leastMs, mostMs)
    assertBounds(StreamQuery, "durationSeconds", leastSeconds, mostSeconds)
    const [leastText = 0, mostText = 0] = numbersIn(rows.get("text of a search"))
    assert.deepStrictEqual([leastText - 1, leastText, mostText, mostText + 1].map(isText), [false, true, true, false])
    const [mostRows = 0, csvRows, days] = numbersIn(rows.get("usage"))
    assertBounds(UsageQuery, "limit", 1, mostRows)
    assert.deepStrictEqual([csvRows, days], [usageDefaults.csvRows, USAGE_DAYS])
  })

  it("names the operations with a key that are free, and no others", () => {
    const free = Object.entries<Record<string, Record<string, unknown>>>(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).some((operation) => operation["x-budget"] === null && operation["security"] !== undefined)
        ? [path.replace("/api/v1", "")]
        : []
    )
    const [named = ""] = [...rows].find(([, limit]) => limit === "free") ?? []
    const [keyed = ""] = named.match(/[^`]+/u) ?? []
    assert.deepStrictEqual(
      free.filter((path) => !path.startsWith("/app/")),
      [keyed]
    )
  })

  it("has the price of downloads", () => {
    const mib = exportPrice.bytes / 2 ** 20
    assert.deepStrictEqual(numbersIn(rows.get("downloads of whole days at a time")), [
      DEFAULT_PLAN.exports,
      1,
      1,
      mib,
      exportPrice.most
    ])
  })

  it("has a test for each row with a number", () => {
    const tested = new Set([
      "active keys",
      "downloads of whole days at a time",
      "tracked wallets",
      "live alerts",
      "firings of an alert on the trades of a wallet",
      "event streams open at a time, of quotes, trades and candles",
      "tracker sockets open at a time",
      "session calls in any minute, of the tracker and of the market each",
      "market sockets open at a time",
      "sessions of `/mcp`",
      "wallet summaries, positions and histories, exit checks of wallets, liquidity reads and prices in the past",
      "body",
      "pages, documents and static files",
      "attempts to sign in",
      "URL",
      "message of `/mcp`",
      "prices, wallet summaries",
      "prices in the past",
      "facts of several tokens",
      "holders of a token",
      "first buyers of a token",
      "first buyers of several tokens",
      "several quotes",
      "trades and transfers of a wallet",
      "positions of a wallet",
      "lots of a wallet",
      "balances of a wallet",
      "quote of an exact output",
      "exit check",
      "exit check of a wallet",
      "cursor of top traders",
      "slippage",
      "screen of tokens",
      "text of a search",
      "quote stream",
      "usage"
    ])
    const [, ...sections] = page.split("## ")
    const named = Array.from(sections.join("").matchAll(/^\| (?!---|number)([^|]+) \|/gmu), ([, name = ""]) => name)
    assert.sameMembers(named, [...tested])
  })
})

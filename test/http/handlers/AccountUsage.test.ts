import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../../src/domain/Address.ts"
import { csvCell, prefersCsv } from "../../../src/http/handlers/csv.ts"
import * as MemoryAccounts from "../../support/memoryAccounts.ts"
import { call, keyOf, secretOf } from "../../support/http.ts"
import { closing, liveService, opened, trackAll } from "../../support/live.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"
import { openStream, until } from "../../support/sse.ts"
import { walletOf } from "../../wallets/tracker/liveScene.ts"

const SESSION = "s".repeat(43)
const PATH = "/api/v1/account/usage"
const quote = `/api/v1/spot/quote?inputMint=${TOKEN}&outputMint=${SOL}&amount=1000000`
const letters = "abcdefghijklmnop".split("")

const market = makeMarket()
const world = liveService({
  keys: [
    ...letters.map((letter) => keyOf(letter, { accountId: letter })),
    keyOf("x", { accountId: "ann" }),
    keyOf("y", { accountId: "ann" }),
    keyOf("v", { accountId: "v", ipPolicy: ["203.0.113.0/24"] }),
    keyOf("w", { accountId: "w", disabledAtMs: 0 })
  ],
  engine: engineOver(market),
  accounts: MemoryAccounts.layerOf([
    { id: "ann", session: Redacted.make(SESSION), link: Redacted.make("l".repeat(43)) },
    // Sessions that read the usage of keys that cannot.
    { id: "v", session: Redacted.make("v".repeat(43)), link: Redacted.make("m".repeat(43)) },
    { id: "w", session: Redacted.make("w".repeat(43)), link: Redacted.make("n".repeat(43)) }
  ])
})

interface Row {
  readonly day: string
  readonly keyId: string | null
  readonly operation: string
  readonly requests: number
  readonly units: number
  readonly errors: number
  readonly bytes: number
  readonly streamMinutes: number
}

const rowsOf = (value: unknown): ReadonlyArray<Row> => (Array.isArray(value) ? value : [])

/** The rows of a credential by operation. */
const usageOf = Effect.fnUntraced(function* (key: string | { readonly session: string }) {
  const options =
    typeof key === "string" ? { key } : { key: null, headers: { cookie: `fathom_session=${key.session}` } }
  const answer = yield* call(PATH, options)
  assert.strictEqual(answer.status, 200, answer.text)
  return new Map(rowsOf(answer.json("data")).map((row) => [row.operation, row]))
})

/** Lines of CSV beside those of its own operation, whose numbers grow with each request. */
const lines = (text: string) => text.split("\r\n").filter((line) => !line.includes("account.usage"))

const numbersOf = (row: Row | undefined) => row && [row.requests, row.units, row.errors]

layer(world)("the usage of a key", (it) => {
  it.effect("counts quotes alike on the fast path and through the router, bodies as sent", () =>
    Effect.gen(function* () {
      const fast = yield* call(quote, { key: "a" })
      const routed = yield* call(`${quote}&directOnly=false`, { key: "a", headers: { "accept-encoding": "identity" } })
      assert.deepStrictEqual([fast.status, routed.status], [200, 501])
      const row = (yield* usageOf("a")).get("spot.quote")
      assert.deepStrictEqual(numbersOf(row), [2, 1, 1])
      assert.strictEqual(row?.bytes, fast.text.length + routed.text.length)
      assert.strictEqual(row?.keyId, "key_a")
      assert.match(row?.day ?? "", /^1970-01-01$/u)
    })
  )

  it.effect("counts 429s of both ways as requests and errors without units", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 300; i++) {
        assert.strictEqual((yield* call(quote, { key: "b" })).status, 200)
      }
      assert.strictEqual((yield* call(quote, { key: "b" })).status, 429)
      assert.strictEqual((yield* call(`${quote}&unknown=1`, { key: "b" })).status, 429)
      assert.deepStrictEqual(numbersOf((yield* usageOf("b")).get("spot.quote")), [302, 300, 2])
    })
  )

  it.effect("counts invalid requests, which cost a unit, and refused scopes, which cost nothing", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call(`${quote}&unknown=1`, { key: "c" })).status, 400)
      assert.strictEqual((yield* call("/api/v1/perps/quote?symbol=BTC&side=buy&size=1", { key: "c" })).status, 403)
      const usage = yield* usageOf("c")
      assert.deepStrictEqual(numbersOf(usage.get("spot.quote")), [1, 1, 1])
      assert.deepStrictEqual(numbersOf(usage.get("perps.quote")), [1, 0, 1])
    })
  )

  it.effect("counts requests from refused addresses, and none with a disabled or unknown key", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("/api/v1/account/key", { key: "v" })).status, 403)
      assert.deepStrictEqual(numbersOf((yield* usageOf({ session: "v".repeat(43) })).get("account.key")), [1, 0, 1])
      assert.strictEqual((yield* call("/api/v1/account/key", { key: "w" })).status, 403)
      assert.strictEqual((yield* call("/api/v1/account/key", { key: "z" })).status, 401)
      assert.isUndefined((yield* usageOf({ session: "w".repeat(43) })).get("account.key"))
    })
  )

  it.effect("counts the ticks, the bytes and the time of a quote stream while it is open", () =>
    Effect.gen(function* () {
      const path = quote.replace("/quote?", "/quote/stream?")
      const stream = yield* openStream(`${path}&intervalMs=30000&durationSeconds=120`, "d")
      yield* until("the first quote", () => stream.frames().length >= 2)
      market.fresh = { ...market.fresh, heardAtMs: 90_000 }
      yield* TestClock.adjust("30 seconds")
      yield* TestClock.adjust("30 seconds")
      yield* TestClock.adjust("30 seconds")
      yield* until("four quotes", () => stream.frames().length >= 5)
      const open = (yield* usageOf("d")).get("spot.stream")
      assert.deepStrictEqual(numbersOf(open), [1, 4, 0])
      assert.strictEqual(open?.streamMinutes, 1.5)
      assert.strictEqual(open?.bytes, stream.text().length)
      stream.cut()
    })
  )

  it.effect("counts the connections of the tracker by time and bytes, under the key of their ticket", () =>
    Effect.gen(function* () {
      yield* trackAll([walletOf(1)], "e")
      const client = yield* opened("e", "control=false")
      yield* TestClock.adjust("15 seconds")
      const row = (yield* usageOf("e")).get("tracker.realtime")
      assert.deepStrictEqual(numbersOf(row), [0, 0, 0])
      assert.strictEqual(row?.streamMinutes, 0.25)
      assert.isAtLeast(row?.bytes ?? 0, client.texts.join("").length)
      client.ws.close()
      yield* closing(client)
    })
  )

  it.effect("is what a key reads about itself; a session reads every key of the account and the app", () =>
    Effect.gen(function* () {
      yield* call("/api/v1/account/key", { key: "x" })
      yield* call("/api/v1/account/key", { key: "y" })
      const own = rowsOf((yield* call(PATH, { key: "x" })).json("data"))
      assert.deepStrictEqual(
        own.map(({ keyId }) => keyId),
        ["key_x"]
      )
      const headers = { cookie: `fathom_session=${SESSION}` }
      yield* call(PATH, { key: null, headers })
      const all = rowsOf((yield* call(PATH, { key: null, headers })).json("data"))
      assert.deepStrictEqual(
        all.filter(({ operation }) => operation === "account.key").map(({ keyId }) => keyId),
        ["key_x", "key_y"]
      )
      assert.include(
        all.map(({ keyId, operation }) => `${keyId} ${operation}`),
        "null account.usage"
      )
    })
  )

  it.effect("is read in pages whose cursor belongs to the days and the key", () =>
    Effect.gen(function* () {
      yield* call("/api/v1/account/key", { key: "f" })
      yield* call(quote, { key: "f" })
      const first = yield* call(`${PATH}?limit=1`, { key: "f" })
      assert.strictEqual(rowsOf(first.json("data"))[0]?.operation, "account.key")
      const cursor = String(first.json("nextCursor"))
      const second = yield* call(`${PATH}?limit=1&cursor=${cursor}`, { key: "f" })
      assert.strictEqual(rowsOf(second.json("data"))[0]?.operation, "account.usage")
      for (const [path, key] of [
        [`${PATH}?cursor=${cursor}`, "g"],
        [`${PATH}?cursor=${cursor}&to=2026-01-01`, "f"],
        [`${PATH}?cursor=x`, "f"]
      ] as const) {
        assert.strictEqual((yield* call(path, { key })).json("error.code"), "invalid_cursor")
      }
    })
  )

  it.effect("is read for the thirty days up to today unless other days are given", () =>
    Effect.gen(function* () {
      const answer = yield* call(PATH, { key: "h" })
      assert.deepInclude(answer.json("meta"), { from: "1969-12-03", to: "1970-01-01" })
      const given = yield* call(`${PATH}?from=2026-02-01&to=2026-02-28`, { key: "h" })
      assert.deepInclude(given.json("meta"), { from: "2026-02-01", to: "2026-02-28" })
      assert.deepStrictEqual(given.json("data"), [])
      const cases: ReadonlyArray<readonly [string, string]> = [
        ["from=2026-02-30", "from"],
        ["to=yesterday", "to"],
        ["from=2026-02-02&to=2026-02-01", "from"],
        ["from=2026-02-02", "from"],
        ["format=xml", "format"],
        ["limit=1001", "limit"],
        ["format=csv&limit=5", "limit"],
        ["format=csv&cursor=x", "cursor"]
      ]
      for (const [query, field] of cases) {
        const refused = yield* call(`${PATH}?${query}`, { key: "h" })
        assert.strictEqual(refused.status, 400, query)
        assert.strictEqual(refused.json("error.details.0.field"), field, query)
      }
    })
  )

  it.effect("is CSV for a caller that asks for it", () =>
    Effect.gen(function* () {
      yield* call("/api/v1/account/key", { key: "i" })
      const asked = yield* call(`${PATH}?format=csv`, { key: "i" })
      assert.strictEqual(asked.headers.get("content-type"), "text/csv; charset=utf-8")
      assert.strictEqual(
        asked.headers.get("content-disposition"),
        `attachment; filename="usage-1969-12-03-1970-01-01.csv"`
      )
      assert.match(asked.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/u)
      const [head, row, end] = lines(asked.text)
      assert.strictEqual(head, "day,keyId,keyName,operation,requests,units,errors,bytes,streamMinutes")
      assert.match(row ?? "", /^1970-01-01,key_i,(?:key i)?,account\.key,1,0,0,\d+,0$/u)
      assert.strictEqual(end, "")
      const negotiated = yield* call(PATH, { key: "i", headers: { accept: "text/csv" } })
      assert.deepStrictEqual(lines(negotiated.text), lines(asked.text))
      const json = yield* call(`${PATH}?format=json`, { key: "i", headers: { accept: "text/csv" } })
      assert.strictEqual(json.headers.get("content-type"), "application/json")
    })
  )
})

layer(world)("the cost of the usage", (it) => {
  it.effect("costs one unit of the rest budget", () =>
    Effect.gen(function* () {
      const answer = yield* call(PATH, { key: null, headers: { "x-api-key": secretOf("j") } })
      assert.strictEqual(answer.headers.get("x-ratelimit-budget"), "rest")
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )
})

describe("a cell of CSV", () => {
  it.each([
    ["plain", "plain"],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\tx", "'\tx"],
    ["\r=x", `"'\r=x"`],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ["a,b", '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ["two\nlines", '"two\nlines"']
  ])("of %j is %j", (text, cell) => {
    assert.strictEqual(csvCell(text), cell)
  })

  it("of a number is its digits, also below zero, and of null is empty", () => {
    assert.deepStrictEqual([csvCell(-5), csvCell(1.25), csvCell(null)], ["-5", "1.25", ""])
  })
})

describe("CSV is preferred", () => {
  it.each([
    ["text/csv", true],
    ["TEXT/CSV;q=0.5", true],
    ["text/csv, application/json", false],
    ["application/json;q=0.1, text/csv", true],
    ["text/csv;q=0.1, */*", false],
    ["text/*;q=0.9, application/json;q=0.8", true],
    ["*/*", false],
    ["text/csv;q=x", false],
    [undefined, false]
  ])("by %s: %s", (accept, isPreferred) => {
    assert.strictEqual(prefersCsv(accept), isPreferred)
  })
})

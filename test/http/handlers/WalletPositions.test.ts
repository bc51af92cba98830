import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Queue, Schema } from "effect"
import { TestClock } from "effect/testing"
import { WalletPnlHistoryAnswer, WalletPositionsAnswer } from "../../../src/api/Wallets.ts"
import { WalletIndexUnavailable } from "../../../src/wallets/WalletIndex.ts"
import { call, running } from "../../support/http.ts"
import { UNKNOWN_WALLET } from "../../wallets/identities.ts"
import { readerOver } from "../../wallets/readers.ts"
import { MINT, OTHER, START, tradeOf, usd, WALLET, walletOf } from "../../wallets/trades.ts"

const read = (path: string) => call(`/api/v1/wallets/${path}`, { method: "GET" })

const body = (payload: object) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(payload)
})

const trades = {
  [WALLET]: [
    tradeOf({ slot: 2, side: "sell", amount: 4_000_000n, volumeUsdNanos: usd(8) }),
    tradeOf({ slot: 1, amount: 10_000_000n, volumeUsdNanos: usd(10) })
  ]
}

const gone = () => Effect.fail(new WalletIndexUnavailable({ cause: new Error("gone") }))

describe("GET /api/v1/wallets/{wallet}", () => {
  const held = { before: 7_000_000n, after: 17_000_000n }
  const inherited = [tradeOf({ slot: 1, amount: 10_000_000n, volumeUsdNanos: usd(10), held })]
  const other = {
    ...inherited[0],
    mint: walletOf(5),
    slot: 3,
    side: "sell",
    held: { before: 10_000_000n, after: 0n }
  } as const
  const wallets = readerOver({
    trades: { ...trades, [OTHER]: [tradeOf(other), ...inherited] },
    marks: { [MINT]: 3n }
  })
  const decodePositions = Schema.decodeEffect(Schema.fromJsonString(WalletPositionsAnswer), {
    onExcessProperty: "error"
  })
  const decodeHistory = Schema.decodeEffect(Schema.fromJsonString(WalletPnlHistoryAnswer), {
    onExcessProperty: "error"
  })

  const asked: Array<string> = []
  const backfilled = readerOver({ backfill: (list) => Effect.sync(() => void asked.push(...list)) })

  layer(running({ wallets: backfilled }))((it) => {
    it.effect("begins to read the wallet's transactions with backfill=true, and does not wait for them", () =>
      Effect.gen(function* () {
        const positions = yield* decodePositions((yield* read(`${OTHER}/positions?backfill=true`)).text)
        assert.deepInclude(positions.data, { status: "unavailable", summary: null })
        assert.deepInclude(positions.data.backfill, { status: "unavailable", reason: "not_captured" })
        const history = yield* decodeHistory((yield* read(`${WALLET}/pnl/history?backfill=true`)).text)
        assert.strictEqual(history.data.backfill?.transactions, 0)
        const summary = yield* call("/api/v1/wallets/summary", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ wallets: [UNKNOWN_WALLET], backfill: true })
        })
        assert.strictEqual(summary.status, 200)
        assert.deepStrictEqual(asked, [OTHER, WALLET, UNKNOWN_WALLET])
        const without = yield* decodePositions((yield* read(`${OTHER}/positions?backfill=false`)).text)
        assert.isNull(without.data.backfill)
        assert.strictEqual(asked.length, 3)
        const answer = yield* read(`${OTHER}/positions?backfill=yes`)
        assert.deepStrictEqual([answer.status, answer.json("error.details.0.field")], [400, "backfill"])
      })
    )
  })

  layer(running({ wallets }))((it) => {
    it.effect("gives positions with strict and known profit beside the coverage of the summary", () =>
      Effect.gen(function* () {
        const answer = yield* read(`${OTHER}/positions`)
        assert.strictEqual(answer.status, 200)
        const { data } = yield* decodePositions(answer.text)
        assert.deepStrictEqual([data.status, data.truncated, data.positions.length], ["partial", false, 2])
        assert.deepStrictEqual(data.summary?.wallet, { realized: null, unrealized: null, total: null })
        const [gone, open] = data.positions
        assert.deepInclude(gone, { holding: 0n, open: false, realized: null, unrealized: "0", valueUsd: "0" })
        assert.deepInclude(open, {
          holding: 17_000_000n,
          realized: "0",
          unrealized: null,
          valueUsd: "51",
          costUsd: "10",
          avgCostUsd: null,
          markUsd: "3",
          buys: 1
        })
        assert.deepStrictEqual(open?.known, {
          realized: "0",
          unrealized: "20",
          total: "20",
          cost: "10",
          avgCostUsd: "1"
        })
        assert.deepInclude(open?.quantities, { known: 10_000_000n, inherited: 7_000_000n })
        const one = yield* decodePositions((yield* read(`${OTHER}/positions?limit=1`)).text)
        assert.deepStrictEqual([one.data.positions.length, one.data.truncated], [1, true])
      })
    )

    it.effect("gives each position once over pages, in the order of the request", () =>
      Effect.gen(function* () {
        const path = `${OTHER}/positions?sort=value&order=asc&limit=1`
        const first = yield* decodePositions((yield* read(path)).text)
        assert.deepStrictEqual(
          first.data.positions.map(({ valueUsd }) => valueUsd),
          ["0"]
        )
        assert.deepStrictEqual([first.data.truncated, first.data.matching], [true, 2])
        const second = yield* decodePositions((yield* read(`${path}&cursor=${first.nextCursor}`)).text)
        assert.deepStrictEqual(
          second.data.positions.map(({ valueUsd }) => valueUsd),
          ["51"]
        )
        assert.deepStrictEqual([second.data.truncated, second.nextCursor], [false, null])
      })
    )

    it.effect("filters positions, and refuses a cursor of another request", () =>
      Effect.gen(function* () {
        const found = (query: string) =>
          Effect.map(
            Effect.flatMap(read(`${OTHER}/positions?${query}`), ({ text }) => decodePositions(text)),
            ({ data }) => data.positions.map(({ mint }) => mint)
          )
        assert.deepStrictEqual(yield* found("open=true"), [MINT])
        assert.deepStrictEqual(yield* found("open=false"), [walletOf(5)])
        assert.deepStrictEqual(yield* found(`mint=${MINT}`), [MINT])
        assert.deepStrictEqual(yield* found("minValueUsd=51"), [MINT])
        assert.deepStrictEqual(yield* found("minValueUsd=51.01"), [])
        const { nextCursor } = yield* decodePositions((yield* read(`${OTHER}/positions?limit=1`)).text)
        for (const query of ["limit=1&sort=value", "limit=1&order=asc", "limit=1&open=true"]) {
          const refused = yield* read(`${OTHER}/positions?${query}&cursor=${nextCursor}`)
          assert.deepStrictEqual([refused.status, refused.json("error.code")], [400, "invalid_cursor"], query)
        }
      })
    )

    it.effect("gives profit by day through today", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START + 10_000)
        const answer = yield* read(`${WALLET}/pnl/history`)
        assert.strictEqual(answer.status, 200)
        const { data } = yield* decodeHistory(answer.text)
        assert.deepStrictEqual(data.days, [
          {
            day: "2023-11-14",
            fromMs: 1_699_920_000_000,
            throughMs: START + 10_000,
            realized: "4",
            knownRealized: "4",
            costUsd: "10",
            proceedsUsd: "8",
            trades: 2,
            valueUsd: "18",
            knownValueUsd: "18",
            unvalued: 0
          }
        ])
      })
    )

    it.effect("has neither for an unknown wallet, and names a bad field", () =>
      Effect.gen(function* () {
        const positions = yield* decodePositions((yield* read(`${UNKNOWN_WALLET}/positions`)).text)
        assert.deepInclude(positions.data, {
          status: "unavailable",
          reason: "not_captured",
          summary: null,
          positions: [],
          truncated: false
        })
        const history = yield* decodeHistory((yield* read(`${UNKNOWN_WALLET}/pnl/history`)).text)
        assert.deepInclude(history.data, { status: "unavailable", reason: "not_captured", summary: null, days: [] })
        for (const [path, field] of [
          ["nonsense/positions", "wallet"],
          [`${WALLET}/positions?limit=0`, "limit"],
          [`${WALLET}/positions?sort=luck`, "sort"],
          [`${WALLET}/positions?minValueUsd=-1`, "minValueUsd"],
          [`${WALLET}/pnl/history?days=366`, "days"]
        ] as const) {
          const answer = yield* read(path)
          assert.deepStrictEqual([answer.status, answer.json("error.details.0.field")], [400, field], path)
        }
      })
    )
  })

  layer(running({ wallets: readerOver({ index: gone }) }))((it) => {
    it.effect("is a 503 while nothing can be read", () =>
      Effect.gen(function* () {
        for (const path of ["positions", "pnl/history"]) {
          assert.strictEqual((yield* read(`${WALLET}/${path}`)).status, 503, path)
        }
      })
    )
  })

  const reading = Effect.runSync(Queue.unbounded<void>())
  const late = readerOver({ index: () => Effect.andThen(Queue.offer(reading, undefined), Effect.never) })

  layer(running({ wallets: late }))((it) => {
    it.effect.each([
      ["/api/v1/wallets/summary", body({ wallets: [WALLET] })],
      [`/api/v1/wallets/${WALLET}/positions`, { method: "GET" }],
      [`/api/v1/wallets/${WALLET}/positions?backfill=true`, { method: "GET" }],
      [`/api/v1/wallets/${WALLET}/pnl/history`, { method: "GET" }],
      ["/api/v1/spot/exit-check", body({ wallet: WALLET })]
    ] as const)("is a 503 with Retry-After while the database is late: %s", ([path, request]) =>
      Effect.gen(function* () {
        const asked = yield* Effect.forkChild(call(path, request))
        yield* Queue.take(reading)
        yield* TestClock.adjust("1500 millis")
        const answer = yield* Fiber.join(asked)
        assert.deepStrictEqual([answer.status, answer.json("error.code")], [503, "data_unavailable"])
        assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
      })
    )
  })
})

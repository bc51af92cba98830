import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { LeadersAnswer } from "../../../src/api/TopTraders.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, reading, setSecond } from "../../support/reads.ts"
import { at, DOLLAR } from "../../support/views.ts"

type Query = Record<string, string>
const leaders = (query: Query = {}, key = "a") => call(`/api/v1/wallets/leaders?${new URLSearchParams(query)}`, { key })
const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`
const read = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  return Schema.decodeUnknownSync(Schema.fromJsonString(LeadersAnswer))(answer.text)
}
const numbersOf = (answer: Answer) =>
  read(answer).data.map(({ wallet }) => Array.from({ length: 20 }, (_, n) => n).find((n) => walletOf(n) === wallet))

const NOW = 90_000
let places = 0

/** Wallet `n` buys or sells units of a token for so many dollars. */
const swap = (
  second: number,
  n: number,
  token: number,
  side: "buy" | "sell",
  units: bigint,
  dollars: bigint
): TapeTrade =>
  at(second, {
    wallet: walletOf(n),
    mint: mintOf(token),
    side,
    index: ++places,
    amount: units,
    volumeUsdNanos: dollars * DOLLAR
  })

const trades = [
  // Wallet 1 made $50 with one token and lost $10 with another.
  swap(NOW - 500, 1, 1, "buy", 100n, 100n),
  swap(NOW - 490, 1, 2, "buy", 100n, 40n),
  swap(NOW - 400, 1, 1, "sell", 50n, 100n),
  swap(NOW - 390, 1, 2, "sell", 100n, 30n),
  // Wallet 2 made $60, and sold $240 of a token that it was not seen to buy.
  swap(NOW - 300, 2, 1, "buy", 10n, 0n),
  swap(NOW - 290, 2, 1, "sell", 10n, 60n),
  swap(NOW - 280, 2, 3, "sell", 5n, 240n),
  // Wallet 3 only bought.
  swap(NOW - 200, 3, 1, "buy", 10n, 1000n),
  // Wallet 4 made $5, and sold for an unknown price.
  swap(NOW - 150, 4, 1, "buy", 10n, 5n),
  swap(NOW - 140, 4, 1, "sell", 10n, 10n),
  swap(NOW - 130, 4, 2, "buy", 10n, 5n),
  { ...swap(NOW - 120, 4, 2, "sell", 10n, 0n), volumeUsdNanos: null },
  // Wallet 5 lost $1 this hour; its profit of $900 is older.
  swap(NOW - 7200, 5, 4, "buy", 10n, 100n),
  swap(NOW - 7100, 5, 4, "sell", 10n, 1000n),
  swap(NOW - 100, 5, 5, "buy", 10n, 3n),
  swap(NOW - 90, 5, 5, "sell", 10n, 2n)
]

const keys = "abcd".split("").map((letter) => keyOf(letter))

layer(reading({ books: makeBooks(), world: { keys } }))("GET /api/v1/wallets/leaders", (it) => {
  it.effect("is unavailable before the first block", () =>
    Effect.gen(function* () {
      assert.strictEqual(code(yield* leaders()), "503 data_unavailable")
    })
  )

  it.effect("ranks wallets by known realized profit, with what is known of each", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW)
      yield* tape.apply(block(0))
      yield* tape.apply(block(NOW, { trades: trades.toSorted((a, b) => a.timeMs - b.timeMs) }))
      const answer = yield* leaders({ window: "1h" })
      const { data, meta } = read(answer)
      assert.deepStrictEqual(data[0], {
        rank: 1,
        wallet: walletOf(1),
        trades: 4,
        buys: 2,
        sells: 2,
        tokens: 2,
        knownVolumeUsd: "270",
        unpricedTrades: 0,
        realized: {
          knownUsd: "40",
          costUsd: "90",
          roiPct: "44.4444444444444",
          knownTokens: 2,
          unknownTokens: 0,
          wins: 1,
          knownSharePct: "100"
        },
        lastTradeAtMs: (MONDAY + NOW - 390) * 1000
      })
      assert.deepStrictEqual(numbersOf(answer), [1, 5])
      assert.deepInclude(meta, {
        wallets: 5,
        ranked: 2,
        excluded: { nothingKnown: 1, belowMinimum: 2 },
        minKnownPct: 80,
        sort: "realized",
        windowToMs: (MONDAY + NOW) * 1000,
        coverage: { complete: true, reason: null }
      })
      const all = yield* leaders({ window: "1h", minKnownPct: "0" })
      assert.deepStrictEqual(numbersOf(all), [2, 1, 4, 5])
      const [second, , fourth, fifth] = read(all).data
      assert.deepInclude(second?.realized, { knownUsd: "60", unknownTokens: 1, knownSharePct: "20" })
      assert.deepInclude(fourth, { unpricedTrades: 1 })
      assert.deepInclude(fourth?.realized, { knownUsd: "5", unknownTokens: 1, knownSharePct: null })
      assert.deepInclude(fifth?.realized, { knownUsd: "-1", wins: 0, roiPct: "-33.3333333333333" })
      assert.deepStrictEqual(numbersOf(yield* leaders({ window: "24h" })), [5, 1])
      const ever = read(yield* leaders({ window: "all" }))
      assert.deepInclude(ever.meta, { windowFromMs: null, coverage: { complete: false, reason: "not_captured" } })
    })
  )

  it.effect("ranks them by volume and by trades, from a least number of trades on", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(numbersOf(yield* leaders({ window: "1h", sort: "volume" }, "b")), [3, 2, 1, 4, 5])
      assert.deepStrictEqual(
        numbersOf(yield* leaders({ window: "24h", sort: "trades", minTrades: "4" }, "b")),
        [1, 4, 5]
      )
      assert.strictEqual(code(yield* leaders({ minKnownPct: "101" }, "b")), "400 invalid_request")
    })
  )

  it.effect("comes in pages of one moment, which end after a minute", () =>
    Effect.gen(function* () {
      const query = { window: "1h", sort: "volume", limit: "2" }
      const first = yield* leaders(query, "c")
      assert.deepStrictEqual(numbersOf(first), [3, 2])
      const tape = yield* Tape
      yield* TestClock.adjust("3 seconds")
      yield* tape.apply(block(NOW, { trades: [swap(NOW, 9, 1, "buy", 1n, 9999n)] }))
      const cursor = String(first.json("nextCursor"))
      const second = yield* leaders({ ...query, cursor }, "c")
      assert.deepStrictEqual(numbersOf(second), [1, 4])
      assert.strictEqual(code(yield* leaders({ ...query, sort: "trades", cursor }, "c")), "400 invalid_cursor")
      yield* TestClock.adjust("58 seconds")
      assert.strictEqual(code(yield* leaders({ ...query, cursor }, "c")), "409 cursor_expired")
      assert.deepStrictEqual(numbersOf(yield* leaders(query, "d")), [9, 3])
    })
  )
})

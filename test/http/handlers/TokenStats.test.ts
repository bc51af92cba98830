import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TokenStatsAnswer } from "../../../src/api/Market.ts"
import { USDC } from "../../../src/domain/Address.ts"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import type { LargestFound } from "../../../src/market/model/TradesRequest.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { at, DOLLAR } from "../../support/views.ts"
import { assertInvalid, assertRefused, keys } from "./tokenCalls.ts"
import { replaced } from "../../support/marketStores.ts"

const TOKEN = mintOf(1)
const UNKNOWN = mintOf(2)
const COLD = mintOf(3)
const HOUR = 3600
const NOW = 3 * HOUR

const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))
books.tokens.set(USDC, minted(1_000_000n, 6))
books.tokens.set(UNKNOWN, { _tag: "NoToken", observation: { slot: 1, observedAtMs: 1000 } })

const stats = (query: Record<string, string> = {}, mint = TOKEN, chain = "solana") =>
  call(`/api/v1/tokens/${chain}/${mint}/stats?${new URLSearchParams(query)}`, { key: "b" })
const read = (answer: Answer) => Schema.decodeUnknownSync(Schema.fromJsonString(TokenStatsAnswer))(answer.text).data
const valuesOf = (answer: Answer, place: number) => {
  const found = read(answer).windows[place]
  return [
    found?.openUsd.value,
    found?.closeUsd.value,
    found?.changePct.value,
    found?.volumeUsd.value,
    found?.buyVolumeUsd.value,
    found?.sellVolumeUsd.value,
    found?.trades.value,
    found?.buys.value,
    found?.sells.value,
    found?.traders.value
  ]
}

/** Signature, side and value of the largest trade of a window; its status and reason without one. */
const largestOf = (answer: Answer, place: number) => {
  const found = read(answer).windows[place]?.largestTrade
  return found?.trade
    ? [found.trade.signature, found.trade.side, found.trade.valueUsd, found.status]
    : [found?.status, found?.coverage.reason]
}

layer(reading({ books, world: { keys } }))("GET /api/v1/tokens/{chain}/{address}/stats", (it) => {
  it.effect("sums each window to the nano-dollar, both sides apart", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW)
      // A day of blocks, so that every window is covered.
      yield* tape.apply(block(NOW - 90_000, { slot: 1 }))
      yield* tape.apply(
        block(NOW, {
          trades: [
            at(100, { priceUsd: 4, volumeUsdNanos: 7n * DOLLAR }),
            at(200, { priceUsd: 0.5, volumeUsdNanos: 1n, side: "sell", index: 1, wallet: walletOf(2) }),
            at(NOW - 600, { priceUsd: 2, volumeUsdNanos: 2n * DOLLAR }),
            at(NOW - 500, { role: "wallet", volumeUsdNanos: 99n * DOLLAR, wallet: walletOf(3) }),
            at(NOW - 10, { priceUsd: 3, volumeUsdNanos: DOLLAR / 2n, side: "sell", wallet: walletOf(2) })
          ]
        })
      )
      const answer = yield* stats()
      assert.strictEqual(answer.status, 200, answer.text)
      const five = ["2", "3", "50", "0.5", "0", "0.5", "1", "0", "1", "1"]
      const hour = ["0.5", "3", "500", "2.5", "2", "0.5", "2", "1", "1", "3"]
      const day = [null, "3", null, "9.500000001", "9", "0.500000001", "4", "2", "2", "3"]
      assert.deepStrictEqual(valuesOf(answer, 0), five)
      assert.deepStrictEqual(valuesOf(answer, 1), hour)
      assert.deepStrictEqual(valuesOf(answer, 3), day)
      assert.deepStrictEqual(answer.json("data.windows.0.volumeUsd.coverage"), { complete: true, reason: null })
      assert.strictEqual(answer.json("data.windows.0.fromMs"), (MONDAY + NOW - 299) * 1000)
      assert.strictEqual(answer.json("meta.methodVersion"), "public-stats-v1")
    })
  )

  it.effect("finds the largest trade of each window among those in memory", () =>
    Effect.gen(function* () {
      const answer = yield* stats()
      const [sale, purchase] = [read(answer).windows[0], read(answer).windows[1]].map(
        (each) => each?.largestTrade.trade
      )
      assert.deepInclude(sale, {
        side: "sell",
        valueUsd: "0.5",
        wallet: walletOf(2),
        timeMs: (MONDAY + NOW - 10) * 1000
      })
      assert.deepInclude(purchase, { side: "buy", valueUsd: "2", timeMs: (MONDAY + NOW - 600) * 1000 })
      assert.deepStrictEqual(largestOf(answer, 3).slice(1), ["buy", "7", "known"])
      assert.deepStrictEqual(answer.json("data.windows.3.largestTrade.coverage"), { complete: true, reason: null })
    })
  )

  it.effect("finds the highest and the lowest price since the beginning of the record, or a second", () =>
    Effect.gen(function* () {
      const all = yield* stats()
      assert.deepInclude(all.json("data.range.high"), { barMs: MONDAY * 1000 })
      assert.strictEqual(all.json("data.range.high.priceUsd.value"), "4")
      assert.strictEqual(all.json("data.range.low.priceUsd.value"), "0.5")
      assert.deepStrictEqual(all.json("data.range.coverage"), { complete: false, reason: "not_captured" })
      const late = yield* stats({ from: String(MONDAY + HOUR) })
      assert.strictEqual(late.json("data.range.high.priceUsd.value"), "3")
      assert.strictEqual(late.json("data.range.high.priceUsd.status"), "known")
      assert.strictEqual(late.json("data.range.high.barMs"), (MONDAY + NOW - 60) * 1000)
      assert.strictEqual(late.json("data.range.low.priceUsd.value"), "2")
      assert.strictEqual(late.json("data.range.resolutionMs"), 60_000)
      assert.deepStrictEqual(late.json("data.range.coverage"), { complete: true, reason: null })
    })
  )

  it.effect("knows no sides of a window whose trades have no value, and counts nothing for USDC itself", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* tape.apply(block(NOW + 1, { trades: [at(NOW + 1, { mint: mintOf(9), volumeUsdNanos: null })] }))
      books.tokens.set(mintOf(9), minted(1n, 6))
      const unvalued = yield* stats({}, mintOf(9))
      assert.strictEqual(unvalued.json("data.windows.0.trades.value"), "1")
      for (const field of ["volumeUsd", "buyVolumeUsd", "sellVolumeUsd"]) {
        assert.deepInclude(unvalued.json(`data.windows.0.${field}`), { value: null, status: "unavailable" })
      }
      assert.deepStrictEqual(largestOf(unvalued, 0), ["unavailable", "mark_unknown"])
      assert.deepStrictEqual(unvalued.json("meta.coverage"), { complete: false, reason: "mark_unknown" })
      const dollar = yield* stats({}, USDC)
      assert.deepStrictEqual(largestOf(dollar, 0), ["unavailable", "not_captured"])
      assert.deepInclude(dollar.json("data.windows.0.trades"), { value: null, status: "unavailable" })
    })
  )

  it.effect("refuses invalid parameters and names them", () =>
    Effect.gen(function* () {
      assertRefused(yield* stats({}, TOKEN, "base"), 400, "unsupported_chain")
      assertRefused(yield* stats({}, UNKNOWN), 404, "token_not_found")
      assertRefused(yield* stats({}, COLD), 503, "chart_warming")
      assertInvalid(yield* stats({ from: String(MONDAY + 2 * NOW) }), "query", "from", "out_of_range")
      assertInvalid(yield* stats({ from: "-1" }), "query", "from", "format")
    })
  )
})

const memory = makeMemoryStores()
const store: { found: LargestFound | null } = { found: { trades: [], clippedAtMs: null } }
const stored = replaced(memory, {
  trades: {
    largestOf: () =>
      Effect.suspend(() =>
        store.found === null
          ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("unavailable") }))
          : Effect.succeed(store.found)
      )
  }
})

layer(reading({ books, stored, world: { keys } }))("the largest trade with a store", (it) => {
  it.effect("is that of the store or of memory, and null with the reason while trades of its window are missing", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* memory.blocks.open({ genesis: "stats", isSandbox: false })
      yield* setSecond(NOW)
      yield* tape.apply(block(NOW - 90_000, { slot: 1 }))
      const old = at(NOW - 7200, { volumeUsdNanos: 5n * DOLLAR, signature: "stored", side: "sell" })
      const recent = at(NOW - 10, { volumeUsdNanos: 2n * DOLLAR, signature: "recent" })
      yield* tape.apply(block(NOW, { trades: [recent] }))
      store.found = { trades: [old, { ...recent, volumeUsdNanos: 3n * DOLLAR }], clippedAtMs: null }
      const both = yield* stats()
      assert.deepStrictEqual(largestOf(both, 1), ["recent", "buy", "3", "known"])
      assert.deepStrictEqual(largestOf(both, 2), ["stored", "sell", "5", "known"])
      store.found = { trades: [old], clippedAtMs: old.timeMs - 1000 }
      const clipped = yield* stats()
      assert.deepStrictEqual(largestOf(clipped, 1), ["recent", "buy", "2", "known"])
      assert.deepStrictEqual(largestOf(clipped, 3), ["unavailable", "limit_clipped"])
      store.found = null
      assert.deepStrictEqual(largestOf(yield* stats(), 0), ["unavailable", "deadline"])
    })
  )

  it.effect("is shown as far as values are known, and unknown where blocks are missing", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      store.found = { trades: [], clippedAtMs: null }
      yield* tape.apply(block(NOW, { slot: 50_000, trades: [at(NOW, { volumeUsdNanos: null, slot: 50_000 })] }))
      assert.strictEqual((yield* stats()).json("data.windows.0.largestTrade.status"), "partial")
      yield* setSecond(NOW + 400)
      yield* tape.apply(block(NOW + 400, { slot: 60_000, afterGap: true }))
      assert.deepStrictEqual(largestOf(yield* stats(), 1), ["unavailable", "source_gap"])
    })
  )
})

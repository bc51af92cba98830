import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TokenTradesAnswer } from "../../../src/api/Trades.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { address, mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { at, DOLLAR } from "../../support/views.ts"
import { replaced } from "../../support/marketStores.ts"

const TOKEN = mintOf(1)
const UNKNOWN = mintOf(2)
const COLD = mintOf(3)
const POOL = address(5, 1)
const NOW = 100

const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))
books.tokens.set(UNKNOWN, { _tag: "NoToken", observation: { slot: 1, observedAtMs: 1000 } })

const memory = makeMemoryStores()
const store = { isUnavailable: false, asked: 0 }
const stored = replaced(memory, {
  trades: {
    swapsOf: (request) =>
      Effect.suspend(() => {
        store.asked++
        return store.isUnavailable
          ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("unavailable") }))
          : memory.trades.swapsOf(request)
      })
  }
})

const keys = [keyOf("a")]
type Query = Record<string, string>
const trades = (query: Query = {}, mint = TOKEN, chain = "solana") =>
  call(`/api/v1/tokens/${chain}/${mint}/trades?${new URLSearchParams(query)}`)
const read = (answer: Answer) => Schema.decodeUnknownSync(Schema.fromJsonString(TokenTradesAnswer))(answer.text)
const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`
const seconds = (answer: Answer) => read(answer).data.map(({ slot }) => slot - 1000)
const cursorOf = (answer: Answer) => String(answer.json("nextCursor"))

const swap = (second: number, given: Partial<TapeTrade> = {}) =>
  block(second, { trades: [at(second, { signature: `s${second}`, pool: POOL, ...given })] })

layer(reading({ books, stored, world: { keys } }))("GET /api/v1/tokens/{chain}/{address}/trades", (it) => {
  it.effect("is unavailable before the first block", () =>
    Effect.gen(function* () {
      assert.strictEqual(code(yield* trades()), "503 data_unavailable")
    })
  )

  it.effect("gives every field of the trades, newest first", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW)
      yield* memory.blocks.open({ genesis: "one", isSandbox: false })
      // Ten blocks of a process before this one, which are in the store alone.
      for (let second = 0; second < 10; second++) {
        yield* memory.blocks.append([swap(second)])
      }
      for (const second of [10, 20, 30]) {
        yield* tape.apply(swap(second))
        yield* memory.blocks.append([swap(second)])
      }
      // Not stored yet: a leg of a route, its net result, and a sale against dollars.
      yield* tape.apply(
        block(NOW, {
          trades: [
            at(NOW, { signature: "route", role: "pool", pool: POOL, dex: "Raydium" }),
            at(NOW, { signature: "route", role: "wallet", index: 128 }),
            at(NOW, {
              signature: "sale",
              index: 256,
              side: "sell",
              wallet: walletOf(2),
              lamports: null,
              solUsdNanos: 100n * DOLLAR,
              priceUsd: 2.5,
              volumeUsdNanos: 50n * DOLLAR,
              feeUsdNanos: DOLLAR / 2n
            })
          ]
        })
      )
      const answer = yield* trades({ limit: "3" })
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta, nextCursor } = read(answer)
      assert.deepStrictEqual(
        data.map(({ id }) => id),
        ["sale:256", "route:0", "s30:0"]
      )
      assert.deepStrictEqual(data[0], {
        id: "sale:256",
        signature: "sale",
        slot: 1000 + NOW,
        index: 256,
        timeMs: (MONDAY + NOW) * 1000,
        side: "sell",
        wallet: walletOf(2),
        pool: null,
        dex: "Raydium",
        launchpad: null,
        legs: { token: { mint: TOKEN, amount: 1_000_000n, decimals: 6 }, quote: null },
        priceUsd: "2.5",
        priceSol: "0.025",
        volumeUsd: "50",
        volumeSol: "0.5",
        isWhole: true,
        frontEndFee: { usd: "0.5", lamports: null }
      })
      assert.deepStrictEqual(data[1]?.legs.quote, { mint: SOL, amount: 10_000_000n, decimals: 9 })
      assert.deepStrictEqual([data[1]?.isWhole, data[1]?.frontEndFee], [false, null])
      assert.deepStrictEqual(data[2]?.frontEndFee, { usd: "0", lamports: 0n })
      assert.isNotNull(nextCursor)
      assert.deepStrictEqual(
        [meta.methodVersion, meta.address, meta.status, meta.observedAtMs],
        ["public-trades-v1", TOKEN, "known", (MONDAY + NOW) * 1000]
      )
    })
  )

  it.effect("reads memory alone while it fills the page", () =>
    Effect.gen(function* () {
      store.asked = 0
      yield* trades({ limit: "4" })
      assert.strictEqual(store.asked, 0)
      yield* trades({ limit: "5" })
      assert.strictEqual(store.asked, 1)
    })
  )

  it.effect("joins memory and the store without gaps or repeats, and new trades change no later page", () =>
    Effect.gen(function* () {
      const { apply } = yield* Tape
      const found: Array<number> = []
      let answer = yield* trades({ limit: "2" })
      found.push(...seconds(answer))
      yield* apply(swap(NOW + 1))
      while (answer.json("nextCursor") !== null) {
        answer = yield* trades({ limit: "2", cursor: cursorOf(answer) })
        found.push(...seconds(answer))
      }
      assert.deepStrictEqual(found, [NOW, NOW, 30, 20, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
      // The record began with the first block of the tape; the whole past was asked for.
      assert.deepStrictEqual(answer.json("meta.coverage"), { complete: false, reason: "not_captured" })
      assert.deepStrictEqual(seconds(yield* trades({ limit: "1" })), [NOW + 1])
    })
  )

  it.effect("reads blocks of a gap from the store once they are repaired there", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW + 30)
      yield* tape.apply({ ...swap(NOW + 20), afterGap: true })
      yield* tape.apply(swap(NOW + 21))
      yield* memory.blocks.append([swap(NOW + 1), swap(NOW + 20), swap(NOW + 21)])
      assert.deepStrictEqual(seconds(yield* trades({ limit: "3" })), [NOW + 21, NOW + 20, NOW + 1])
      const gapped = yield* trades({ limit: "3" })
      assert.deepStrictEqual(gapped.json("meta.coverage"), { complete: false, reason: "source_gap" })
      yield* memory.blocks.append([swap(NOW + 10)])
      assert.deepStrictEqual(seconds(yield* trades({ limit: "3" })), [NOW + 21, NOW + 20, NOW + 10])
    })
  )

  it.effect("filters by side, wallet, pool, value and time", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(seconds(yield* trades({ side: "sell" })), [NOW])
      assert.deepStrictEqual(seconds(yield* trades({ wallet: walletOf(2) })), [NOW])
      assert.deepStrictEqual(seconds(yield* trades({ minUsd: "1.000000000000001" })), [NOW])
      assert.deepStrictEqual(seconds(yield* trades({ minUsd: "1", pool: POOL, limit: "2" })), [NOW + 21, NOW + 20])
      assert.deepStrictEqual(seconds(yield* trades({ pool: address(5, 2) })), [])
      const span = yield* trades({ from: String(MONDAY + 20), to: String(MONDAY + NOW) })
      assert.deepStrictEqual(seconds(span), [30, 20])
      assert.deepStrictEqual(span.json("meta.coverage"), { complete: true, reason: null })
    })
  )

  it.effect("answers from memory while the store is down, and not at all for older trades", () =>
    Effect.gen(function* () {
      store.isUnavailable = true
      const answer = yield* trades({ limit: "5" })
      assert.deepStrictEqual(seconds(answer), [NOW + 21, NOW + 20])
      assert.deepStrictEqual(answer.json("meta.coverage"), { complete: false, reason: "deadline" })
      assert.strictEqual(code(yield* trades({ to: String(MONDAY + 15) })), "503 data_unavailable")
      store.isUnavailable = false
    })
  )

  it.effect("refuses invalid parameters and names them", () =>
    Effect.gen(function* () {
      const cursor = cursorOf(yield* trades({ limit: "1" }))
      assert.strictEqual(code(yield* trades({ limit: "2", cursor })), "400 invalid_cursor")
      assert.strictEqual(code(yield* trades({ cursor: "x" })), "400 invalid_cursor")
      const reversed = yield* trades({ from: "2", to: "2" })
      assert.deepStrictEqual([code(reversed), reversed.json("error.details.0.field")], ["400 invalid_request", "to"])
      const side = yield* trades({ side: "hold" })
      assert.strictEqual(side.json("error.details.0.field"), "side")
      assert.strictEqual(code(yield* trades({}, TOKEN, "base")), "400 unsupported_chain")
      assert.strictEqual(code(yield* trades({}, UNKNOWN)), "404 token_not_found")
      assert.strictEqual(code(yield* trades({}, COLD)), "503 data_unavailable")
      assert.include(books.warmed, COLD)
    })
  )
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { address, mintOf, MONDAY, trade } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { replaced } from "../../support/marketStores.ts"

const TOKEN = mintOf(1)
const HOUR = 3600
const [deep, shallow, foreign] = [1, 2, 3].map((n) => address(5, n))

const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))

const memory = makeMemoryStores()
const store = { isUnavailable: false, keptSeconds: Number.POSITIVE_INFINITY }
const stored = replaced(memory, {
  candles: {
    bars: (request) =>
      store.isUnavailable
        ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("unavailable") }))
        : memory.candles.bars(request),
    keptSeconds: () => store.keptSeconds
  }
})

/** Blocks that the tape has and the store does not. */
const unstored: Array<StoredBatch> = []

const at = (second: number, given: Partial<TapeTrade>) =>
  trade({ mint: TOKEN, timeMs: (MONDAY + second) * 1000, slot: 1000 + second, ...given })

const trades = [
  at(10, { pool: deep ?? null, priceUsd: 2 }),
  at(20, { pool: shallow ?? null, priceUsd: 9, side: "sell" }),
  at(70, { pool: shallow ?? null, priceUsd: 8 }),
  at(HOUR - 90, { pool: deep ?? null, priceUsd: 3 }),
  at(HOUR - 10, { pool: deep ?? null, priceUsd: 4, lamports: 20_000_000n })
]

const chart = (query: Record<string, string | undefined>) =>
  call(`/api/v1/market/chart/${TOKEN}?${new URLSearchParams(JSON.parse(JSON.stringify(query)))}`, { key: "a" })

const shown = (answer: Answer, price = "c") =>
  Array.from({ length: [answer.json("data.bars")].flat().length }, (_, n) => answer.json(`data.bars.${n}.${price}`))

layer(reading({ books, stored, unstored: () => unstored, world: { keys: [keyOf("a")] } }))(
  "a chart of one pool",
  (it) => {
    it.effect("has only the trades of the pool, in both denominations", () =>
      Effect.gen(function* () {
        const tape = yield* Tape
        yield* setSecond(HOUR)
        yield* memory.blocks.open({ genesis: "one", isSandbox: false })
        for (const batch of [block(0), block(HOUR - 1, { trades })]) {
          yield* tape.apply(batch)
          yield* memory.blocks.append([batch])
        }
        assert.deepStrictEqual(shown(yield* chart({})), [9, 8, 3, 4])
        const answer = yield* chart({ pool: deep })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual(shown(answer), [2, 3, 4])
        assert.deepStrictEqual(shown(answer, "traders"), [1, 1, 1])
        assert.deepStrictEqual(shown(yield* chart({ pool: deep, denom: "sol" })), [0.01, 0.01, 0.02])
        assert.deepStrictEqual(shown(yield* chart({ pool: shallow, resolution: "1h" }), "o"), [9])
        assert.strictEqual(answer.json("meta.observedAtMs"), (MONDAY + HOUR - 1) * 1000)
        assert.strictEqual(answer.json("meta.openBarMs"), (MONDAY + HOUR - 60) * 1000)
      })
    )

    it.effect("pages back, and is cut to its window", () =>
      Effect.gen(function* () {
        const last = yield* chart({ pool: deep, limit: "1" })
        assert.deepStrictEqual(shown(last), [4])
        assert.strictEqual(last.json("meta.truncated"), true)
        const before = yield* chart({ pool: deep, limit: "1", to: String(last.json("meta.prevTo")) })
        assert.deepStrictEqual(shown(before), [3])
        assert.deepStrictEqual(shown(yield* chart({ pool: deep, to: String(MONDAY + 60) })), [2])
      })
    )

    it.effect("has no bars of a pool that does not trade the token", () =>
      Effect.gen(function* () {
        const answer = yield* chart({ pool: foreign })
        assert.strictEqual(answer.status, 200)
        assert.deepStrictEqual(shown(answer), [])
        assert.strictEqual(answer.json("meta.coverage.reason"), "not_captured")
      })
    )

    it.effect("reaches back as far as trades are kept, and is as current as the store", () =>
      Effect.gen(function* () {
        store.keptSeconds = 60
        assert.strictEqual((yield* chart({ pool: deep })).json("meta.coverage.reason"), "resolution_retention")
        store.keptSeconds = Number.POSITIVE_INFINITY
        const tape = yield* Tape
        yield* setSecond(HOUR + 60)
        yield* tape.apply(block(HOUR + 60))
        const answer = yield* chart({ pool: deep })
        assert.strictEqual(answer.json("meta.status"), "stale")
        assert.strictEqual(answer.json("meta.openBarMs"), (MONDAY + HOUR - 60) * 1000)
        assert.strictEqual((yield* chart({})).json("meta.openBarMs"), null)
      })
    )

    it.effect("has the newest trades before they are stored, and each once", () =>
      Effect.gen(function* () {
        const tape = yield* Tape
        const next = [
          block(HOUR + 70, {
            trades: [
              at(HOUR + 70, { pool: deep ?? null, priceUsd: 5 }),
              at(HOUR + 70, { pool: shallow ?? null, priceUsd: 6, index: 1 })
            ]
          }),
          block(HOUR + 75, { trades: [at(HOUR + 75, { pool: deep ?? null, priceUsd: 7, side: "sell" })] }),
          block(HOUR + 130, { trades: [at(HOUR + 130, { pool: deep ?? null, priceUsd: 8 })] })
        ]
        yield* setSecond(HOUR + 131)
        for (const batch of next) {
          yield* tape.apply(batch)
        }
        unstored.push(...next)
        const fields = ["o", "h", "l", "c", "v", "n", "buys", "revision"]
        const read = Effect.gen(function* () {
          const answer = yield* chart({ pool: deep, from: String(MONDAY + HOUR) })
          return [answer, fields.map((field) => shown(answer, field))] as const
        })
        const [answer, figures] = yield* read
        assert.deepStrictEqual(figures, [
          [5, 8],
          [7, 8],
          [5, 8],
          [7, 8],
          [2, 1],
          [2, 1],
          [1, 1],
          [0, 0]
        ])
        assert.strictEqual(answer.json("meta.status"), "known", answer.text)
        assert.strictEqual(answer.json("meta.openBarMs"), (MONDAY + HOUR + 120) * 1000)
        assert.strictEqual(answer.json("meta.observedAtMs"), (MONDAY + HOUR + 130) * 1000)
        // The store takes the blocks one by one, each of which is then in both for a moment.
        for (const batch of next) {
          yield* memory.blocks.append([batch])
          assert.deepStrictEqual((yield* read)[1], figures)
        }
        unstored.splice(0)
        assert.deepStrictEqual((yield* read)[1], figures)
      })
    )

    it.effect("is unavailable while the store is unavailable", () =>
      Effect.gen(function* () {
        store.isUnavailable = true
        const answer = yield* chart({ pool: deep })
        assert.strictEqual(answer.status, 503, answer.text)
        assert.strictEqual(answer.json("error.code"), "data_unavailable")
        store.isUnavailable = false
      })
    )
  }
)

import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { PriceAtAnswer, PriceHistoryAnswer } from "../../../src/api/PriceHistory.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import type { Resolution } from "../../../src/market/model/resolutions.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { assertInvalid, assertRefused, keys } from "./tokenCalls.ts"
import { mintOf, MONDAY } from "../../market/tape/tape.ts"
import { type Answer, call } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { at } from "../../support/views.ts"
import { replaced } from "../../support/marketStores.ts"

const TOKEN = mintOf(1)
const UNKNOWN = mintOf(2)
const COLD = mintOf(3)
const SOL_ONLY = mintOf(4)
const UNPRICED_LATE = mintOf(5)
const DAY = 86_400
const NOW = 10 * DAY

const books = makeBooks()
for (const mint of [TOKEN, USDC, SOL_ONLY, UNPRICED_LATE]) {
  books.tokens.set(mint, minted(1_000_000n, 6))
}
books.tokens.set(UNKNOWN, { _tag: "NoToken", observation: { slot: 1, observedAtMs: 1000 } })

const price = (second: number, mint: string = TOKEN, chain = "solana") =>
  call(`/api/v1/tokens/${chain}/${mint}/price?at=${MONDAY + second}`, { key: "b" })
const history = (points: unknown, key = "c") =>
  call("/api/v1/prices/history", {
    method: "POST",
    key,
    body: JSON.stringify({ points }),
    headers: { "content-type": "application/json" }
  })
const read = (answer: Answer) => Schema.decodeUnknownSync(Schema.fromJsonString(PriceAtAnswer))(answer.text).data
const shown = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  const { ageMs, barMs, priceSol, priceUsd, resolutionMs } = read(answer)
  const { coverage, value } = priceUsd
  return [value, priceSol.value, barMs === null ? null : barMs / 1000 - MONDAY, resolutionMs, ageMs, coverage.reason]
}

/** Blocks of ten days, and trades in them. */
const fill = Effect.gen(function* () {
  const tape = yield* Tape
  yield* setSecond(NOW)
  yield* tape.apply(block(0, { slot: 1 }))
  yield* tape.apply(
    block(NOW, {
      trades: [
        at(1000, { priceUsd: 4, lamports: 20_000_000n }),
        at(1000, { priceUsd: 5, lamports: 25_000_000n, index: 1 }),
        at(1003, { priceUsd: 2 }),
        at(1000, { mint: SOL_ONLY, priceUsd: null, volumeUsdNanos: null, lamports: 7_000_000n }),
        at(1000, { mint: UNPRICED_LATE, priceUsd: 9 }),
        at(1010, { mint: UNPRICED_LATE, priceUsd: null, volumeUsdNanos: null, lamports: null }),
        at(1000, { mint: SOL, priceUsd: 200, amount: 1_000_000_000n, decimals: 9, lamports: null }),
        at(NOW - 60, { priceUsd: 3, role: "wallet" })
      ].map((trade, index) => ({ ...trade, slot: 1000 + NOW, index }))
    })
  )
})

layer(reading({ books, world: { keys } }))("the price of a token at a second", (it) => {
  it.effect("is the price of the last trade up to the end of the second, with its age", () =>
    Effect.gen(function* () {
      yield* fill
      // The first trade opens the record of the token: before it there is none.
      assert.deepStrictEqual(shown(yield* price(999)).slice(0, 5), [null, null, null, null, null])
      assert.deepStrictEqual(shown(yield* price(1000)), ["5", "0.025", 1000, 1000, 0, null])
      assert.deepStrictEqual(shown(yield* price(1002)), ["5", "0.025", 1000, 1000, 2000, null])
      assert.deepStrictEqual(shown(yield* price(1003)), ["2", "0.01", 1003, 1000, 0, null])
      // A net trade is none of a pool.
      assert.deepStrictEqual(shown(yield* price(NOW)), ["2", "0.01", 1003, 1000, (NOW - 1003) * 1000, null])
      const answer = yield* price(1003)
      assert.deepInclude(answer.json("meta"), { methodVersion: "public-price-at-v1", status: "known", chain: "solana" })
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )

  it.effect("is partial where a trade after it has no price, and in SOL alone where dollars are not known", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(shown(yield* price(1009, UNPRICED_LATE)).slice(-1), [null])
      assert.deepStrictEqual(shown(yield* price(1011, UNPRICED_LATE)).slice(0, 3), ["9", "0.01", 1000])
      assert.deepStrictEqual(shown(yield* price(1011, UNPRICED_LATE)).slice(-1), ["mark_unknown"])
      const inSol = read(yield* price(1000, SOL_ONLY))
      assert.deepInclude(inSol.priceUsd, { value: null, status: "unavailable" })
      assert.strictEqual(inSol.priceSol.value, "0.007")
    })
  )

  it.effect("is a dollar for USDC, and the inverse of SOL's", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(shown(yield* price(1000, USDC)).slice(0, 3), ["1", "0.005", 1000])
      assert.deepStrictEqual(shown(yield* price(1000, SOL)).slice(0, 3), ["200", "1", 1000])
    })
  )

  it.effect("is partial while blocks before the second were not read", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW + 100)
      assert.deepStrictEqual(shown(yield* price(NOW + 90)).slice(-1), ["source_gap"])
      assert.deepStrictEqual(shown(yield* price(NOW - 1)).slice(-1), [null])
      yield* tape.apply(block(NOW + 100, { afterGap: true }))
      assert.deepStrictEqual(shown(yield* price(NOW + 90)).slice(-1), ["source_gap"])
      assert.deepStrictEqual(shown(yield* price(NOW - 1)).slice(-1), [null])
    })
  )

  it.effect("is refused with the name of the field", () =>
    Effect.gen(function* () {
      assertRefused(yield* price(1, TOKEN, "base"), 400, "unsupported_chain")
      assertRefused(yield* price(1, UNKNOWN), 404, "token_not_found")
      assertRefused(yield* price(1, COLD), 503, "chart_warming")
      assertInvalid(yield* price(2 * NOW), "query", "at", "out_of_range")
      assertInvalid(yield* call(`/api/v1/tokens/solana/${TOKEN}/price`, { key: "b" }), "query", "at", "missing")
    })
  )

  it.effect("is given for 100 pairs at once, with a reason where it is unknown", () =>
    Effect.gen(function* () {
      const answer = yield* history([
        { mint: TOKEN, at: MONDAY + 1003 },
        { mint: UNKNOWN, at: MONDAY + 1003 },
        { mint: COLD, at: MONDAY },
        { mint: TOKEN, at: MONDAY + 1000 }
      ])
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta } = Schema.decodeUnknownSync(Schema.fromJsonString(PriceHistoryAnswer))(answer.text)
      assert.deepStrictEqual(
        data.map(({ priceUsd: { coverage, value } }) => [value, coverage.reason]),
        [
          ["2", null],
          [null, "not_captured"],
          [null, "not_captured"],
          ["5", null]
        ]
      )
      assert.strictEqual(meta.status, "partial")
      const whole = yield* history(Array.from({ length: 100 }, (_, i) => ({ mint: TOKEN, at: MONDAY + 1000 + i })))
      assert.strictEqual(whole.status, 200, whole.text)
      const point = { mint: TOKEN, at: MONDAY }
      assertInvalid(
        yield* history([point, { mint: TOKEN, at: MONDAY + 2 * NOW }]),
        "body",
        "points.1.at",
        "out_of_range"
      )
      assertInvalid(yield* history([point, point], "d"), "body", "points", "duplicate")
      assertInvalid(yield* history([{ mint: "x", at: 1 }], "d"), "body", "points.0.mint", "format")
      assertInvalid(yield* history([{ mint: TOKEN, at: "1" }], "d"), "body", "points.0.at", "type")
      assertInvalid(yield* history([], "d"), "body", "points", "out_of_range")
    })
  )
})

const memory = makeMemoryStores()
const store = { isDown: false }
const kept: Partial<Record<Resolution, number>> = { "1s": DAY, "1m": 3 * DAY }
const stored = replaced(memory, {
  candles: {
    keptSeconds: (resolution) => kept[resolution] ?? Number.POSITIVE_INFINITY,
    bars: (request) =>
      store.isDown
        ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("down") }))
        : Effect.map(memory.candles.bars(request), (found) => {
            // As a store that no longer has the bars of a width.
            const from = MONDAY + NOW - (kept[request.resolution] ?? Number.POSITIVE_INFINITY)
            return request.before <= from ? { ...found, cells: new Float64Array(), isCut: false } : found
          })
  }
})

// As after a restart: memory has none of the bars.
const heldSince = () => MONDAY + NOW
layer(reading({ books: makeBooks(), stored, heldSince, world: { keys } }))(
  "the price of a token that only the store has",
  (it) => {
    it.effect("comes from wider bars where trades are no longer kept", () =>
      Effect.gen(function* () {
        const tape = yield* Tape
        yield* setSecond(NOW)
        yield* memory.blocks.open({ genesis: "one", isSandbox: false })
        yield* memory.blocks.append([
          block(5000, { trades: [at(5000, { priceUsd: 6 }), at(5050, { priceUsd: 7, index: 1 })] }),
          block(NOW - 100, { trades: [at(NOW - 100, { priceUsd: 8 })] })
        ])
        yield* tape.apply(block(0, { slot: 1 }))
        yield* tape.apply(block(NOW))
        assert.deepStrictEqual(shown(yield* price(NOW - 1)), ["8", "0.01", NOW - 100, 1000, 99_000, null])
        // Of the hour of the second no trade before it is known.
        const hour = 3600
        assert.deepStrictEqual(shown(yield* price(2 * hour + 10)), [
          "7",
          "0.01",
          hour,
          hour * 1000,
          11_000,
          "resolution_retention"
        ])
        assert.deepStrictEqual(shown(yield* price(2 * hour - 1)).slice(-2), [0, null])
      })
    )

    it.effect("is refused while the store is unavailable", () =>
      Effect.gen(function* () {
        store.isDown = true
        assertRefused(yield* price(NOW - 1), 503, "data_unavailable")
        assertRefused(yield* history([{ mint: TOKEN, at: MONDAY + 1 }]), 503, "data_unavailable")
        store.isDown = false
      })
    )
  }
)

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, trade } from "../../market/tape/tape.ts"
import { call, keyOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"

const TOKEN = mintOf(1)
const HOUR = 3600
const DOLLAR = 1_000_000_000n

const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))

const memory = makeMemoryStores()

const at = (second: number, given: Partial<TapeTrade> = {}) =>
  trade({ timeMs: (MONDAY + second) * 1000, slot: 1000 + second, volumeUsdNanos: 1000n * DOLLAR, ...given })

/** A minute with a spike up that was hardly traded, and one that opens with a spike down. */
const trades = [
  ...[1, 2, 3].map((second) => at(second)),
  at(10, { priceUsd: 50, volumeUsdNanos: DOLLAR }),
  ...[20, 21].map((second) => at(second, { priceUsd: 1.5 })),
  at(60, { priceUsd: 0.001, volumeUsdNanos: DOLLAR }),
  ...[70, 71].map((second) => at(second)),
  at(200)
]

const chart = (query: Record<string, string> = {}) =>
  call(`/api/v1/market/chart/${TOKEN}?${new URLSearchParams(query)}`, { key: "a" })

layer(reading({ books, stored: memory, world: { keys: [keyOf("a")] } }))("outliers of a chart", (it) => {
  it.effect("are counted, and left out of high and low on request", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(HOUR)
      yield* memory.blocks.open({ genesis: "one", isSandbox: false })
      for (const batch of [block(0), block(HOUR, { trades })]) {
        yield* tape.apply(batch)
        yield* memory.blocks.append([batch])
      }
      const { json } = yield* chart()
      assert.deepInclude(json("data.bars.0"), { o: 1, h: 50, l: 1, c: 1.5, n: 6, outliers: 1 })
      assert.deepInclude(json("data.bars.1"), { o: 0.001, h: 1, l: 0.001, c: 1, outliers: 1 })
      assert.deepInclude(json("data.bars.2"), { outliers: 0 })
      const without = yield* chart({ outliers: "exclude" })
      assert.deepInclude(without.json("data.bars.0"), { o: 1, h: 1.5, l: 1, c: 1.5, v: 5001, n: 6, outliers: 1 })
      // Low never exceeds the open, which is the trade that it was.
      assert.deepInclude(without.json("data.bars.1"), { o: 0.001, h: 1, l: 0.001, c: 1, outliers: 1 })
      const value = yield* chart({ outliers: "exclude", mode: "mcap" })
      assert.deepInclude(value.json("data.bars.0"), { o: 1, h: 1.5, l: 1, c: 1.5, outliers: 1 })
    })
  )

  it.effect("are unknown where the trades of the bar are not all stored", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(HOUR + 2)
      const more = [at(HOUR + 1), at(HOUR + 2, { priceUsd: 30, volumeUsdNanos: DOLLAR })]
      yield* tape.apply(block(HOUR + 2, { trades: more }))
      const { json } = yield* chart({ outliers: "exclude", limit: "1" })
      assert.deepInclude(json("data.bars.0"), { h: 30, outliers: null })
    })
  )
})

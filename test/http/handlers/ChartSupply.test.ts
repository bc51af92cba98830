import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, trade } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { replaced } from "../../support/marketStores.ts"

const TOKEN = mintOf(1)
const MINUTE = 60

const books = makeBooks()

/** The supply of the token as it was observed at a slot. */
const observe = (units: bigint, slot: number) =>
  books.tokens.set(TOKEN, { ...minted(units, 6), observation: { slot, observedAtMs: 1000 } })

const memory = makeMemoryStores()
const store = { isUnavailable: false }
const stored = replaced(memory, {
  trades: {
    supplyOf: (request) =>
      store.isUnavailable
        ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("unavailable") }))
        : memory.trades.supplyOf(request)
  }
})

/** Blocks that the tape has and the store does not. */
const unstored: Array<StoredBatch> = []

const at = (second: number, given: Partial<TapeTrade> = {}) =>
  trade({ mint: TOKEN, timeMs: (MONDAY + second) * 1000, slot: 1000 + second, priceUsd: 2, ...given })

/** A block with a trade at two dollars, and a change of the supply. */
const changed = (second: number, change: bigint) =>
  block(second, { slot: 1000 + second, trades: [at(second)], supply: [{ mint: TOKEN, change }] })

const chart = (query: Record<string, string> = {}) =>
  call(`/api/v1/market/chart/${TOKEN}?${new URLSearchParams({ mode: "mcap", ...query })}`, { key: "a" })

const closes = (answer: Answer) =>
  Array.from({ length: [answer.json("data.bars")].flat().length }, (_, n) => answer.json(`data.bars.${n}.c`))

layer(reading({ books, stored, unstored: () => unstored, world: { keys: [keyOf("a")] } }))(
  "a chart of market values",
  (it) => {
    it.effect("has the supply at the end of each bar, including blocks that are not stored yet", () =>
      Effect.gen(function* () {
        const tape = yield* Tape
        yield* setSecond(5 * MINUTE)
        yield* memory.blocks.open({ genesis: "one", isSandbox: false })
        const kept = [block(0), changed(MINUTE, 100_000_000n), changed(2 * MINUTE, -30_000_000n)]
        const newest = changed(4 * MINUTE, 1_000_000n)
        for (const batch of [...kept, newest]) {
          yield* tape.apply(batch)
        }
        yield* memory.blocks.append(kept)
        unstored.push(newest)
        observe(1_071_000_000n, 1000 + 4 * MINUTE)
        const answer = yield* chart()
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual(closes(answer), [2200, 2140, 2142])
        assert.strictEqual(answer.json("meta.supply.applied"), "per_bar")
        assert.strictEqual(answer.json("meta.supply.value"), "1071")
        assert.deepStrictEqual(closes(yield* chart({ resolution: "1h" })), [2142])
        assert.deepStrictEqual(closes(yield* chart({ mode: "price" })), [2, 2, 2])
      })
    )

    it.effect("uses the current supply, and says so, where changes may be unknown", () =>
      Effect.gen(function* () {
        observe(1_071_000_000n, 1000 + 4 * MINUTE + 1)
        const ahead = yield* chart()
        assert.strictEqual(ahead.json("meta.supply.applied"), "current")
        assert.deepStrictEqual(closes(ahead), [2142, 2142, 2142])
        observe(1_071_000_000n, 1000 + 4 * MINUTE)
        store.isUnavailable = true
        assert.strictEqual((yield* chart()).json("meta.supply.applied"), "current")
        store.isUnavailable = false
        const tape = yield* Tape
        yield* tape.apply({ ...changed(5 * MINUTE, 1n), afterGap: true })
        const broken = yield* chart()
        assert.strictEqual(broken.json("meta.supply.applied"), "current")
      })
    )
  }
)

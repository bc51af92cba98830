import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { BAR, COUNT } from "../../../src/market/candles/bar.ts"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { mintOf, MONDAY } from "../tape/tape.ts"
import { storedBlock } from "./tradeStoreContract.ts"

/** The contract of every trade store about the bars of a pool. */
export const poolBars = <E>(name: string, store: Layer.Layer<TradeStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("makes the bars of a pool of every trade up to the slot that it gives with them", () =>
      Effect.gen(function* () {
        const trades = yield* TradeStore
        yield* trades.open({ genesis: "pools", isSandbox: false })
        const [one, other] = [mintOf(8), mintOf(9)]
        const bars = trades.bars({
          mint: mintOf(1),
          pool: one,
          resolution: "1m",
          from: null,
          before: MONDAY + 3600,
          limit: 10
        })
        const [first, second] = [
          storedBlock(1, [{ pool: one }, { pool: other }]),
          storedBlock(2, [{ pool: one, priceUsd: 3 }])
        ]
        for (const [count, block] of [first, second].entries()) {
          yield* trades.append([block])
          const { cells, readToMs, readToSlot } = yield* bars
          assert.deepStrictEqual([cells.length, cells[COUNT]], [BAR, count + 1])
          assert.deepStrictEqual([readToSlot, readToMs], [block.slot, block.timeMs])
        }
      })
    )
  })

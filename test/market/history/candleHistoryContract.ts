import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { BAR, COUNT } from "../../../src/market/model/bar.ts"
import { type MarketStorePorts, marketStores } from "../../../src/market/model/MarketStores.ts"
import { mintOf, MONDAY } from "../tape/tape.ts"
import { storedBlock } from "./storedBlock.ts"

/** The contract of every candle history. */
export const candleHistoryContract = <E>(name: string, store: Layer.Layer<MarketStorePorts, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("makes the bars of a pool from every trade up to the slot that it returns with them", () =>
      Effect.gen(function* () {
        const stores = yield* marketStores
        yield* stores.blocks.open({ genesis: "pools", isSandbox: false })
        const [one, other] = [mintOf(8), mintOf(9)]
        const bars = stores.candles.bars({
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
          yield* stores.blocks.append([block])
          const { cells, readToMs, readToSlot } = yield* bars
          assert.deepStrictEqual([cells.length, cells[COUNT]], [BAR, count + 1])
          assert.deepStrictEqual([readToSlot, readToMs], [block.slot, block.timeMs])
        }
      })
    )
  })

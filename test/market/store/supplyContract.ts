import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { mintOf, MONDAY } from "../tape/tape.ts"
import { storedBlock } from "./tradeStoreContract.ts"

const [A, B] = [mintOf(1), mintOf(2)]
/** More than a signed number of the database. */
const MANY = 2n ** 64n - 1n

const changed = (second: number, change: bigint) =>
  storedBlock(second, [], {
    supply: [
      { mint: A, change },
      { mint: B, change: 7n }
    ]
  })

/** The contract of every trade store about changes of supply. */
export const supplyContract = <E>(name: string, store: Layer.Layer<TradeStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("keeps them by block, each once, with those of blocks that were read late", () =>
      Effect.gen(function* () {
        const { append, open, repair, supplyOf } = yield* TradeStore
        yield* open({ genesis: "supplies", isSandbox: false })
        yield* append([changed(1, MANY), storedBlock(2), changed(9, -4n)])
        yield* append([changed(9, -4n)])
        yield* repair({
          batches: [changed(5, -MANY)],
          repriced: [],
          gap: { fromSlot: 1003, left: [] },
          first: null,
          found: []
        })
        const all = [
          { slot: 1001, second: MONDAY + 1, change: MANY },
          { slot: 1005, second: MONDAY + 5, change: -MANY },
          { slot: 1009, second: MONDAY + 9, change: -4n }
        ]
        const found = yield* supplyOf({ mint: A, from: 0, most: 10 })
        assert.deepStrictEqual(found.changes, all)
        assert.strictEqual(found.toSlot, 1009)
        assert.isBelow(found.from, MONDAY)
        const later = yield* supplyOf({ mint: A, from: MONDAY + 5, most: 10 })
        assert.deepStrictEqual(later.changes, all.slice(1))
      })
    )

    it.effect("gives the newest of many, and the second from which on they are all", () =>
      Effect.gen(function* () {
        const { append, open, supplyOf } = yield* TradeStore
        yield* open({ genesis: "many supplies", isSandbox: false })
        yield* append([changed(1, 1n), changed(2, 2n), changed(3, 3n)])
        const { changes, from } = yield* supplyOf({ mint: A, from: 0, most: 2 })
        assert.deepStrictEqual(
          changes.map(({ change }) => change),
          [2n, 3n]
        )
        assert.strictEqual(from, MONDAY + 3)
        assert.deepStrictEqual((yield* supplyOf({ mint: mintOf(3), from: 0, most: 2 })).changes, [])
      })
    )

    it.effect("does not mix those of two chains", () =>
      Effect.gen(function* () {
        const { append, open, supplyOf } = yield* TradeStore
        yield* open({ genesis: "one supply", isSandbox: false })
        yield* append([changed(1, 1n)])
        yield* open({ genesis: "another supply", isSandbox: false })
        yield* append([changed(2, 2n)])
        const { changes } = yield* supplyOf({ mint: A, from: 0, most: 10 })
        assert.deepStrictEqual(
          changes.map(({ slot }) => slot),
          [1002]
        )
      })
    )
  })

import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { MONDAY } from "../tape/tape.ts"
import { storedBlock } from "./tradeStoreContract.ts"

const CHAIN = { genesis: "snapshots", isSandbox: false }

const content = (given: { readonly slot: number; readonly repairs?: number }, ...parts: ReadonlyArray<string>) => ({
  state: { timeMs: MONDAY * 1000, repairs: 0, layout: "layout", ...given },
  size: 12,
  parts: Stream.fromIterable(parts.map((text) => new TextEncoder().encode(text)))
})

const textOf = (part: Uint8Array | null) => (part === null ? null : new TextDecoder().decode(part))

/** The contract of every trade store about snapshots of memory. */
export const snapshotContract = <E>(name: string, store: Layer.Layer<TradeStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("keeps the newest, whole, and none that is not of the stored trades", () =>
      Effect.gen(function* () {
        const trades = yield* TradeStore
        yield* trades.open(CHAIN)
        yield* trades.append([storedBlock(7), storedBlock(9)])
        assert.isNull(yield* trades.snapshot)
        const first = yield* trades.keepSnapshot(content({ slot: 1007 }, "one", "two"))
        const expected = { slot: 1007, timeMs: MONDAY * 1000, parts: 2, size: 12, bytes: 6, layout: "layout" }
        assert.deepInclude(first, expected)
        assert.deepStrictEqual(yield* trades.snapshot, first)
        assert.strictEqual(textOf(yield* trades.snapshotPart(first?.id ?? "", 1)), "two")
        const second = yield* trades.keepSnapshot(content({ slot: 1009 }, "three"))
        assert.deepStrictEqual(yield* trades.snapshot, second)
        assert.isNull(yield* trades.snapshotPart(first?.id ?? "", 1))
        // Not with blocks that are not stored, nor with trades that a repair has changed since.
        assert.isNull(yield* trades.keepSnapshot(content({ slot: 1010 }, "four")))
        const gap = { fromSlot: 1008, left: [] }
        yield* trades.repair({ batches: [storedBlock(8)], gap, first: null, found: [], repriced: [] })
        assert.isNull(yield* trades.keepSnapshot(content({ slot: 1009 }, "five")))
        assert.deepStrictEqual(yield* trades.snapshot, second)
        assert.strictEqual((yield* trades.open(CHAIN))?.repairs, 1)
        assert.deepInclude(yield* trades.keepSnapshot(content({ slot: 1009, repairs: 1 }, "six")), { repairs: 1 })
      })
    )
  })

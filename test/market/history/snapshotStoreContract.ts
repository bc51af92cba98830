import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { type MarketStorePorts, marketStores } from "../../../src/market/model/MarketStores.ts"
import { MONDAY } from "../tape/tape.ts"
import { storedBlock } from "./storedBlock.ts"

const CHAIN = { genesis: "snapshots", isSandbox: false }

const content = (given: { readonly slot: number; readonly repairs?: number }, ...parts: ReadonlyArray<string>) => ({
  state: { timeMs: MONDAY * 1000, repairs: 0, layout: "layout", ...given },
  size: 12,
  parts: Stream.fromIterable(parts.map((text) => new TextEncoder().encode(text)))
})

const textOf = (part: Uint8Array | null) => (part === null ? null : new TextDecoder().decode(part))

/** The contract of every snapshot store. */
export const snapshotStoreContract = <E>(name: string, store: Layer.Layer<MarketStorePorts, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("keeps the newest snapshot whole, and refuses a snapshot that does not match the stored trades", () =>
      Effect.gen(function* () {
        const { blocks, snapshots } = yield* marketStores
        yield* blocks.open(CHAIN)
        yield* blocks.append([storedBlock(7), storedBlock(9)])
        assert.isNull(yield* snapshots.newest)
        const first = yield* snapshots.keep(content({ slot: 1007 }, "one", "two"))
        const expected = { slot: 1007, timeMs: MONDAY * 1000, parts: 2, size: 12, bytes: 6, layout: "layout" }
        assert.deepInclude(first, expected)
        assert.deepStrictEqual(yield* snapshots.newest, first)
        assert.strictEqual(textOf(yield* snapshots.part(first?.id ?? "", 1)), "two")
        const second = yield* snapshots.keep(content({ slot: 1009 }, "three"))
        assert.deepStrictEqual(yield* snapshots.newest, second)
        assert.isNull(yield* snapshots.part(first?.id ?? "", 1))
        // Not with blocks that are not stored, nor with trades that a repair has changed since.
        assert.isNull(yield* snapshots.keep(content({ slot: 1010 }, "four")))
        const gap = { fromSlot: 1008, left: [] }
        yield* blocks.repair({ batches: [storedBlock(8)], gap, first: null, found: [], repriced: [] })
        assert.isNull(yield* snapshots.keep(content({ slot: 1009 }, "five")))
        assert.deepStrictEqual(yield* snapshots.newest, second)
        assert.strictEqual((yield* blocks.open(CHAIN))?.repairs, 1)
        assert.deepInclude(yield* snapshots.keep(content({ slot: 1009, repairs: 1 }, "six")), { repairs: 1 })
      })
    )
  })

/** Behaviour of every bus of blocks. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Stream } from "effect"
import { blockBounds, BlockBus, type BusEntry } from "../../../src/storage/bus/BlockBus.ts"
import type { LogBounds } from "../../../src/storage/bus/busLog.ts"

/** A block after another. Its body is one byte unless more are given. */
export const block = (after: number, slot: number, bytes = 1) => ({
  after,
  slot,
  body: new Uint8Array(bytes).fill(slot % 256)
})

const partsOf = ({ body, isAfterGap, slot }: BusEntry) => [slot, isAfterGap, ...body]

/** The first entries after a slot. */
export const entries = (bus: BlockBus["Service"], after: number, count: number, chain = "a") =>
  bus.follow(chain, after).pipe(
    Stream.take(count),
    Stream.runCollect,
    Effect.map((found) => Array.from(found, partsOf))
  )

/** Tests of a bus on an empty server that keeps blocks within the bounds. */
export const blockBusContract = (name: string, busOf: (bounds: LogBounds) => Layer.Layer<BlockBus>) =>
  describe(`${name}`, () => {
    it.live("has no newest block at first, and later the last one", () =>
      Effect.gen(function* () {
        const bus = yield* BlockBus
        assert.isNull(yield* bus.newest("a"))
        yield* bus.append("a", block(0, 7))
        yield* bus.append("a", block(7, 9))
        assert.strictEqual(yield* bus.newest("a"), 9)
        assert.isNull(yield* bus.newest("b"))
      }).pipe(Effect.provide(busOf(blockBounds(1))))
    )

    it.live("refuses a writer that another has overtaken, and a block that is already there", () =>
      Effect.gen(function* () {
        const bus = yield* BlockBus
        yield* bus.append("a", block(0, 7))
        yield* bus.append("a", block(7, 9))
        assert.deepInclude(yield* Effect.flip(bus.append("a", block(7, 8))), { _tag: "AppendRefused", newest: 9 })
        assert.deepInclude(yield* Effect.flip(bus.append("a", block(7, 9))), { _tag: "AppendRefused", newest: 9 })
        assert.deepStrictEqual(yield* entries(bus, 0, 2), [
          [7, false, 7],
          [9, false, 9]
        ])
      }).pipe(Effect.provide(busOf(blockBounds(1))))
    )

    it.live("admits one of many writers that append after the same block", () =>
      Effect.gen(function* () {
        const bus = yield* BlockBus
        yield* bus.append("a", block(0, 1))
        const slots = Array.from({ length: 20 }, (_, i) => i + 2)
        const exits = yield* Effect.forEach(slots, (slot) => Effect.exit(bus.append("a", block(1, slot))), {
          concurrency: "unbounded"
        })
        assert.strictEqual(exits.filter(({ _tag }) => _tag === "Success").length, 1)
      }).pipe(Effect.provide(busOf(blockBounds(1))))
    )

    it.live("gives a reader the blocks after its slot, and each new one, without a gap", () =>
      Effect.gen(function* () {
        const bus = yield* BlockBus
        yield* bus.append("a", block(0, 7))
        yield* bus.append("b", block(0, 3))
        yield* bus.append("a", block(7, 9))
        const reading = yield* Effect.forkChild(entries(bus, 7, 3), { startImmediately: true })
        yield* bus.append("a", block(9, 10))
        yield* bus.append("a", block(10, 14))
        assert.deepStrictEqual(yield* Fiber.join(reading), [
          [9, false, 9],
          [10, false, 10],
          [14, false, 14]
        ])
      }).pipe(Effect.provide(busOf(blockBounds(1))))
    )

    it.live("gives many blocks at once in their order", () =>
      Effect.gen(function* () {
        const bus = yield* BlockBus
        yield* Effect.forEach(
          Array.from({ length: 50 }, (_, i) => i),
          (i) => bus.append("a", block(i, i + 1))
        )
        const found = yield* entries(bus, 0, 50)
        assert.deepStrictEqual(
          found,
          Array.from({ length: 50 }, (_, i) => [i + 1, false, i + 1])
        )
      }).pipe(Effect.provide(busOf(blockBounds(1))))
    )

    it.live("takes a block from a writer that is ahead of a bus that lost blocks, with a gap for its readers", () =>
      Effect.gen(function* () {
        const bus = yield* BlockBus
        yield* bus.append("a", block(40, 41))
        yield* bus.append("a", block(45, 46))
        // The reader has 44 of the four lost ones.
        assert.deepStrictEqual(yield* entries(bus, 44, 1), [[46, true, 46]])
        assert.deepStrictEqual(yield* entries(bus, 45, 1), [[46, false, 46]])
        assert.deepStrictEqual(yield* entries(bus, 0, 2), [
          [41, false, 41],
          [46, true, 46]
        ])
      }).pipe(Effect.provide(busOf(blockBounds(1))))
    )

    it.live("removes blocks that are too old, with a gap for a reader that has not reached them", () =>
      Effect.gen(function* () {
        const bus = yield* BlockBus
        for (const slot of [1, 2, 3, 4]) {
          yield* bus.append("a", block(slot - 1, slot))
        }
        assert.strictEqual(yield* bus.newest("a"), 4)
        assert.deepStrictEqual(yield* entries(bus, 1, 1), [[4, true, 4]])
        assert.deepStrictEqual(yield* entries(bus, 3, 1), [[4, false, 4]])
        // Kept for less than no time, so only the newest stays.
      }).pipe(Effect.provide(busOf({ keptMs: -1 })))
    )

    it.live("removes the oldest blocks beyond its bytes, and never the newest", () =>
      Effect.gen(function* () {
        const bus = yield* BlockBus
        yield* Effect.forEach([1, 2, 3, 4, 5], (slot) => bus.append("a", block(slot - 1, slot, 400)))
        const found = Array.from(yield* Stream.runCollect(Stream.take(bus.follow("a", 2), 2)))
        assert.deepStrictEqual(
          found.map(({ body, isAfterGap, slot }) => [slot, isAfterGap, body.length]),
          [
            [4, true, 400],
            [5, false, 400]
          ]
        )
        yield* bus.append("a", block(5, 6, 2000))
        yield* bus.append("a", block(6, 7))
        assert.deepStrictEqual(yield* entries(bus, 3, 1), [[7, true, 7]])
      }).pipe(Effect.provide(busOf({ keptMs: 3_600_000, mostBytes: 1000 })))
    )
  })

import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Schedule, Stream } from "effect"
import { blockBounds, BlockBus, makeMemoryBlocks } from "../../../src/storage/bus/BlockBus.ts"
import type { LogBounds } from "../../../src/storage/bus/busLog.ts"
import * as BlockBusValkey from "../../../src/storage/valkey/BlockBusValkey.ts"
import { makeConnection } from "../../../src/storage/valkey/busConnection.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import { Valkey } from "../../../src/storage/valkey/Valkey.ts"
import { emptied, isAvailable, server, sharedServer } from "../../support/valkey.ts"
import { block, blockBusContract, entries } from "./blockBusContract.ts"

blockBusContract("makeMemoryBlocks", (bounds) =>
  Layer.sync(BlockBus, () => makeMemoryBlocks(bounds, ({ byteLength }) => byteLength))
)

const MIB = 2 ** 20
const bounds = blockBounds(1)

/** Appends blocks of 300 bytes. */
const append = (bus: BlockBus["Service"], slots: ReadonlyArray<number>) =>
  Effect.forEach(slots, (slot) => bus.append("a", block(slot - 1, slot, 300)))

describe.runIf(isAvailable)("BlockBusValkey", () => {
  const shared = sharedServer()

  const emptyBus = (own: LogBounds) =>
    Layer.unwrap(
      Effect.map(Valkey, () => BlockBusValkey.layer(shared().url, own)).pipe(
        Effect.provide(emptied(shared).pipe(Layer.provide(SourceMonitor.layer)))
      )
    )

  blockBusContract("BlockBusValkey.layer", emptyBus)

  it.live("counts the bytes of blocks that a process without this bound has appended", () =>
    Effect.gen(function* () {
      const unbounded = yield* BlockBus
      const bounded = Context.get(
        yield* Layer.build(BlockBusValkey.layer(shared().url, { ...bounds, mostBytes: 1000 })),
        BlockBus
      )
      const slots = Effect.map(
        Stream.runCollect(Stream.takeUntil(bounded.follow("a", 0), ({ slot }) => slot === 9)),
        (found) => Array.from(found, ({ slot }) => slot)
      )
      yield* append(unbounded, [1, 2, 3, 4])
      yield* append(bounded, [5, 6])
      yield* append(unbounded, [7, 8])
      yield* append(bounded, [9])
      assert.deepStrictEqual(yield* slots, [7, 8, 9])
    }).pipe(Effect.scoped, Effect.provide(emptyBus({ keptMs: bounds.keptMs })))
  )

  it.live("keeps no more than BUS_MIB of blocks", () =>
    Effect.gen(function* () {
      const bus = yield* BlockBus
      yield* Effect.forEach([1, 2, 3, 4, 5], (slot) => bus.append("a", block(slot - 1, slot, 5 * MIB)))
      const kept = yield* Stream.runCollect(Stream.takeUntil(bus.follow("a", 0), ({ slot }) => slot === 5))
      assert.deepStrictEqual(
        Array.from(kept, ({ slot }) => slot),
        [3, 4, 5]
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.unwrap(Effect.sync(() => BlockBusValkey.layerSettings(shared().url))).pipe(
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ BUS_MIB: "16" }))),
          Layer.provide(emptied(shared).pipe(Layer.provide(SourceMonitor.layer)))
        )
      )
    )
  )

  it.live("refuses blocks in the words of a full server, still reads, and takes them when there is room", () =>
    Effect.gen(function* () {
      const bus = yield* BlockBus
      const send = yield* makeConnection(shared().url)
      yield* bus.append("a", block(0, 1))
      yield* send("CONFIG", "SET", "maxmemory", "1")
      const refusal = yield* Effect.flip(bus.append("a", block(1, 2)))
      assert.include(String(refusal._tag === "BusUnavailable" && refusal.cause), "OOM")
      assert.deepStrictEqual(yield* entries(bus, 0, 1), [[1, false, 1]])
      yield* send("CONFIG", "SET", "maxmemory", "0")
      yield* bus.append("a", block(1, 2))
    }).pipe(Effect.scoped, Effect.provide(emptyBus(bounds)))
  )
})

const patiently = { schedule: Schedule.spaced("20 millis"), times: 500 }

describe.runIf(isAvailable)("BlockBusValkey while its server is away", () => {
  /** A bus, and a reader that notes its slots. */
  const watched = Effect.gen(function* () {
    const own = yield* server
    const bus = Context.get(yield* Layer.build(BlockBusValkey.layer(own.url, bounds)), BlockBus)
    const slots: Array<readonly [number, boolean]> = []
    yield* bus.follow("a", 0).pipe(
      Stream.runForEach(({ isAfterGap, slot }) => Effect.sync(() => void slots.push([slot, isAfterGap]))),
      Effect.forkScoped
    )
    const reach = (slot: number) =>
      Effect.sync(() => slots.at(-1)?.[0]).pipe(
        Effect.repeat({ until: (newest) => newest === slot, schedule: Schedule.spaced("10 millis") })
      )
    return { own, bus, slots, reach }
  })

  it.live("reconnects after an idle connection has ended", () =>
    Effect.gen(function* () {
      const own = yield* server
      const bus = Context.get(yield* Layer.build(BlockBusValkey.layer(own.url, bounds)), BlockBus)
      assert.isNull(yield* bus.newest("a"))
      yield* own.kill
      yield* own.start
      assert.isNull(yield* bus.newest("a"))
    }).pipe(Effect.scoped)
  )

  it.live("fails to append, reads on when the server is back, and has a gap when it lost blocks", () =>
    Effect.gen(function* () {
      const { bus, own, reach, slots } = yield* watched
      yield* bus.append("a", block(0, 1))
      yield* reach(1)
      yield* own.kill
      assert.strictEqual((yield* Effect.flip(bus.append("a", block(1, 2))))._tag, "BusUnavailable")
      assert.strictEqual((yield* Effect.flip(bus.newest("a")))._tag, "BusUnavailable")
      yield* own.start
      assert.isNull(yield* Effect.retry(bus.newest("a"), patiently))
      yield* bus.append("a", block(1, 2))
      yield* reach(2)
      yield* bus.append("a", block(5, 6))
      yield* reach(6)
      assert.deepStrictEqual(slots, [
        [1, false],
        [2, false],
        [6, true]
      ])
    }).pipe(Effect.scoped)
  )

  it.live(
    "abandons a server that stands still, and goes on with the blocks that it has then",
    () =>
      Effect.gen(function* () {
        const { bus, own, reach, slots } = yield* watched
        yield* bus.append("a", block(0, 1))
        yield* reach(1)
        yield* own.freeze
        const late = yield* Effect.forkChild(Effect.exit(bus.append("a", block(1, 2))))
        assert.strictEqual((yield* Fiber.join(late))._tag, "Failure")
        yield* own.thaw
        // The server may have carried the command out: its newest block decides.
        const newest = yield* Effect.retry(bus.newest("a"), patiently)
        yield* newest === 1 ? Effect.ignore(bus.append("a", block(1, 2))) : Effect.void
        yield* bus.append("a", block(2, 3))
        yield* reach(3)
        assert.deepStrictEqual(slots, [
          [1, false],
          [2, false],
          [3, false]
        ])
        assert.deepStrictEqual(yield* entries(bus, 1, 2), [
          [2, false, 2],
          [3, false, 3]
        ])
      }).pipe(Effect.scoped),
    30_000
  )

  it.live("can be built without a server, and reads when there is one", () =>
    Effect.gen(function* () {
      const own = yield* server
      yield* own.kill
      const bus = Context.get(yield* Layer.build(BlockBusValkey.layer(own.url, bounds)), BlockBus)
      const reading = yield* Effect.forkChild(entries(bus, 0, 1), { startImmediately: true })
      yield* own.start
      yield* Effect.retry(bus.append("a", block(0, 1)), patiently)
      assert.deepStrictEqual(yield* Fiber.join(reading), [[1, false, 1]])
      assert.isNotNull(bus.heardAtMs())
    }).pipe(Effect.scoped)
  )
})

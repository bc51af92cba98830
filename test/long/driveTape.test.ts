/** A market whose process has a bus of its own. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Deferred, Effect, Layer, Schedule, Stream } from "effect"
import type { Gaps } from "../../src/market/model/Gaps.ts"
import type { PricedBatch, TradeBatch } from "../../src/market/model/TradeBatch.ts"
import { driveTape } from "../../src/market/tape/driveTape.ts"
import { TradeFeed } from "../../src/market/tape/TradeFeed.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { AppendRefused } from "../../src/storage/bus/busLog.ts"
import { type Blocks, makeMemoryBlocks } from "../../src/storage/bus/BlockBus.ts"
import { layerOf, memory } from "../support/marketStores.ts"
import { becomes, Chain, noPrices, slotsTo, storedTrades, tradesOf } from "../market/tape/growingChain.ts"
import { mintOf } from "../market/tape/tape.ts"

/** The stream, except that it dies once before each of these slots. */
const dyingAt = <A extends { readonly slot: number }>(slots: Set<number>, stream: Stream.Stream<A>) =>
  Stream.mapEffect(stream, (element) =>
    Effect.suspend(() =>
      slots.delete(element.slot) ? Effect.die(new Error(`slot ${element.slot}`)) : Effect.succeed(element)
    )
  )

/** The blocks, with the report of a fork. */
const reporting = (fork: Faults["fork"]) =>
  Stream.map((batch: TradeBatch): TradeBatch =>
    batch.slot === fork?.slot ? { ...batch, afterGap: true, forkedFrom: fork.from } : batch
  )

const unreadable: TradeBatch["transactions"] = {
  [Symbol.iterator]: () => {
    throw new Error("unreadable")
  }
}

interface Faults {
  /** Slots before which the feed dies, once each. */
  readonly feed?: Set<number>
  /** Slots before which a reader of the bus dies, once each: first the follower, then the writer of the store. */
  readonly bus?: ReadonlyArray<Set<number>>
  /** Slots whose append to the bus dies, once each. */
  readonly append?: Set<number>
  /** Slots whose append to the bus is refused, once each. */
  readonly refused?: Set<number>
  /** A block that reports a fork, and the first slot of the fork. Only the first stream of the feed has the report. */
  readonly fork?: { readonly slot: number; readonly from: number }
  /** The node does not report its genesis hash. */
  readonly hasNoName?: boolean
  /** Ends the first writer of the tape. */
  readonly dies?: Deferred.Deferred<never>
  /** Slots whose block cannot be priced. */
  readonly unpriceable?: ReadonlySet<number>
}

/** A process with its tape, its store and the slots that it applied. */
const started = Effect.fnUntraced(function* (chain: Chain, faults: Faults = {}) {
  const bus = makeMemoryBlocks<PricedBatch>({ keptMs: -1 })
  /** The newest slot from the feed. */
  const given = { slot: 0 }
  const readers = Array.from(faults.bus ?? [])
  const dying: Blocks<PricedBatch> = {
    ...bus,
    append: (name, entry) =>
      faults.append?.delete(entry.slot) === true
        ? Effect.die(new Error("dead bus"))
        : faults.refused?.delete(entry.slot) === true
          ? Effect.fail(new AppendRefused({ newest: entry.slot }))
          : bus.append(name, entry),
    follow: (name, after) => dyingAt(readers.shift() ?? new Set(), bus.follow(name, after))
  }
  const stores = yield* memory
  let [lives, streams] = [0, 0]
  const context = yield* Layer.build(
    Market.layerDriven((parts, limits, settings) => {
      const driven = driveTape(parts, limits, settings, () => dying)
      return lives++ === 0 && faults.dies !== undefined ? Effect.raceFirst(driven, Deferred.await(faults.dies)) : driven
    }).pipe(
      Layer.provide(layerOf(stores)),
      Layer.provide(noPrices),
      Layer.provide(
        Layer.effect(
          TradeFeed,
          TradeFeed.useSync((feed) => ({
            ...feed,
            ...(faults.hasNoName === true && { chain: Effect.succeed(null) }),
            batches: (after: number) =>
              dyingAt(faults.feed ?? new Set(), feed.batches(after)).pipe(
                Stream.tap(({ slot }) => Effect.sync(() => (given.slot = slot))),
                reporting(streams++ === 0 ? faults.fork : undefined),
                Stream.map((batch) =>
                  faults.unpriceable?.has(batch.slot) === true ? { ...batch, transactions: unreadable } : batch
                )
              )
          }))
        ).pipe(Layer.provide(chain.feed))
      ),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ HISTORY: "0 seconds", REPAIR_RATE: "1000" })))
    )
  )
  const tape = Context.get(context, Market)
  const applied: Array<number> = []
  yield* tape.applied.pipe(
    Stream.runForEach(({ slot }) => Effect.sync(() => void applied.push(slot))),
    Effect.forkScoped({ startImmediately: true })
  )
  return { applied, given, stores, tape }
})

/** Waits until the blocks up to a slot are applied and stored. */
const settledAt = ({ applied, tape }: Effect.Success<ReturnType<typeof started>>, slot: number) =>
  becomes(() => applied.at(-1) === slot && tape.unstored().length === 0 && !tape.isRestoring())

const gapsOf = (gaps: Gaps) => gaps.map(({ fromSlot, state, toSlot }) => [fromSlot, toSlot, state])

describe("a tape with a bus of its own", () => {
  it.live.each([
    ["the feed", { feed: new Set([4, 7]) }],
    ["the follower", { bus: [new Set([4, 7])] }],
    ["the writer of the store", { bus: [new Set<number>(), new Set([4, 7])] }],
    ["each of them", { feed: new Set([4, 6]), bus: [new Set([5, 6]), new Set([5, 6])] }]
  ] as const)("loses no block and repeats none while %s stops and begins again", ([, faults]) =>
    Effect.gen(function* () {
      const chain = new Chain()
      chain.grow(12)
      const process = yield* started(chain, faults)
      yield* settledAt(process, 12)
      chain.grow(2)
      yield* settledAt(process, 14)
      assert.deepStrictEqual(process.applied, slotsTo(14))
      assert.deepStrictEqual(process.tape.gaps(), [])
      assert.deepStrictEqual((yield* process.stores.blocks.progress)?.gaps, [])
      assert.deepStrictEqual(yield* storedTrades(process.stores), tradesOf(slotsTo(14)))
    }).pipe(Effect.scoped)
  )

  it.live("has a gap where an append to the bus died, until it has read the block again", () =>
    Effect.gen(function* () {
      const chain = new Chain()
      chain.grow(6)
      const process = yield* started(chain, { append: new Set([3]) })
      yield* settledAt(process, 6)
      assert.deepStrictEqual(process.applied, [1, 2, 4, 5, 6])
      yield* becomes(() => process.tape.gaps().length === 0)
      yield* becomes(() => !process.tape.isRestoring())
      assert.deepStrictEqual(yield* storedTrades(process.stores), tradesOf(slotsTo(6)))
    }).pipe(Effect.scoped)
  )

  it.live("goes on behind the newest block of its bus after a refused append", () =>
    Effect.gen(function* () {
      const chain = new Chain()
      chain.grow(6)
      const refused = new Set([3, 5])
      const process = yield* started(chain, { refused })
      yield* settledAt(process, 6)
      chain.grow(2)
      yield* settledAt(process, 8)
      assert.strictEqual(refused.size, 0)
      yield* becomes(() => process.tape.gaps().length === 0)
      assert.deepStrictEqual(yield* storedTrades(process.stores), tradesOf(slotsTo(8)))
    }).pipe(Effect.scoped)
  )

  it.live.each([false, true])("keeps a fork missing whose report was refused (chain without a name: %s)", (hasNoName) =>
    Effect.gen(function* () {
      const chain = new Chain()
      chain.grow(6)
      const process = yield* started(chain, { refused: new Set([5]), fork: { slot: 5, from: 3 }, hasNoName })
      yield* becomes(() => process.applied.at(-1) === 6)
      assert.deepStrictEqual(process.applied, slotsTo(6))
      assert.deepStrictEqual(gapsOf(process.tape.gaps()), [[3, 4, "unavailable"]])
      if (!hasNoName) {
        yield* settledAt(process, 6)
        assert.deepStrictEqual(gapsOf((yield* process.stores.blocks.progress)?.gaps ?? []), [[3, 4, "unavailable"]])
      }
    }).pipe(Effect.scoped)
  )

  it.live("goes on after a refused append on a chain that the node cannot name", () =>
    Effect.gen(function* () {
      const chain = new Chain()
      chain.grow(6)
      const refused = new Set([3])
      const process = yield* started(chain, { refused, hasNoName: true })
      yield* becomes(() => process.applied.at(-1) === 6)
      assert.strictEqual(refused.size, 0)
      chain.grow(2)
      yield* becomes(() => process.applied.at(-1) === 8)
    }).pipe(Effect.scoped)
  )

  it.live("begins again from its store when the writer of the tape dies", () =>
    Effect.gen(function* () {
      const chain = new Chain()
      chain.grow(6)
      const dies = yield* Deferred.make<never>()
      const process = yield* started(chain, { dies })
      yield* settledAt(process, 6)
      yield* Deferred.die(dies, new Error("dead tape"))
      chain.grow(2)
      yield* settledAt(process, 8)
      const { progress } = process.stores.blocks
      yield* Effect.repeat(progress, { until: (found) => found?.slot === 8, schedule: Schedule.spaced("20 millis") })
      assert.deepStrictEqual(process.tape.gaps(), [])
      assert.deepStrictEqual(yield* storedTrades(process.stores), tradesOf(slotsTo(8)))
      assert.strictEqual(process.tape.state.window(mintOf(0), "5m")?.trades, 2)
    }).pipe(Effect.scoped)
  )

  it.live("leaves out a block that cannot be priced, until it has read it again", () =>
    Effect.gen(function* () {
      const chain = new Chain()
      chain.grow(6)
      const process = yield* started(chain, { unpriceable: new Set([3, 4]) })
      yield* settledAt(process, 6)
      assert.deepStrictEqual(process.applied, [1, 2, 5, 6])
      yield* becomes(() => process.tape.gaps().length === 0)
      assert.deepStrictEqual(yield* storedTrades(process.stores), tradesOf(slotsTo(6)))
      assert.strictEqual(process.tape.state.window(mintOf(0), "5m")?.trades, 2)
    }).pipe(Effect.scoped)
  )

  it.live("reads no block before the last one is on the tape and on its way to the store", () =>
    Effect.gen(function* () {
      const chain = new Chain()
      chain.grow(20)
      const process = yield* started(chain, { bus: [new Set([5])] })
      // The follower died before block 5, and restarts after a quarter of a second.
      yield* becomes(() => process.given.slot === 5)
      yield* Effect.sleep("100 millis")
      assert.strictEqual(process.given.slot, 5)
      assert.strictEqual(process.tape.newestSlot(), 4)
      yield* settledAt(process, 20)
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Latch, Layer, Schedule, Scope, Stream } from "effect"
import { PgClient } from "@effect/sql-pg"
import * as SharedTape from "../../src/market/tape/SharedTape.ts"
import { encodeBlock } from "../../src/market/tape/blockMessage.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { blockBounds, BLOCKS_MIB, BlockBus, makeMemoryBlocks } from "../../src/storage/bus/BlockBus.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { layerOf, replaced, type Replacement, storesFrom, storesOn } from "../support/marketStores.ts"
import {
  becomes,
  blockOf,
  Chain,
  CHAIN,
  noPrices,
  slotsTo,
  storedTrades,
  tradesOf
} from "../market/tape/growingChain.ts"
import { mintOf } from "../market/tape/tape.ts"
import { gapBetween, type MissingBlocks } from "../../src/market/model/Gaps.ts"
import { type MarketStores, marketStores } from "../../src/market/model/MarketStores.ts"

const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ HISTORY: "0 seconds", REPAIR_RATE: "1000" }))

interface Change {
  readonly store?: (stores: MarketStores) => Replacement
  readonly bus?: Partial<BlockBus["Service"]>
}

/** Processes on one database and one bus. */
const makeWorld = Effect.gen(function* () {
  const address = yield* TestDatabase.create
  const bus = makeMemoryBlocks<Uint8Array>(blockBounds(BLOCKS_MIB))
  const chain = new Chain()
  /**
   * A process: its tape, its store, the slots it applied, and its end. `change` replaces methods of its store and bus.
   */
  const process = Effect.fnUntraced(function* (mayLead: boolean, change: Change = {}) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const database = Layer.fresh(TestDatabase.connect(address))
    const stores = Layer.unwrap(Effect.map(marketStores, (all) => layerOf(replaced(all, change.store?.(all) ?? {}))))
    const layer = SharedTape.layer(mayLead).pipe(
      Layer.provideMerge(stores.pipe(Layer.provide(storesOn(database)))),
      Layer.provide([chain.feed, noPrices, Layer.succeed(BlockBus, { ...bus, ...change.bus }), settings]),
      Layer.provideMerge(database)
    )
    const context = yield* Scope.provide(Layer.build(layer), scope)
    const tape = Context.get(context, Market)
    const applied: Array<number> = []
    yield* tape.applied.pipe(
      Stream.runForEach(({ slot }) => Effect.sync(() => void applied.push(slot))),
      Effect.forkIn(scope, { startImmediately: true })
    )
    return {
      tape,
      applied,
      store: storesFrom(context),
      sql: Context.get(context, PgClient.PgClient),
      end: Scope.close(scope, Exit.void)
    }
  })
  return { address, bus, chain, process }
})

const storedTo = (store: MarketStores, slot: number) =>
  store.blocks.progress.pipe(
    Effect.orElseSucceed(() => null),
    Effect.repeat({ until: (progress) => progress?.slot === slot, schedule: Schedule.spaced("20 millis") })
  )

const isRestored = ({ isRestoring, newestSlot }: Market["Service"]) => newestSlot() > 0 && !isRestoring()

const patience = 60_000

describe.runIf(TestDatabase.isAvailable)("a market shared by processes", () => {
  it.live(
    "has one writer, and loses or repeats no block when the writer ends",
    () =>
      Effect.gen(function* () {
        const { chain, process } = yield* makeWorld
        chain.grow(20)
        const replica = yield* process(false)
        const first = yield* process(true)
        yield* becomes(() => replica.tape.newestSlot() === 20)
        const second = yield* process(true)
        chain.grow(10)
        yield* becomes(() => [replica, first, second].every(({ tape }) => tape.newestSlot() === 30))
        yield* first.end
        chain.grow(10)
        yield* becomes(() => replica.tape.newestSlot() === 40)
        yield* storedTo(replica.store, 40)
        yield* becomes(() => replica.applied.at(-1) === 40)
        assert.deepStrictEqual(replica.applied, slotsTo(40))
        assert.deepStrictEqual(replica.tape.gaps(), [])
        const trades = yield* storedTrades(second.store)
        assert.deepStrictEqual(trades, tradesOf(slotsTo(40)))
        assert.deepStrictEqual(yield* storedTrades(replica.store), trades)
        for (const { tape } of [replica, second]) {
          assert.strictEqual(tape.state.window(mintOf(1), "5m")?.trades, 14)
        }
        // The first process left a snapshot, which any process starts from.
        const read = { parts: 0 }
        const late = yield* process(false, {
          store: ({ snapshots }) => ({
            snapshots: {
              part: (id, number) => {
                read.parts++
                return snapshots.part(id, number)
              }
            }
          })
        })
        yield* becomes(() => isRestored(late.tape))
        assert.strictEqual((yield* late.store.snapshots.newest)?.slot, 30)
        assert.isAbove(read.parts, 0)
        assert.strictEqual(late.tape.state.window(mintOf(1), "5m")?.trades, 14)
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "goes on when the leader's session ends, and stores blocks that only the bus has",
    () =>
      Effect.gen(function* () {
        const { bus, chain, process } = yield* makeWorld
        // A leader that ended before it stored anything.
        for (const slot of [1, 2, 3]) {
          const { transactions, ...rest } = blockOf(slot)
          const body = encodeBlock({ ...rest, transactions, trades: [] })
          yield* bus.append(CHAIN.genesis, { after: slot - 1, slot, body })
        }
        chain.grow(6)
        const first = yield* process(true)
        yield* storedTo(first.store, 6)
        // Blocks are stored as they are on the bus: these have no trades.
        assert.deepStrictEqual(yield* storedTrades(first.store), tradesOf([4, 5, 6]))
        const second = yield* process(true)
        yield* second.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'fathom-leader' and datname = current_database()
        `
        chain.grow(4)
        yield* becomes(() => [first, second].every(({ tape }) => tape.newestSlot() === 10))
        yield* storedTo(first.store, 10)
        yield* becomes(() => first.applied.at(-1) === 10)
        assert.deepStrictEqual(first.applied, slotsTo(10))
        assert.deepStrictEqual((yield* first.store.blocks.progress)?.gaps, [])
      }).pipe(Effect.scoped),
    patience
  )

  it.live.each([2, 3])(
    "leaves out an unreadable bus entry, slot %i of 3, until the node gives the block again",
    (unreadable) =>
      Effect.gen(function* () {
        const { bus, chain, process } = yield* makeWorld
        for (const slot of [1, 2, 3]) {
          const { transactions, ...rest } = blockOf(slot)
          const body = slot === unreadable ? Buffer.of(255) : encodeBlock({ ...rest, transactions, trades: [] })
          yield* bus.append(CHAIN.genesis, { after: slot - 1, slot, body })
        }
        chain.grow(6)
        const { store, tape } = yield* process(true)
        yield* storedTo(store, 6)
        yield* becomes(() => tape.newestSlot() === 6 && tape.gaps().length === 0)
        // Readable entries have no trades.
        assert.deepStrictEqual(yield* storedTrades(store), tradesOf([unreadable, 4, 5, 6]))
        assert.deepStrictEqual((yield* store.blocks.progress)?.gaps, [])
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "gives up the lead once another process has appended, and leads again in a new term",
    () =>
      Effect.gen(function* () {
        const { bus, chain, process } = yield* makeWorld
        const terms = { begun: 0 }
        chain.grow(3)
        const leader = yield* process(true, {
          store: ({ blocks }) => ({
            blocks: {
              open: (opened, access) => {
                terms.begun += access === "sole" ? 1 : 0
                return blocks.open(opened, access)
              }
            }
          })
        })
        yield* storedTo(leader.store, 3)
        assert.strictEqual(terms.begun, 1)
        const { transactions, ...rest } = blockOf(4)
        const body = encodeBlock({ ...rest, transactions, trades: [] })
        yield* bus.append(CHAIN.genesis, { after: 3, slot: 4, body })
        chain.grow(3)
        yield* becomes(() => terms.begun > 1)
        yield* storedTo(leader.store, 6)
        assert.strictEqual(terms.begun, 2)
        // The other process's block has no trades.
        assert.deepStrictEqual(yield* storedTrades(leader.store), tradesOf([1, 2, 3, 5, 6]))
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "gets the blocks of a gap once they are stored",
    () =>
      Effect.gen(function* () {
        const { bus, chain, process } = yield* makeWorld
        const replica = yield* process(false)
        chain.grow(3)
        const leader = yield* process(true)
        yield* becomes(() => replica.tape.newestSlot() === 3)
        yield* storedTo(replica.store, 3)
        yield* leader.end
        // Blocks 4 to 6 were lost by the bus, and nothing of them is stored.
        chain.grow(4)
        const { transactions, ...rest } = blockOf(7)
        const body = encodeBlock({ ...rest, transactions, trades: [] })
        yield* bus.append(CHAIN.genesis, { after: 6, slot: 7, body })
        yield* becomes(() => replica.tape.gaps().length === 1)
        assert.deepInclude(replica.tape.gaps()[0], { fromSlot: 4, toSlot: 6, state: "open" })
        const next = yield* process(true)
        yield* becomes(() => replica.tape.gaps().length === 0)
        assert.deepStrictEqual(yield* storedTrades(next.store), tradesOf(slotsTo(6)))
        assert.strictEqual(replica.tape.state.window(mintOf(1), "5m")?.trades, 2)
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "keeps the blocks that its store has lost, says that they are missing, and is rebuilt once they are stored again",
    () =>
      Effect.gen(function* () {
        const { chain, process } = yield* makeWorld
        const lost = { gaps: [] as ReadonlyArray<MissingBlocks>, repairs: 0, reads: 0, rebuilds: 0 }
        chain.grow(10)
        const leader = yield* process(true)
        yield* storedTo(leader.store, 10)
        const replica = yield* process(false, {
          store: ({ blocks }) => ({
            blocks: {
              progress: Effect.map(blocks.progress, (found) => {
                lost.reads++
                return found && { ...found, gaps: lost.gaps, repairs: found.repairs + lost.repairs }
              }),
              since: (request) => {
                lost.rebuilds++
                return Stream.filter(blocks.since(request), ({ slot }) =>
                  lost.gaps.every(({ fromSlot, toSlot }) => slot < fromSlot || slot > toSlot)
                )
              }
            }
          })
        })
        yield* becomes(() => isRestored(replica.tape))
        const held = () => replica.tape.state.window(mintOf(1), "5m")?.trades
        assert.strictEqual(held(), 4)
        const rebuilds = lost.rebuilds
        const gap = gapBetween({ slot: 3, timeMs: blockOf(3).timeMs }, { slot: 8, timeMs: blockOf(8).timeMs })
        lost.gaps = gap === null ? [] : [gap]
        yield* becomes(() => replica.tape.gaps().length === 1)
        assert.isFalse(replica.tape.recordedFrom(blockOf(2).timeMs / 1000).complete)
        // Half of the blocks are stored again.
        lost.gaps = lost.gaps.map((each) => ({ ...each, toSlot: 5 }))
        lost.repairs = 1
        const { reads } = lost
        yield* becomes(() => lost.reads > reads + 6)
        assert.deepStrictEqual([lost.rebuilds, held()], [rebuilds, 4])
        assert.deepInclude(replica.tape.gaps()[0], { fromSlot: 4, toSlot: 7 })
        lost.gaps = []
        lost.repairs = 2
        yield* becomes(() => replica.tape.gaps().length === 0)
        assert.deepStrictEqual([lost.rebuilds > rebuilds, held()], [true, 4])
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "applies and publishes once the blocks that are stored during its restore, whether they come early or late on the bus",
    () =>
      Effect.gen(function* () {
        const { bus, chain, process } = yield* makeWorld
        chain.grow(10)
        const leader = yield* process(true)
        yield* storedTo(leader.store, 10)
        const grown = (to: number) =>
          Effect.andThen(
            Effect.sync(() => chain.grow(Math.max(0, to - chain.blocks.length))),
            storedTo(leader.store, to)
          )
        // The chain grows after the restore has read the progress.
        const early = yield* process(false, {
          store: ({ blocks }) => ({
            blocks: { since: (request) => Stream.unwrap(Effect.as(grown(20), blocks.since(request))) }
          })
        })
        yield* becomes(() => early.tape.newestSlot() === 20 && isRestored(early.tape))
        const arrive = Latch.makeUnsafe(false)
        const follow: BlockBus["Service"]["follow"] = (genesis, after) =>
          Stream.unwrap(Effect.as(arrive.await, bus.follow(genesis, after)))
        // The chain grows before the progress is read, and none of its blocks has arrived.
        const late = yield* process(false, {
          store: ({ blocks }) => ({ blocks: { progress: Effect.andThen(grown(30), blocks.progress) } }),
          bus: { follow }
        })
        yield* becomes(() => isRestored(late.tape))
        yield* arrive.open
        yield* becomes(() => [early, late].every(({ tape }) => tape.newestSlot() === 30))
        yield* becomes(() => [early, late].every(({ applied }) => applied.at(-1) === 30))
        assert.deepStrictEqual(early.applied, slotsTo(30).slice(10))
        assert.deepStrictEqual(late.applied, slotsTo(30).slice(20))
        for (const { tape } of [leader, early, late]) {
          assert.deepStrictEqual(tape.gaps(), [])
          assert.strictEqual(tape.state.window(mintOf(1), "5m")?.trades, 10)
        }
      }).pipe(Effect.scoped),
    patience
  )
})

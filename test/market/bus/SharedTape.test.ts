import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Latch, Layer, Option, Schedule, Scope, Stream } from "effect"
import { PgClient } from "@effect/sql-pg"
import * as SharedTape from "../../../src/market/bus/SharedTape.ts"
import { encodeBlock } from "../../../src/market/bus/blockMessage.ts"
import type { StoredBatch } from "../../../src/market/store/StoredBatch.ts"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { TradeFeed } from "../../../src/market/tape/TradeFeed.ts"
import type { TradeBatch } from "../../../src/market/tape/TradeBatch.ts"
import { TradeTape } from "../../../src/market/tape/TradeTape.ts"
import { BlockBus } from "../../../src/storage/bus/BlockBus.ts"
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { tradeStoreOf } from "../../support/tradeStores.ts"
import { leg, netOf, transactionOf } from "../tape/decoded.ts"
import { mintOf, MONDAY } from "../tape/tape.ts"

const CHAIN = { genesis: "shared", isSandbox: false }

/** A block with one trade of a token. */
const blockOf = (slot: number): TradeBatch => {
  const swap = leg({ slot, token: { mint: mintOf(slot % 3), amount: BigInt(slot) * 1000n, decimals: 6 } })
  return {
    slot,
    timeMs: (MONDAY + slot) * 1000,
    transactions: [transactionOf({ legs: [swap], nets: [netOf(swap, [0])] })],
    launches: [],
    afterGap: false
  }
}

/** A chain that grows by hand, which any number of processes read. */
class Chain {
  readonly blocks: Array<TradeBatch> = []

  grow(count: number): void {
    const from = (this.blocks.at(-1)?.slot ?? 0) + 1
    this.blocks.push(...Array.from({ length: count }, (_, i) => blockOf(from + i)))
  }

  get feed(): Layer.Layer<TradeFeed> {
    const after = (slot: number) =>
      Effect.sync(() => this.blocks.filter((block) => block.slot > slot)).pipe(
        Effect.repeat({ until: (found) => found.length > 0, schedule: Schedule.spaced("5 millis") })
      )
    return Layer.succeed(TradeFeed, {
      chain: Effect.succeed(CHAIN),
      batches: (from) =>
        Stream.paginate(from, (slot) =>
          Effect.map(after(slot), (found) => [found, Option.some(found.at(-1)?.slot ?? slot)] as const)
        ),
      again: (slot) =>
        Effect.sync(() => {
          const batch = this.blocks.find((block) => block.slot === slot)
          return batch === undefined
            ? { _tag: "Missing", reason: "missing" }
            : { _tag: "Block", batch, parentSlot: slot - 1 }
        }),
      list: (from, limit) =>
        Effect.sync(() =>
          this.blocks
            .map(({ slot }) => slot)
            .filter((slot) => slot >= from)
            .slice(0, limit)
        )
    })
  }
}

const noPrices = Layer.succeed(PriceBook, {
  at: () => ({
    of: () => null,
    lifetime: null,
    isStale: true,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: MONDAY }
  }),
  warm: () => Effect.void
})

const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ HISTORY: "0 seconds", REPAIR_RATE: "1000" }))

interface Change {
  readonly store?: (store: TradeStore["Service"]) => Partial<TradeStore["Service"]>
  readonly bus?: Partial<BlockBus["Service"]>
}

/** Processes on one database and one bus. */
const makeWorld = Effect.gen(function* () {
  const address = yield* TestDatabase.create
  const bus = Context.get(yield* Layer.build(BlockBus.layerMemory()), BlockBus)
  const chain = new Chain()
  /** A process with its tape, its store, the slots that it applied, and its end; `change` is what it has of the store and bus. */
  const process = Effect.fnUntraced(function* (mayLead: boolean, change: Change = {}) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const database = Layer.fresh(TestDatabase.connect(address))
    const stores = Layer.effect(
      TradeStore,
      Effect.map(TradeStore, (store) => TradeStore.of({ ...store, ...change.store?.(store) }))
    )
    const layer = SharedTape.layer(mayLead).pipe(
      Layer.provideMerge(stores.pipe(Layer.provide(tradeStoreOf(database)))),
      Layer.provide([chain.feed, noPrices, Layer.succeed(BlockBus, { ...bus, ...change.bus }), settings]),
      Layer.provideMerge(database)
    )
    const context = yield* Scope.provide(Layer.build(layer), scope)
    const tape = Context.get(context, TradeTape)
    const applied: Array<number> = []
    yield* tape.applied.pipe(
      Stream.runForEach(({ slot }) => Effect.sync(() => void applied.push(slot))),
      Effect.forkIn(scope, { startImmediately: true })
    )
    return {
      tape,
      applied,
      store: Context.get(context, TradeStore),
      sql: Context.get(context, PgClient.PgClient),
      end: Scope.close(scope, Exit.void)
    }
  })
  return { address, bus, chain, process }
})

const becomes = (what: () => boolean) =>
  Effect.repeat(Effect.sync(what), { until: (isTrue) => isTrue, schedule: Schedule.spaced("5 millis") })

const storedTo = (store: TradeStore["Service"], slot: number) =>
  store.progress.pipe(
    Effect.orElseSucceed(() => null),
    Effect.repeat({ until: (progress) => progress?.slot === slot, schedule: Schedule.spaced("20 millis") })
  )

const placesOf = (batches: Iterable<StoredBatch>) =>
  Array.from(batches).flatMap(({ trades }) => trades.map(({ amount, index, slot }) => `${slot} ${index} ${amount}`))

const storedTrades = (store: TradeStore["Service"]) =>
  Effect.map(Stream.runCollect(store.since({ second: 0, after: 0, most: 100_000 })), placesOf)

const slotsTo = (slot: number) => Array.from({ length: slot }, (_, i) => i + 1)

const isRestored = ({ isRestoring, newestSlot }: TradeTape["Service"]) => newestSlot() > 0 && !isRestoring()

const patience = 60_000

describe.runIf(TestDatabase.isAvailable)("a tape that processes share", () => {
  it.live(
    "is written by one of them, and goes on without a lost or repeated block when that ends",
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
        assert.deepStrictEqual(
          trades,
          slotsTo(40).map((slot) => `${slot} 0 ${slot * 1000}`)
        )
        assert.deepStrictEqual(yield* storedTrades(replica.store), trades)
        for (const { tape } of [replica, second]) {
          assert.strictEqual(tape.state.window(mintOf(1), "5m")?.trades, 14)
        }
        // The first one has left a snapshot, which any process begins with.
        const read = { parts: 0 }
        const late = yield* process(false, {
          store: ({ snapshotPart }) => ({
            snapshotPart: (id, number) => {
              read.parts++
              return snapshotPart(id, number)
            }
          })
        })
        yield* becomes(() => isRestored(late.tape))
        assert.strictEqual((yield* late.store.snapshot)?.slot, 30)
        assert.isAbove(read.parts, 0)
        assert.strictEqual(late.tape.state.window(mintOf(1), "5m")?.trades, 14)
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "follows a leader whose session ends, and stores blocks that are on the bus alone",
    () =>
      Effect.gen(function* () {
        const { bus, chain, process } = yield* makeWorld
        // A leader that ended before it stored anything.
        for (const slot of [1, 2, 3]) {
          const { transactions, ...rest } = blockOf(slot)
          const bytes = encodeBlock({ ...rest, transactions, trades: [] })
          yield* bus.append(CHAIN.genesis, { after: slot - 1, slot, bytes })
        }
        chain.grow(6)
        const first = yield* process(true)
        yield* storedTo(first.store, 6)
        // Blocks of the bus are stored as they are there: these had no trades.
        assert.deepStrictEqual(yield* storedTrades(first.store), ["4 0 4000", "5 0 5000", "6 0 6000"])
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
        assert.deepStrictEqual((yield* first.store.progress)?.gaps, [])
      }).pipe(Effect.scoped),
    patience
  )

  it.live.each([2, 3])(
    "leaves out an entry of the bus that cannot be read, of slot %i of 3, until it has it from the node",
    (unreadable) =>
      Effect.gen(function* () {
        const { bus, chain, process } = yield* makeWorld
        for (const slot of [1, 2, 3]) {
          const { transactions, ...rest } = blockOf(slot)
          const bytes = slot === unreadable ? Buffer.of(255) : encodeBlock({ ...rest, transactions, trades: [] })
          yield* bus.append(CHAIN.genesis, { after: slot - 1, slot, bytes })
        }
        chain.grow(6)
        const { store, tape } = yield* process(true)
        yield* storedTo(store, 6)
        yield* becomes(() => tape.newestSlot() === 6 && tape.gaps().length === 0)
        // Entries that could be read had no trades.
        assert.deepStrictEqual(
          yield* storedTrades(store),
          [unreadable, 4, 5, 6].map((slot) => `${slot} 0 ${slot * 1000}`)
        )
        assert.deepStrictEqual((yield* store.progress)?.gaps, [])
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "has the blocks of a gap once they are stored",
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
        const bytes = encodeBlock({ ...rest, transactions, trades: [] })
        yield* bus.append(CHAIN.genesis, { after: 6, slot: 7, bytes })
        yield* becomes(() => replica.tape.gaps().length === 1)
        assert.deepInclude(replica.tape.gaps()[0], { fromSlot: 4, toSlot: 6, state: "open" })
        const next = yield* process(true)
        yield* becomes(() => replica.tape.gaps().length === 0)
        assert.deepStrictEqual(
          yield* storedTrades(next.store),
          [1, 2, 3, 4, 5, 6].map((slot) => `${slot} 0 ${slot * 1000}`)
        )
        assert.strictEqual(replica.tape.state.window(mintOf(1), "5m")?.trades, 2)
      }).pipe(Effect.scoped),
    patience
  )

  it.live(
    "counts and publishes blocks once that are stored while it restores, early and late on the bus",
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
        // The chain grows once the restore has read how far blocks are stored.
        const early = yield* process(false, {
          store: ({ since }) => ({ since: (request) => Stream.unwrap(Effect.as(grown(20), since(request))) })
        })
        yield* becomes(() => early.tape.newestSlot() === 20 && isRestored(early.tape))
        const arrive = Latch.makeUnsafe(false)
        const follow: BlockBus["Service"]["follow"] = (genesis, after) =>
          Stream.unwrap(Effect.as(arrive.await, bus.follow(genesis, after)))
        // It grows before that is read, and none of the blocks has come yet.
        const late = yield* process(false, {
          store: ({ progress }) => ({ progress: Effect.andThen(grown(30), progress) }),
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

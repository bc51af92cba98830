import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { makeBarQueries } from "../../../src/market/history/barQueries.ts"
import { openBlockSpool } from "../../../src/market/history/BlockSpool.ts"
import type { makeChainRecords } from "../../../src/market/history/chainRecords.ts"
import { makeContact } from "../../../src/market/history/contact.ts"
import { INSERT_SECONDS, insertsOf, makeBlockWriter } from "../../../src/market/history/storeBlocks.ts"
import { makeTradeQueries } from "../../../src/market/history/tradeQueries.ts"
import { makeWriteQueue } from "../../../src/market/history/writeQueue.ts"
import type { Repair, TradeProgress } from "../../../src/market/model/TradeProgress.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { searchMoneySwaps, searchSolSwaps } from "../../../src/market/history/waitingSwaps.ts"
import { newestSolSwaps } from "../../../src/market/model/TradesRequest.ts"
import { mintOf } from "../tape/tape.ts"
import { ClickHouse } from "../../../src/storage/clickhouse/ClickHouse.ts"
import { layer as monitored, SourceMonitor } from "../../../src/operations/SourceMonitor.ts"
import { makeTables } from "../../support/clickhouse/tables.ts"
import { storedBlock } from "./storedBlock.ts"
import { newestMoneySwaps } from "../../../src/testing/MemoryStores.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-queue-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** The progress in PostgreSQL, which may be away. */
const makeRecords = () => {
  const state = {
    isAway: false,
    isOver: false,
    stored: null as TradeProgress | null,
    traded: null as number | null
  }
  const records = {
    checkTerm: () =>
      Effect.suspend(() =>
        state.isOver
          ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("another process writes") }))
          : Effect.void
      ),
    commit: (_record: unknown, _batches: unknown, progress: TradeProgress, traded: number | null) =>
      Effect.suspend(() => {
        if (state.isAway) {
          return Effect.fail(new TradeStoreUnavailable({ cause: new Error("the database is away") }))
        }
        state.stored = progress
        state.traded = traded ?? state.traded
        return Effect.succeed(progress)
      })
  } as unknown as ReturnType<typeof makeChainRecords>
  return { state, records }
}

/** A writer over tables in memory, as a process has it. */
const processOf = Effect.fnUntraced(function* (path: string, given = makeTables(), limit = 2 ** 24) {
  const { client, tables } = given
  const { records, state } = makeRecords()
  const contact = yield* Effect.provideService(makeContact(Effect.void), ClickHouse, client)
  const [trades, bars] = [makeTradeQueries(client), makeBarQueries(client)]
  const writer = makeBlockWriter({ clickHouse: client, trades, bars })
  const queueOf = yield* makeWriteQueue({ folder: path, limit, records, writer, contact })
  const open = (stored: TradeProgress | null = null, term: number | null = null, traded: number | null = null) =>
    queueOf({
      id: 1,
      genesis: "test",
      term,
      stored,
      traded,
      liquidityFrom: Number.NEGATIVE_INFINITY,
      openingsFrom: Number.NEGATIVE_INFINITY
    })
  return { contact, open, postgres: state, queue: yield* open(), tables }
})

/** Overwrites the end of every entry on disk except those of the newest blocks. */
const spoil = (path: string, newest: number) => {
  const files = join(path, "test", "blocks")
  const entries = readdirSync(files).filter((name) => name.endsWith(".kept"))
  for (const name of entries.toSorted().slice(0, -newest)) {
    const bytes = readFileSync(join(files, name))
    writeFileSync(join(files, name), bytes.fill(0, bytes.length - 60))
  }
}

/** A block with a swap of SOL and one of each of two tokens. */
const priced = (second: number) => storedBlock(second, [{ mint: SOL, lamports: null }, {}, { mint: mintOf(2) }])

const block = (second: number) => storedBlock(second, [{}, {}])

const gapsOf = (progress: TradeProgress | null) =>
  progress?.gaps.map(({ fromSlot, state, toSlot }) => [fromSlot, toSlot, state])

/** The seconds of the first and last block with a trade of each insert. */
const secondsOf = ({ sent }: { readonly sent: ReadonlyArray<string> }) =>
  sent
    .filter((insert) => insert.startsWith("trades "))
    .map((insert) => (insert.split(" ")[2] ?? "").split("-").map((slot) => Number(slot) - 1000))

/** A repair that gives the first trade of a block another price. */
const repricing = (priceUsd: number): Repair => ({
  batches: [],
  repriced: block(1)
    .trades.slice(0, 1)
    .map((trade) => ({ ...trade, priceUsd })),
  gap: null,
  first: null,
  found: []
})

describe("the order of writes", () => {
  it.effect("counts trades once when the answer to an insert is lost and others come before it is repeated", () =>
    Effect.gen(function* () {
      const { queue, tables } = yield* processOf(yield* folder)
      tables.mood = "loses"
      yield* queue.append([block(1)])
      tables.mood = "refuses"
      yield* queue.append([block(2)])
      tables.mood = "answers"
      yield* queue.drain((step) => step)
      assert.strictEqual(queue.stored()?.slot, 1002)
      assert.strictEqual(tables.trades.size, 4)
      assert.strictEqual(tables.counted, 4)
    }).pipe(Effect.scoped)
  )

  it.effect("counts trades once when PostgreSQL was away after an insert and the blocks come in other groups", () =>
    Effect.gen(function* () {
      const { postgres, queue, tables } = yield* processOf(yield* folder)
      postgres.isAway = true
      assert.strictEqual((yield* Effect.flip(queue.append([block(1), block(2)])))._tag, "TradeStoreUnavailable")
      postgres.isAway = false
      yield* queue.append([block(1)])
      yield* queue.append([block(2), block(3)])
      assert.strictEqual(queue.stored()?.slot, 1003)
      assert.strictEqual(tables.counted, 6)
    }).pipe(Effect.scoped)
  )

  it.effect("covers no more seconds in an insert than a loss of ClickHouse is looked back", () =>
    Effect.gen(function* () {
      const { postgres, queue, tables } = yield* processOf(yield* folder)
      const seconds = [1, 2, 2 + INSERT_SECONDS, 5 * INSERT_SECONDS]
      assert.deepStrictEqual(
        insertsOf(seconds.map(block)).map((part) => part.map(({ slot }) => slot - 1000)),
        [seconds.slice(0, 2), seconds.slice(2, 3), seconds.slice(3)]
      )
      tables.mood = "refuses"
      // The last two come in one group, and wait apart.
      yield* queue.append([block(1)])
      yield* queue.append([block(2)])
      yield* queue.append([block(2 + INSERT_SECONDS), block(5 * INSERT_SECONDS)])
      tables.mood = "answers"
      const stored: Array<number> = []
      yield* queue.drain((step) => Effect.tap(step, () => Effect.sync(() => stored.push(postgres.stored?.slot ?? 0))))
      assert.deepStrictEqual(
        stored.map((slot) => slot - 1000),
        [2, 2 + INSERT_SECONDS, 5 * INSERT_SECONDS, 5 * INSERT_SECONDS]
      )
      assert.strictEqual(tables.trades.size, 8)
    }).pipe(Effect.scoped)
  )

  it.effect("covers no more seconds with late blocks, nor with an entry on disk that is longer", () =>
    Effect.gen(function* () {
      const late = [1000, 940, 1850, 1860].map(block)
      const direct = yield* processOf(yield* folder)
      yield* direct.queue.append(late)
      assert.deepStrictEqual(secondsOf(direct.tables), [
        [940, 1000],
        [1850, 1860]
      ])
      // A newer and a late block in one entry.
      const apart = yield* processOf(yield* folder)
      apart.tables.mood = "refuses"
      yield* apart.queue.append([block(0)])
      yield* apart.queue.append([block(1000)])
      yield* apart.queue.append([block(1901), block(1890)])
      apart.tables.mood = "answers"
      apart.tables.sent.length = 0
      yield* apart.queue.drain((step) => step)
      assert.deepStrictEqual(secondsOf(apart.tables), [
        [0, 0],
        [1000, 1000],
        [1890, 1901]
      ])
      const path = yield* folder
      const blocks = [0, 900, 901, 5000].map(block)
      yield* Effect.scoped(Effect.flatMap(openBlockSpool(path, "test", 2 ** 24), (spool) => spool.add(blocks)))
      const { queue, tables } = yield* processOf(path)
      yield* queue.drain((step) => step)
      assert.deepStrictEqual(secondsOf(tables), [
        [0, 900],
        [901, 901],
        [5000, 5000]
      ])
      assert.deepStrictEqual([queue.progress()?.slot, tables.counted, queue.isWaiting()], [6000, 8, false])
    }).pipe(Effect.scoped)
  )

  it.effect("does not retry blocks that were dropped to make room", () =>
    Effect.gen(function* () {
      const { queue, tables } = yield* processOf(yield* folder, makeTables(), 4000)
      tables.mood = "refuses"
      const blocks = Array.from({ length: 20 }, (_, at) => block(at))
      for (const each of blocks) {
        yield* queue.append([each])
        yield* Effect.ignore(queue.drain((step) => step))
      }
      tables.mood = "answers"
      yield* queue.drain((step) => step)
      const first = queue.stored()?.firstSlot ?? 0
      assert.isAbove(first, 1000)
      assert.strictEqual(tables.trades.size, 2 * (1020 - first))
      assert.isFalse(queue.isWaiting())
    }).pipe(Effect.scoped)
  )

  it.effect("keeps a fork missing whose report was dropped to make room, also when the next process drops it", () =>
    Effect.gen(function* () {
      const given = makeTables()
      const path = yield* folder
      const scope = yield* Scope.make()
      const first = yield* Scope.provide(processOf(path, given, 4000), scope)
      yield* first.queue.append([0, 1, 2, 3].map(block))
      const stored = first.queue.stored()
      given.tables.mood = "refuses"
      yield* first.queue.append([{ ...block(5), afterGap: true, forkedFrom: 1002 }])
      yield* Scope.close(scope, Exit.void)

      const next = yield* processOf(path, given, 4000)
      const queue = yield* next.open(stored)
      for (let second = 6; second < 26; second++) {
        yield* queue.append([block(second)])
      }
      const lost = queue.progress()?.gaps.at(-1)?.toSlot ?? 0
      const gaps = [
        [1002, 1003, "unavailable"],
        [1004, lost, "open"]
      ]
      assert.deepStrictEqual(gapsOf(queue.progress()), gaps)
      // Without the block that reported the fork.
      assert.isAtLeast(lost, 1005)
      given.tables.mood = "answers"
      yield* queue.drain((step) => step)
      assert.deepStrictEqual(gapsOf(queue.stored()), gaps)
    }).pipe(Effect.scoped)
  )

  it.effect("notes the revised candles of an insert whose answer was lost", () =>
    Effect.gen(function* () {
      const { queue, tables } = yield* processOf(yield* folder)
      yield* queue.append([block(90_000)])
      tables.mood = "loses"
      // A late block of closed candles.
      yield* queue.append([block(1)])
      tables.mood = "answers"
      yield* queue.drain((step) => step)
      assert.strictEqual(tables.counted, 4)
      const revisions = tables.sent.filter((insert: string) => insert.startsWith("bar_revisions"))
      assert.lengthOf(revisions, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("has the prices of the later of two repairs, even when the clock stepped back between them", () =>
    Effect.gen(function* () {
      const server = makeTables()
      const { queue, tables } = yield* processOf(yield* folder, server)
      yield* queue.append([block(1)])
      yield* TestClock.setTime(5_000_000)
      yield* queue.repair(repricing(7))
      yield* TestClock.setTime(1_000_000)
      // The next process, too.
      const { queue: next } = yield* processOf(yield* folder, server)
      yield* next.append([block(1)])
      yield* next.repair(repricing(8))
      assert.strictEqual(tables.trades.get("1001.0")?.trade.priceUsd, 8)
    }).pipe(Effect.scoped)
  )

  it.effect("rebuilds only the candles of a repair from another term", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const { open, tables } = yield* processOf(path)
      const first = yield* open(null, 1)
      yield* first.append([block(1)])
      tables.mood = "refuses"
      yield* Effect.flip(first.repair(repricing(7)))
      tables.mood = "answers"
      tables.asked.length = 0
      const again = yield* open(first.stored(), 3)
      assert.isTrue(again.isWaiting())
      yield* again.drain((step) => step)
      assert.isFalse(again.isWaiting())
      assert.strictEqual(tables.trades.get("1001.0")?.trade.priceUsd, 1)
      assert.isNotEmpty(tables.asked.filter((statement: string) => statement.includes("INSERT INTO minute_bars")))
    }).pipe(Effect.scoped)
  )

  it.effect("inserts nothing once another process writes the chain", () =>
    Effect.gen(function* () {
      const { postgres, queue, tables } = yield* processOf(yield* folder)
      tables.mood = "refuses"
      yield* queue.append([block(1)])
      tables.mood = "answers"
      tables.sent.length = 0
      postgres.isOver = true
      yield* Effect.flip(queue.drain((step) => step))
      assert.isEmpty(tables.sent)
    }).pipe(Effect.scoped)
  )

  it.effect("shows that waiting trades cannot be stored when ClickHouse answers", () =>
    Effect.gen(function* () {
      const monitor = yield* SourceMonitor
      const { postgres, queue, tables } = yield* processOf(yield* folder)
      tables.mood = "refuses"
      yield* queue.append([block(1)])
      yield* Effect.flip(queue.drain((step) => step))
      assert.strictEqual(monitor.stateOf("spool", 0)?.status, "partial")
      tables.mood = "answers"
      postgres.isAway = true
      yield* Effect.flip(queue.drain((step) => step))
      assert.strictEqual(monitor.stateOf("spool", 0)?.status, "stale")
      assert.include(monitor.history("spool", "stale", 0).lastError?.detail, "the database is away")
      postgres.isAway = false
      yield* queue.drain((step) => step)
      assert.strictEqual(monitor.stateOf("spool", 0)?.status, "known")
    }).pipe(Effect.scoped, Effect.provide(monitored))
  )

  it.effect("reads from the spool of an earlier process the places of blocks, and only the swaps that it needs", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const scope = yield* Scope.make()
      const { queue, tables } = yield* Scope.provide(processOf(path), scope)
      tables.mood = "refuses"
      const blocks = Array.from({ length: 40 }, (_, at) => priced(10 * at))
      yield* Effect.forEach(blocks, (each) => queue.append([each]), { discard: true })
      const all = blocks.flatMap(({ trades }) => trades)
      const progress = queue.progress()
      yield* Scope.close(scope, Exit.void)
      spoil(path, 8)

      const { queue: after } = yield* processOf(path)
      assert.deepStrictEqual(after.progress(), progress)
      const slot = progress?.slot ?? 0
      const [sol, money] = [searchSolSwaps(slot, 7), searchMoneySwaps(slot, 60_000, 3)]
      yield* after.backwards(sol.take)
      yield* after.backwards(money.take)
      assert.deepStrictEqual(sol.found(), newestSolSwaps(all, slot, 7))
      assert.deepStrictEqual(money.found(), newestMoneySwaps(all, slot, 60_000, 3))
      assert.lengthOf(sol.found(), 7)
      assert.lengthOf(money.found(), 6)
      // Older blocks cannot be read any more.
      assert.strictEqual((yield* Effect.flip(after.backwards(() => true)))._tag, "TradeStoreUnavailable")
    }).pipe(Effect.scoped)
  )
})

describe("a ClickHouse that was away", () => {
  /** Stores three blocks, and a fourth one after an absence in which the trades of some slots are lost. */
  const afterLossOf = Effect.fnUntraced(function* (slots: ReadonlyArray<number>) {
    const made = yield* processOf(yield* folder)
    const { queue, tables } = made
    yield* Effect.forEach([1, 2, 3], (second) => queue.append([block(second)]))
    tables.mood = "refuses"
    yield* queue.append([block(4)])
    for (const [place, { trade }] of tables.trades) {
      if (slots.includes(trade.slot)) {
        tables.trades.delete(place)
      }
    }
    tables.mood = "answers"
    yield* queue.drain((step) => step)
    return made
  })

  it.effect("comes back as an older copy: the blocks that it lost are a gap, and are stored again", () =>
    Effect.gen(function* () {
      const { postgres, queue, tables } = yield* afterLossOf([1002, 1003])
      const gaps = postgres.stored?.gaps.map(({ fromSlot, state, toSlot }) => [fromSlot, toSlot, state])
      assert.deepStrictEqual(gaps, [[1002, 1003, "open"]])
      assert.strictEqual(queue.stored()?.slot, 1004)
      const again = { batches: [block(2), block(3)], repriced: [], first: null, found: [] }
      yield* queue.repair({ ...again, gap: { fromSlot: 1002, left: [] } })
      assert.deepStrictEqual(postgres.stored?.gaps, [])
      assert.strictEqual(tables.trades.size, 8)
    }).pipe(Effect.scoped)
  )

  it.effect("comes back without the end of an insert from disk: what views made of its other trades is made anew", () =>
    Effect.gen(function* () {
      const { queue, tables } = yield* processOf(yield* folder)
      yield* queue.append([block(0)])
      tables.mood = "refuses"
      // A quiet chain: a block each 400 s.
      const seconds = [10, 2000, 2400, 2800, 3200, 3600, 4000]
      yield* Effect.forEach(seconds, (second) => queue.append([block(second)]), { discard: true })
      tables.mood = "answers"
      yield* queue.drain((step) => step)
      const [from = 0] = secondsOf(tables).at(-1) ?? []
      tables.mood = "refuses"
      yield* queue.append([block(5000)])
      for (const [place, { trade }] of tables.trades) {
        if (trade.slot === 5000) {
          tables.trades.delete(place)
        }
      }
      tables.mood = "answers"
      tables.asked.length = 0
      yield* queue.drain((step) => step)
      const anew = tables.asked.filter((statement: string) => statement.includes("INSERT INTO wallet_trades"))
      assert.lengthOf(anew, 1)
      const since = Number(/at >= fromUnixTimestamp64Milli\((\d+)/.exec(anew[0] ?? "")?.[1])
      assert.isAtMost(since, block(from).timeMs)
    }).pipe(Effect.scoped)
  )

  it.effect("comes back with candles that have counted what it lost: each trade counts once", () =>
    Effect.gen(function* () {
      const { queue, tables } = yield* afterLossOf([1002, 1003])
      const again = { repriced: [], first: null, found: [] }
      // The same rows in the same groups, whose tokens a table that lost nothing remembers.
      yield* queue.repair({ ...again, batches: [block(3)], gap: { fromSlot: 1002, left: [] } })
      yield* queue.repair({ ...again, batches: [block(2)], gap: { fromSlot: 1002, left: [] } })
      assert.deepStrictEqual([tables.trades.size, tables.counted], [8, 8])
    }).pipe(Effect.scoped)
  )

  it.effect("has lost more than a repair that waits has read: a gap has all of it, in the next process too", () =>
    Effect.gen(function* () {
      for (const isNext of [false, true]) {
        const server = makeTables()
        const { open, postgres, queue, tables } = yield* processOf(yield* folder, server)
        yield* Effect.forEach([1, 2, 3], (second) => queue.append([block(second)]))
        yield* queue.append([{ ...block(6), afterGap: true }])
        tables.mood = "refuses"
        const left = postgres.stored?.gaps.map((gap) => ({ ...gap, toSlot: 1004 })) ?? []
        const repair = { batches: [block(5)], repriced: [], gap: { fromSlot: 1004, left }, first: null, found: [] }
        yield* Effect.flip(queue.repair(repair))
        for (const [place, { trade }] of tables.trades) {
          if (trade.slot > 1001) {
            tables.trades.delete(place)
          }
        }
        tables.mood = "answers"
        yield* queue.drain((step) => step)
        assert.isFalse(queue.isWaiting())
        const writer = isNext ? yield* open(postgres.stored, 2, postgres.traded) : queue
        yield* writer.append([block(7)])
        assert.deepStrictEqual(
          postgres.stored?.gaps.map(({ fromSlot, toSlot }) => [fromSlot, toSlot]),
          [[1002, 1006]]
        )
        assert.deepStrictEqual([postgres.stored?.slot, postgres.traded], [1007, 1007])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("has lost blocks before another process begins to write, which sees that they are missing", () =>
    Effect.gen(function* () {
      const server = makeTables()
      const first = yield* processOf(yield* folder, server)
      yield* Effect.forEach([1, 2, 3], (second) => first.queue.append([block(second)]))
      assert.strictEqual(first.postgres.traded, 1003)
      for (const [place, { trade }] of server.tables.trades) {
        if (trade.slot > 1001) {
          server.tables.trades.delete(place)
        }
      }
      const next = yield* processOf(yield* folder, server)
      const queue = yield* next.open(first.postgres.stored, 2, first.postgres.traded)
      // A block that is there already does not record the loss.
      yield* queue.append([block(1)])
      assert.isNull(next.postgres.traded)
      yield* queue.append([block(4)])
      const gaps = next.postgres.stored?.gaps.map(({ fromSlot, toSlot }) => [fromSlot, toSlot])
      assert.deepStrictEqual([gaps, next.postgres.traded], [[[1002, 1003]], 1004])
    }).pipe(Effect.scoped)
  )

  it.effect("comes back with its data, or with none of it: nothing is a gap", () =>
    Effect.gen(function* () {
      for (const slots of [[], [1001, 1002, 1003]]) {
        const { postgres } = yield* afterLossOf(slots)
        assert.deepStrictEqual([postgres.stored?.slot, postgres.stored?.gaps], [1004, []])
      }
    }).pipe(Effect.scoped)
  )
})

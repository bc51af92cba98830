import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TradeStoreUnavailable } from "../../../src/domain/market/Trade.ts"
import { makeBarQueries } from "../../../src/market/clickhouse/barQueries.ts"
import type { makeChainRecords } from "../../../src/market/clickhouse/chainRecords.ts"
import { makeContact } from "../../../src/market/clickhouse/contact.ts"
import { makeBlockWriter } from "../../../src/market/clickhouse/storeBlocks.ts"
import { makeTradeQueries } from "../../../src/market/clickhouse/tradeQueries.ts"
import { makeWriteQueue } from "../../../src/market/clickhouse/writeQueue.ts"
import type { TradeProgress } from "../../../src/market/store/TradeProgress.ts"
import { ClickHouse } from "../../../src/storage/clickhouse/ClickHouse.ts"
import { makeTables } from "../../support/clickhouse/tables.ts"
import { storedBlock } from "../store/tradeStoreContract.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-queue-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** The progress in PostgreSQL, which may be away. */
const makeRecords = () => {
  const state = { isAway: false, stored: null as TradeProgress | null }
  const records = {
    commit: (_record: unknown, _batches: unknown, progress: TradeProgress) =>
      Effect.suspend(() => {
        if (state.isAway) {
          return Effect.fail(new TradeStoreUnavailable({ cause: new Error("the database is away") }))
        }
        state.stored = progress
        return Effect.void
      })
  } as unknown as ReturnType<typeof makeChainRecords>
  return { state, records }
}

/** A writer over tables in memory, as a process has it. */
const processOf = Effect.fnUntraced(function* (path: string, given = makeTables(), limit = 2 ** 24) {
  const { client, tables } = given
  const { records, state } = makeRecords()
  const contact = yield* Effect.provideService(makeContact([]), ClickHouse, client)
  const [trades, bars] = [makeTradeQueries(client), makeBarQueries(client)]
  const writer = makeBlockWriter({ clickHouse: client, trades, bars })
  const queueOf = yield* makeWriteQueue({ folder: path, limit, records, writer, contact })
  const open = (stored: TradeProgress | null = null, term: number | null = null) =>
    queueOf({ id: 1, genesis: "test", term, stored })
  return { contact, open, postgres: state, queue: yield* open(), tables }
})

const block = (second: number) => storedBlock(second, [{}, {}])

describe("the order of writes", () => {
  it.effect("counts trades once where the answer to an insert is lost and others come before it is repeated", () =>
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

  it.effect("counts trades once where PostgreSQL was away after an insert and the blocks come in other groups", () =>
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

  it.effect("does not try blocks again that were dropped for room", () =>
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
})

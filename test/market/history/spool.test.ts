import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { COUNT } from "../../../src/market/model/bar.ts"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import { isAvailable, sharedEngine } from "../../support/clickhouse/engine.ts"
import { eventually, placeOf, rowOf, stored, storeOf } from "../../support/clickhouse/places.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"
import { storedBlock } from "./storedBlock.ts"
import { type MarketStores } from "../../../src/market/model/MarketStores.ts"

const blocks = (from: number, to: number): ReadonlyArray<StoredBatch> =>
  Array.from({ length: to - from }, (_, at) => storedBlock(from + at, [{ wallet: walletOf((from + at) % 3) }, {}]))

const minuteBars = (store: MarketStores) =>
  store.candles.bars({ mint: mintOf(1), resolution: "1m", from: null, before: MONDAY + 86_400, limit: 100 })

const signature = () => Buffer.from(crypto.getRandomValues(new Uint8Array(600))).toString("hex")

/** A block of 3 MB. No compression makes its signatures smaller. */
const large = (second: number): StoredBatch => {
  const block = storedBlock(second)
  const trades = Array.from({ length: 5000 }, (_, index) =>
    trade({ slot: block.slot, timeMs: block.timeMs, index, signature: signature() })
  )
  return { ...block, trades }
}

describe.runIf(isAvailable && TestDatabase.isAvailable)("trades while ClickHouse is away", () => {
  const engine = sharedEngine()

  it.live("wait on disk, even over a restart, and are stored once and in order; meanwhile history is unavailable", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "away")
      const first = yield* Scope.make()
      const before = yield* storeOf(here, first)
      yield* before.blocks.open(here.chain)
      yield* before.blocks.append(blocks(0, 5))
      yield* here.engine.kill
      for (let at = 5; at < 20; at++) {
        yield* before.blocks.append(blocks(at, at + 1))
      }
      assert.strictEqual((yield* before.blocks.progress)?.slot, 1019)
      const questions: ReadonlyArray<Effect.Effect<unknown, TradeStoreUnavailable>> = [
        before.trades.ofWallet(walletOf(1), 5),
        minuteBars(before),
        stored(before)
      ]
      for (const question of questions) {
        assert.strictEqual((yield* Effect.flip(question))._tag, "TradeStoreUnavailable")
      }
      yield* Scope.close(first, Exit.void)

      const second = yield* Effect.scope
      const after = yield* storeOf(here, second)
      assert.strictEqual((yield* after.blocks.open(here.chain))?.slot, 1019)
      assert.deepStrictEqual(yield* after.trades.solSwaps(1019, 10), [])
      yield* after.blocks.append(blocks(20, 22))
      yield* here.engine.start
      assert.deepStrictEqual(yield* eventually(stored(after)), blocks(0, 22))
      assert.deepStrictEqual((yield* after.blocks.progress)?.gaps, [])
      assert.strictEqual((yield* minuteBars(after)).cells[COUNT], 44)
      yield* after.blocks.append(blocks(22, 23))
      assert.strictEqual((yield* rowOf(here, "count()", "trades"))?.[0], 46)
    }).pipe(Effect.scoped)
  )

  it.live("drop the oldest when the bound of the disk is reached, which leaves a gap", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "full")
      const scope = yield* Effect.scope
      const store = yield* storeOf(here, scope)
      yield* store.blocks.open(here.chain)
      yield* store.blocks.append(blocks(0, 2))
      yield* here.engine.kill
      const all = Array.from({ length: 9 }, (_, at) => large(10 + at))
      yield* Effect.forEach(all, (block) => store.blocks.append([block]), { discard: true })
      const gaps = (yield* store.blocks.progress)?.gaps ?? []
      assert.strictEqual(gaps.length, 1)
      const [gap] = gaps
      assert.strictEqual(gap?.fromSlot, 1002)
      const lost = all.filter(({ slot }) => slot <= (gap?.toSlot ?? 0))
      assert.isNotEmpty(lost)
      yield* here.engine.start
      assert.deepStrictEqual(
        (yield* eventually(stored(store))).map(({ slot }) => slot),
        [1000, 1001, ...all.slice(lost.length).map(({ slot }) => slot)]
      )
      assert.deepStrictEqual(yield* store.blocks.progress, yield* store.blocks.open(here.chain))
      assert.deepStrictEqual((yield* store.blocks.progress)?.gaps, gaps)
      // A repair brings the blocks again.
      yield* store.blocks.repair({
        batches: lost,
        repriced: [],
        gap: { fromSlot: 1002, left: [] },
        first: null,
        found: []
      })
      assert.deepStrictEqual((yield* store.blocks.open(here.chain))?.gaps, [])
      assert.lengthOf(yield* stored(store), 2 + all.length)
    }).pipe(Effect.scoped)
  )

  it.live("are stored once when the answer to an insert is lost", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "lost")
      const store = yield* storeOf(here, yield* Effect.scope)
      yield* store.blocks.open(here.chain)
      yield* store.blocks.append(blocks(0, 1))
      yield* here.engine.freeze
      // Frozen, the server takes the request and answers nothing. It carries the request out once it goes on.
      yield* store.blocks.append(blocks(1, 4))
      yield* store.blocks.append(blocks(4, 5))
      assert.strictEqual((yield* store.blocks.progress)?.slot, 1004)
      yield* here.engine.thaw
      assert.deepStrictEqual(yield* eventually(stored(store)), blocks(0, 5))
      assert.deepStrictEqual(yield* rowOf(here, "count()", "trades"), [10])
      assert.deepStrictEqual(yield* rowOf(here, "sum(trades)", "minute_bars"), [10])
    }).pipe(Effect.scoped)
  )

  it.live("are stored once when the process ends between its two stores", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "between")
      const one = yield* storeOf(here, yield* Effect.scope)
      yield* one.blocks.open(here.chain)
      yield* one.blocks.append(blocks(0, 3))
      const sql = Context.get(yield* Layer.build(TestDatabase.connect(here.address)), SqlClient.SqlClient)
      yield* sql`update chains set slot = 1000, slot_at = slot_at - interval '2 seconds'`
      const again = yield* one.blocks.open(here.chain)
      assert.strictEqual(again?.slot, 1000)
      yield* one.blocks.append(blocks(1, 5))
      assert.deepStrictEqual(yield* stored(one), blocks(0, 5))
      assert.deepStrictEqual(yield* rowOf(here, "sum(trades)", "minute_bars"), [10])
    }).pipe(Effect.scoped)
  )
})

describe.runIf(isAvailable && TestDatabase.isAvailable)("a repair in ClickHouse", () => {
  const engine = sharedEngine()

  const repriced = { ...blocks(0, 1)[0]?.trades[0], priceUsd: 7, volumeUsdNanos: 3n } as StoredBatch["trades"][number]
  const repair = { batches: [], repriced: [repriced], gap: null, first: null, found: [] }

  it.live("replaces the prices of trades in every table and in the candles of every width", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "repriced")
      const store = yield* storeOf(here, yield* Effect.scope)
      yield* store.blocks.open(here.chain)
      yield* store.blocks.append([...blocks(0, 2), storedBlock(90_000, [{}])])
      yield* store.blocks.repair(repair)
      const [first] = yield* stored(store)
      assert.deepStrictEqual(first?.trades[0], repriced)
      assert.deepInclude(yield* store.trades.ofWallet(repriced.wallet, 10), repriced)
      for (const table of ["minute_bars", "hour_bars", "day_bars"]) {
        const bar = yield* rowOf(
          here,
          "sum(trades), max(high_usd), argMinMerge(open_usd), toString(sum(volume_usd))",
          `(SELECT * FROM ${table} WHERE at < ${MONDAY + 86_400})`
        )
        assert.deepStrictEqual(bar, [4, 7, 7, "3000000003"], table)
      }
      const marked = (yield* store.candles.revised(MONDAY)).map(({ revision, second, width }) => [
        width,
        second,
        revision
      ])
      assert.sameDeepMembers(marked, [
        [60, MONDAY, 1],
        [3600, MONDAY, 1],
        [86_400, MONDAY, 1]
      ])
      // Later trades of the same candle come on top.
      yield* store.blocks.append([storedBlock(3, [{ priceUsd: 9 }])])
      const { cells } = yield* minuteBars(store)
      assert.strictEqual(cells.length > 0, true)
      const bar = yield* rowOf(here, "sum(trades), max(high_usd)", "minute_bars")
      assert.deepStrictEqual(bar, [6, 9])
    }).pipe(Effect.scoped)
  )

  it.live("that was interrupted is carried out after a restart", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "cut")
      const first = yield* Scope.make()
      const before = yield* storeOf(here, first)
      yield* before.blocks.open(here.chain)
      yield* before.blocks.append(blocks(0, 2))
      yield* here.engine.freeze
      assert.strictEqual((yield* Effect.flip(before.blocks.repair(repair)))._tag, "TradeStoreUnavailable")
      yield* Scope.close(first, Exit.void)
      yield* here.engine.kill
      yield* here.engine.start
      const after = yield* storeOf(here, yield* Effect.scope)
      yield* after.blocks.open(here.chain)
      const [block] = yield* eventually(stored(after))
      assert.deepStrictEqual(block?.trades[0], repriced)
      const bar = yield* rowOf(here, "sum(trades), max(high_usd)", "hour_bars")
      assert.deepStrictEqual(bar, [4, 7])
    }).pipe(Effect.scoped)
  )
})
